//! Links the WebAssembly modules that a handler imports to the JavaScript engine.
//!
//! Everything stays in the engine's own component, so a call crosses no component boundary. The engine's table has an empty place, and
//! the engine calls it when JavaScript calls a module (`crates/engine/src/linked.c`). [`link`] appends to the component:
//!
//! ```text
//!  the imported modules, and an instance of each
//!  modules that copy between the engine's memory and theirs
//!  a dispatcher: it imports the engine's memory and table and the functions of all modules, and puts itself into the table
//! ```
//!
//! Nothing of the component is renumbered, because appended items have the highest numbers. A component without imported
//! modules keeps the empty place.
//!
//! A component stands beside the engine's, which imports its functions. They are lowered: they take numbers, and read and write
//! values in the engine's memory (`guest/src/polyfills/linked-component.ts`).
//!
//! This crate owns the reading of modules ([`CoreModule`]) and components ([`Component`]), the dispatcher and the limits.
//! `cli/src/build/linked.ts` writes the JavaScript that calls the dispatcher.

mod beside;
mod component;
mod copying;
mod dispatcher;
mod error;
mod import_types;
mod instances;
mod limits;
mod module;

pub use component::{Component, ComponentFunction, Export};
pub use error::LinkError;
pub use limits::{MAX_BYTES, MAX_MEMORIES, MAX_MODULES};
pub use module::{CoreModule, Function};
pub use wasmparser::ValType;

use tenon_rewrite::EngineModule;
use tenon_rewrite::section::{CORE_INSTANCE, CORE_MODULE, PREAMBLE, sections};
use wasm_encoder::{ComponentSection, ModuleSection, RawSection};
use wasmparser::{Instance, InstanceSectionReader};

use crate::copying::{Copies, Copying};
use crate::dispatcher::{Callable, dispatcher, require_table};
use crate::instances::Instances;
use crate::limits::number_of;

/// An imported module.
#[derive(Clone, Copy, Debug)]
pub struct Linked<'a> {
    /// The number under which JavaScript finds it. It follows from the file, so that a build can be repeated.
    pub id: u64,
    /// Its name in errors.
    pub name: &'a str,
    /// The module.
    pub bytes: &'a [u8],
}

/// A file that a handler imports.
#[derive(Clone, Debug)]
pub enum Imported {
    /// A core module.
    Core(CoreModule),
    /// A component.
    Component(Box<Component>),
}

impl Imported {
    /// Reads a file, by its first bytes.
    ///
    /// # Errors
    ///
    /// The variants of [`LinkError`] about one module.
    pub fn read(bytes: &[u8]) -> Result<Self, LinkError> {
        if wasmparser::Parser::is_component(bytes) {
            return Component::read(bytes).map(Box::new).map(Self::Component);
        }
        CoreModule::read(bytes).map(Self::Core)
    }

    /// The number of memories that an instance has.
    fn own_memories(&self) -> usize {
        match self {
            Self::Core(module) => module.own_memories,
            Self::Component(component) => component.memories,
        }
    }
}

/// Links modules to the engine of a component. The order of the modules does not matter.
///
/// # Errors
///
/// [`LinkError`], for a module that cannot be linked, for too many of them, or when the component has no such engine.
pub fn link(component: &[u8], linked: &[Linked<'_>]) -> Result<Vec<u8>, LinkError> {
    let mut linked = linked.to_vec();
    linked.sort_by_key(|module| module.id);
    let imported = linked.iter().map(|module| Imported::read(module.bytes).map_err(|error| error.of(module.name)));
    let imported = imported.collect::<Result<Vec<_>, _>>()?;
    check_counts(&linked, &imported)?;
    let found = EngineModule::find(component).map_err(LinkError::engine)?;
    require_table(&component[found.content(found.path.len())])?;
    // The component that contains the engine may be nested in others.
    let depth = found.path.len().saturating_sub(1);
    let around = found.content(depth);
    let Counts { modules: first, instances, engine } = Counts::of(component, around.start, around.end, &found)?;
    let mut made = component[around].to_vec();
    let mut section = Instances::after(instances);

    // An instance for each import, in order.
    let (mut core, mut components) = (Vec::new(), Vec::new());
    for (module, read) in linked.iter().zip(&imported) {
        match read {
            Imported::Core(_) => core.push(module.bytes),
            Imported::Component(component) => components.push((&**component, *module)),
        }
    }
    let (lowered, parts) = beside::import(&mut made, engine, &components)?;
    for bytes in &core {
        RawSection { id: CORE_MODULE, data: bytes }.append_to(&mut made);
    }
    let (mut lowered, mut numbers) = (lowered.iter(), first..);
    let mut own = Vec::new();
    for read in &imported {
        let instance = match read {
            Imported::Core(_) => numbers.next().map(|number| section.add(number, &[])),
            Imported::Component(_) => lowered.next().map(|functions| section.add_exports(functions)),
        };
        own.extend(instance);
    }

    let callable: Vec<_> = linked.iter().zip(&imported).map(|(module, read)| Callable::of(module.id, read)).collect();
    let mut names = vec![(dispatcher::ENGINE.to_owned(), engine)];
    names.extend((0..).zip(&own).map(|(number, instance): (u32, _)| (number.to_string(), *instance)));
    let memories = callable
        .iter()
        .zip(&own)
        .flat_map(|(module, instance)| module.memories.iter().map(|name| (*instance, &**name)));
    let mut copying = Copying::new(first + number_of(core.len()), engine);
    for (number, (instance, memory)) in memories.enumerate() {
        let Copies { into, out, put } = copying.add(instance, memory, &mut section);
        for (name, instance) in [(dispatcher::INTO, into), (dispatcher::OUT, out), (dispatcher::PUT, put)] {
            names.push((format!("{name}{number}"), instance));
        }
    }
    for module in copying.modules() {
        ModuleSection(module).append_to_component(&mut made);
    }
    ModuleSection(&dispatcher(&callable)).append_to_component(&mut made);
    let names: Vec<_> = names.iter().map(|(name, instance)| (&**name, *instance)).collect();
    section.add(copying.next(), &names);
    section.append_to(&mut made);
    if parts.is_empty() {
        return Ok(found.replaced(depth, made));
    }
    tenon_compose::attach(&made, &parts).map_err(LinkError::engine)
}

fn check_counts(linked: &[Linked<'_>], imported: &[Imported]) -> Result<(), LinkError> {
    if linked.windows(2).any(|pair| matches!(pair, [one, other] if one.id == other.id)) {
        return Err(LinkError::engine("two modules have the same number"));
    }
    let memories = imported.iter().map(Imported::own_memories).sum::<usize>();
    for (what, found, most) in [("modules", linked.len(), MAX_MODULES), ("memories", memories, MAX_MEMORIES)] {
        if found > most {
            return Err(LinkError::TooMany { what, found, most });
        }
    }
    Ok(())
}

impl<'a> Callable<'a> {
    fn of(id: u64, read: &'a Imported) -> Self {
        match read {
            Imported::Core(module) => {
                Self { id, functions: module.functions.iter().collect(), memories: &module.memories }
            }
            Imported::Component(component) => Self { id, functions: component.lowered().collect(), memories: &[] },
        }
    }
}

/// Appends a section of a component.
trait AppendTo {
    fn append_to(&self, component: &mut Vec<u8>);
}

impl AppendTo for RawSection<'_> {
    fn append_to(&self, component: &mut Vec<u8>) {
        use wasm_encoder::Encode;
        component.push(self.id);
        self.data.encode(component);
    }
}

/// The core modules and instances of a component, and the engine's instance among them.
struct Counts {
    modules: u32,
    instances: u32,
    engine: u32,
}

impl Counts {
    fn of(bytes: &[u8], start: usize, end: usize, engine: &EngineModule<'_>) -> Result<Self, LinkError> {
        let at = engine.path.last().map(|section| section.start);
        let (mut modules, mut instances) = (0, 0);
        let (mut engine_module, mut engine_instance) = (None, None);
        for section in sections(bytes, start + PREAMBLE..end).map_err(LinkError::engine)? {
            match section.id {
                CORE_MODULE => {
                    if at == Some(section.start) {
                        engine_module = Some(modules);
                    }
                    modules += 1;
                }
                CORE_INSTANCE => {
                    let reader = InstanceSectionReader::new(section.reader(bytes)).map_err(LinkError::engine)?;
                    for instance in reader {
                        if let Instance::Instantiate { module_index, .. } = instance.map_err(LinkError::engine)?
                            && Some(module_index) == engine_module
                        {
                            engine_instance = Some(instances);
                        }
                        instances += 1;
                    }
                }
                _ => {}
            }
        }
        let engine = engine_instance.ok_or_else(|| LinkError::Engine("it has no instance of the engine".to_owned()))?;
        Ok(Self { modules, instances, engine })
    }
}

#[cfg(test)]
mod tests;
