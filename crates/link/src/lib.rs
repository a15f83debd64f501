//! Links the WebAssembly modules that a handler imports to the JavaScript engine.
//!
//! Everything stays in the engine's own component, so a call crosses no component boundary. The engine's [`TABLE`] has an empty
//! place, and the engine calls it when JavaScript calls a module (`crates/snapshot/src/starlingmonkey/linked.wat`). [`link`]
//! appends to the component:
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
//! This crate owns the reading of modules ([`CoreModule`]), the dispatcher and the limits. `cli/src/build/linked.ts` writes
//! the JavaScript that calls the dispatcher.

mod copying;
mod dispatcher;
mod error;
mod limits;
mod module;

pub use error::LinkError;
pub use limits::{MAX_BYTES, MAX_MEMORIES, MAX_MODULES};
pub use module::{CoreModule, Function};
pub use wasmparser::ValType;

use tenon_rewrite::EngineModule;
use tenon_rewrite::section::{CORE_INSTANCE, CORE_MODULE, PREAMBLE, sections};
use wasm_encoder::{ComponentSection, InstanceSection, ModuleArg, ModuleSection, RawSection};
use wasmparser::{Instance, InstanceSectionReader};

use crate::copying::{Copies, Copying};
use crate::dispatcher::dispatcher;

/// Export of the engine: the table with the place of the dispatcher.
pub const TABLE: &str = "tenon-modules";

/// The dispatcher's place in the table.
pub const PLACE: u32 = 0;

/// An imported module.
#[derive(Clone, Copy, Debug)]
pub struct Linked<'a> {
    /// The number under which JavaScript finds it. It follows from the file, so that a build can be repeated.
    pub id: u64,
    /// The module.
    pub bytes: &'a [u8],
}

/// Links modules to the engine of a component. The order of the modules does not matter.
///
/// # Errors
///
/// [`LinkError`], for a module that cannot be linked, for too many of them, or when the component has no such engine.
pub fn link(component: &[u8], linked: &[Linked<'_>]) -> Result<Vec<u8>, LinkError> {
    let mut linked = linked.to_vec();
    linked.sort_by_key(|module| module.id);
    if linked.windows(2).any(|pair| matches!(pair, [one, other] if one.id == other.id)) {
        return Err(LinkError::Engine("two modules have the same number".to_owned()));
    }
    if linked.len() > MAX_MODULES {
        return Err(LinkError::TooMany { what: "modules", found: linked.len(), most: MAX_MODULES });
    }
    let modules = linked.iter().map(|module| Ok((module.id, CoreModule::read(module.bytes)?)));
    let modules = modules.collect::<Result<Vec<_>, LinkError>>()?;
    let memories = modules.iter().map(|(_, module)| module.own_memories).sum::<usize>();
    if memories > MAX_MEMORIES {
        return Err(LinkError::TooMany { what: "memories", found: memories, most: MAX_MEMORIES });
    }
    let found = EngineModule::find(component).map_err(LinkError::engine)?;
    // The component that contains the engine may be nested in others.
    let depth = found.path.len().saturating_sub(1);
    let around = match depth.checked_sub(1).and_then(|above| found.path.get(above)) {
        Some(above) => above.content.clone(),
        None => 0..component.len(),
    };
    let Counts { modules: first, instances, engine } = Counts::of(component, around.start, around.end, &found)?;
    let mut made = component[around].to_vec();
    for module in &linked {
        RawSection { id: CORE_MODULE, data: module.bytes }.append_to(&mut made);
    }
    let mut copying = Copying::new(first + number_of(modules.len()), engine);
    let mut made_instances = Instances { section: InstanceSection::new(), next: instances };
    let mut names = vec![(dispatcher::ENGINE.to_owned(), engine)];
    let mut own = Vec::new();
    for (number, _) in (first..).zip(&modules) {
        own.push(made_instances.add(number, &[]));
    }
    names.extend((0..).zip(&own).map(|(number, instance): (u32, _)| (number.to_string(), *instance)));
    let memories = modules
        .iter()
        .zip(&own)
        .flat_map(|((_, module), instance)| module.memories.iter().map(|name| (*instance, &**name)));
    for (number, (instance, memory)) in memories.enumerate() {
        let Copies { into, out, put } = copying.add(instance, memory, &mut made_instances)?;
        for (name, instance) in [(dispatcher::INTO, into), (dispatcher::OUT, out), (dispatcher::PUT, put)] {
            names.push((format!("{name}{number}"), instance));
        }
    }
    for module in copying.modules() {
        RawSection { id: CORE_MODULE, data: module }.append_to(&mut made);
    }
    ModuleSection(&dispatcher(&modules)).append_to_component(&mut made);
    let names: Vec<_> = names.iter().map(|(name, instance)| (&**name, *instance)).collect();
    made_instances.add(copying.next(), &names);
    made_instances.section.append_to_component(&mut made);
    Ok(found.replaced(depth, made))
}

/// Core instances that are appended to a component.
struct Instances {
    section: InstanceSection,
    next: u32,
}

impl Instances {
    /// Adds an instance of a module, whose imports are exports of other instances, and returns its number.
    fn add(&mut self, module: u32, arguments: &[(&str, u32)]) -> u32 {
        let arguments = arguments.iter().map(|(name, instance)| (*name, ModuleArg::Instance(*instance)));
        self.section.instantiate(module, arguments.collect::<Vec<_>>());
        self.next += 1;
        self.next - 1
    }
}

/// Converts a count within the limits.
fn number_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
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
