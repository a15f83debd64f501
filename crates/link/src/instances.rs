//! The core instances that linking appends to a component.

use wasm_encoder::{ComponentSection, ExportKind, InstanceSection, ModuleArg};

/// Core instances that are appended to a component.
pub(crate) struct Instances {
    section: InstanceSection,
    next: u32,
}

impl Instances {
    /// Numbers instances after those that the component has.
    pub(crate) fn after(count: u32) -> Self {
        Self { section: InstanceSection::new(), next: count }
    }

    /// Adds an instance of a module, whose imports are exports of other instances, and returns its number.
    pub(crate) fn add(&mut self, module: u32, arguments: &[(&str, u32)]) -> u32 {
        let arguments = arguments.iter().map(|(name, instance)| (*name, ModuleArg::Instance(*instance)));
        self.section.instantiate(module, arguments.collect::<Vec<_>>());
        self.next += 1;
        self.next - 1
    }

    /// Adds an instance that consists of functions, and returns its number.
    pub(crate) fn add_exports(&mut self, functions: &[(String, u32)]) -> u32 {
        let exports = functions.iter().map(|(name, function)| (&**name, ExportKind::Func, *function));
        self.section.export_items(exports.collect::<Vec<_>>());
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn append_to(&self, component: &mut Vec<u8>) {
        self.section.append_to_component(component);
    }
}
