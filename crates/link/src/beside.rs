//! Components beside the engine's: the engine's component imports their functions, and calls them as functions of its memory.
//!
//! They cannot stand inside the engine's component, because a component cannot call the components inside it while it runs
//! (Component Model, Canonical ABI: `call_might_be_recursive`).

use tenon_compose::Part;
use wasm_encoder::{
    Alias, CanonicalFunctionSection, CanonicalOption, ComponentAliasSection, ComponentExportKind,
    ComponentImportSection, ComponentSection, ComponentTypeRef, ComponentTypeSection, ExportKind,
};
use wasmparser::{Parser, Payload, Validator};

use crate::Linked;
use crate::component::Component;
use crate::error::LinkError;
use crate::import_types::RootTypes;

/// Exports of the engine, which its own component uses in the same way.
const MEMORY: &str = "memory";
const REALLOC: &str = "cabi_realloc";

/// Numbers of the next items of a component.
struct Counts {
    types: u32,
    instances: u32,
    functions: u32,
    core_functions: u32,
    core_memories: u32,
}

impl Counts {
    /// Counts the items of a component. It was validated when it was made, so bodies of functions are not.
    fn of(component: &[u8]) -> Result<Self, LinkError> {
        let mut validator = Validator::new();
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(component) {
            let payload = payload.map_err(LinkError::engine)?;
            match &payload {
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) if depth > 0 => depth -= 1,
                Payload::End(_) => {
                    let types = validator.types(0).ok_or_else(|| LinkError::engine("it is not a component"))?;
                    return Ok(Self {
                        types: types.component_type_count(),
                        instances: types.component_instance_count(),
                        functions: types.component_function_count(),
                        core_functions: types.function_count(),
                        core_memories: types.memory_count(),
                    });
                }
                _ => {}
            }
            validator.payload(&payload).map_err(LinkError::engine)?;
        }
        Err(LinkError::engine("it is cut short"))
    }
}

/// The functions of a component, by their names for the dispatcher and their numbers among core functions.
pub(crate) type Lowered = Vec<(String, u32)>;

/// Has the engine's component import the functions of others. Returns these for each one, and how to compose it.
pub(crate) fn import<'a>(
    made: &mut Vec<u8>,
    engine: u32,
    components: &[(&Component, Linked<'a>)],
) -> Result<(Vec<Lowered>, Vec<Part<'a>>), LinkError> {
    if components.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut next = Counts::of(made)?;
    let mut types = RootTypes { section: ComponentTypeSection::new(), first: next.types };
    let mut imports = ComponentImportSection::new();
    let mut aliases = ComponentAliasSection::new();
    let mut lowered = CanonicalFunctionSection::new();
    let (memory, realloc) = (next.core_memories, next.core_functions);
    next.core_functions += 1;
    let (mut found, mut parts) = (Vec::new(), Vec::new());
    for (number, (component, Linked { name, bytes, .. })) in components.iter().enumerate() {
        let (mut exports, mut functions) = (Vec::new(), Vec::new());
        for (index, export) in component.exports.iter().enumerate() {
            let import = format!("linked{number}-export{index}");
            let ty = component.import_type(export, &mut types);
            let ty = ty.map_err(|(function, what)| LinkError::Unsupported { function, what }.of(name))?;
            if export.interface.is_none() {
                imports.import(&*import, ComponentTypeRef::Func(ty));
                functions.push(Callee::Imported(next.functions));
                next.functions += 1;
            } else {
                imports.import(&*import, ComponentTypeRef::Instance(ty));
                functions
                    .extend(export.functions.iter().map(|function| Callee::Member(next.instances, &function.name)));
                next.instances += 1;
            }
            exports.push((export.name.clone(), import));
        }
        parts.push(Part { bytes, exports });
        found.push((functions, component));
    }
    let mut all = Vec::new();
    for (functions, component) in found {
        let mut own = Lowered::new();
        for (function, callee) in component.lowered().zip(functions) {
            let number = match callee {
                Callee::Imported(number) => number,
                Callee::Member(instance, name) => {
                    aliases.alias(Alias::InstanceExport { instance, kind: ComponentExportKind::Func, name });
                    next.functions += 1;
                    next.functions - 1
                }
            };
            let options = [CanonicalOption::UTF8, CanonicalOption::Memory(memory), CanonicalOption::Realloc(realloc)];
            lowered.lower(number, options);
            own.push((function.name.clone(), next.core_functions));
            next.core_functions += 1;
        }
        all.push(own);
    }
    aliases.alias(Alias::CoreInstanceExport { instance: engine, kind: ExportKind::Memory, name: MEMORY });
    aliases.alias(Alias::CoreInstanceExport { instance: engine, kind: ExportKind::Func, name: REALLOC });
    types.section.append_to_component(made);
    imports.append_to_component(made);
    aliases.append_to_component(made);
    lowered.append_to_component(made);
    Ok((all, parts))
}

/// A function that the engine's component imports.
enum Callee<'a> {
    Imported(u32),
    /// A function of an imported instance.
    Member(u32, &'a str),
}
