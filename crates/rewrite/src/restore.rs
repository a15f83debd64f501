//! Resets an instance to its just-instantiated state.
//!
//! A fresh instance for each request costs more than the parts that have to be fresh: its memory, and the globals that
//! code has set. Resetting these gives a fresh instance without making one. A memory is reset from outside
//! (`tenon-memory`). For the globals, a component gets a function before it is compiled, [`RESTORE`]:
//!
//! ```text
//!  module with mutable globals ─► a twin of each, which no code sets, and a function that copies the twins back
//!  component ─► one more module, whose function calls all of those; it is exported
//! ```
//!
//! A second function, [`GLOBALS`], computes a digest of the same globals, for recordings of requests.
//!
//! This resets the instance only if nothing else in it can change. [`with_restore`] reads every instruction to find out. It
//! lists what it allows (`restore/module.rs`, `restore/instructions.rs`): the instances of a component with anything else are
//! not restored, and each request gets a new one. State that a host keeps for an instance, such as handles of resources, is not covered here.
//! The caller that restores has to know that there is none.

mod instructions;
mod module;

use wasm_encoder::{
    Alias, CanonicalFunctionSection, CodeSection, ComponentAliasSection, ComponentExportKind, ComponentExportSection,
    ComponentSection, ComponentTypeSection, ComponentValType, Encode, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, ImportSection, InstanceSection, Instruction, Module, ModuleArg, ModuleSection, PrimitiveValType,
    TypeSection, ValType,
};
use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentAlias, ComponentExportSectionReader, ComponentExternalKind,
    ComponentType, ComponentTypeRef, Instance, Parser, Payload, Validator, WasmFeatures,
};

use self::module::CoreModule;
use crate::rewrite::{Error, Rewrite, Signature};
use crate::section::{COMPONENT_EXPORT, CORE_MODULE, PREAMBLE, Section, sections};
use crate::state::{Global, StateError};

/// Export that resets the globals of a component's modules to their initial values. It has no parameters and no
/// results. A component must not bring its own.
pub const RESTORE: &str = "tenon-restore";

/// Export that returns a digest of the same globals, a 64-bit number. It is the same for equal values on every machine.
pub const GLOBALS: &str = "tenon-globals";

/// Multiplies a digest, an odd number.
const FACTOR: i64 = 0x9e37_79b9_7f4a_7c15_u64.cast_signed();

/// Adds [`RESTORE`] and [`GLOBALS`] to a component. The component must be valid, function bodies included, because an index beyond an
/// index space would name an added item.
///
/// # Errors
///
/// The reason why its instances cannot be restored:
///
/// - it does not have exactly one memory, or another module writes into that memory before the first call;
/// - code can change tables, or drop data or elements;
/// - it has objects of the collector, exceptions among them: they would outlive the request;
/// - it has an instruction, a section or a type that is not listed;
/// - a mutable global is imported, starts with a computed value, or holds a reference;
/// - code runs before the first call;
/// - it has nested components with code, resources of its own, asynchronous functions, or two instances of a module.
pub fn with_restore(component: &[u8], features: WasmFeatures) -> Result<Vec<u8>, Error> {
    let Outline { modules, instances, counts } = Outline::of(component, features)?;
    let read: Result<Vec<_>, _> =
        modules.iter().map(|module| CoreModule::of(&component[module.content.clone()])).collect();
    let read = read?;
    if read.iter().map(|module| module.memories).sum::<usize>() != 1 {
        return Err("it does not have exactly one memory".into());
    }
    // The instance of each module with mutable globals.
    let mut restored = Vec::new();
    for (index, module) in (0..).zip(&read) {
        let of_it = (0..).zip(&instances).filter(|(_, of)| **of == Some(index));
        let of_it: Vec<u32> = of_it.map(|(instance, _)| instance).collect();
        match of_it[..] {
            [] => {}
            [instance] if module.has_globals => restored.push((index, instance)),
            [_] => {}
            _ => return Err("it has two instances of a module".into()),
        }
    }
    let mut made = component[..PREAMBLE].to_vec();
    let mut next = 0;
    for section in sections(component, PREAMBLE..component.len())? {
        let before = next;
        next += u32::from(section.id == CORE_MODULE);
        if section.id == CORE_MODULE && restored.iter().any(|(index, _)| *index == before) {
            made.push(CORE_MODULE);
            with_functions(&component[section.content])?.encode(&mut made);
        } else {
            made.extend_from_slice(&component[section.start..section.content.end]);
        }
    }
    let instances: Vec<u32> = restored.into_iter().map(|(_, instance)| instance).collect();
    append(&mut made, &instances, counts)?;
    Ok(made)
}

/// Returns whether a component exports [`RESTORE`] or [`GLOBALS`].
///
/// # Errors
///
/// When it is malformed.
pub fn exports_restore(component: &[u8]) -> Result<bool, StateError> {
    for section in sections(component, PREAMBLE..component.len())? {
        if section.id == COMPONENT_EXPORT {
            for export in ComponentExportSectionReader::new(section.reader(component))? {
                if [RESTORE, GLOBALS].contains(&export?.name.name) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Number of items of each kind in a component. An added item gets the next number.
struct Counts {
    modules: u32,
    instances: u32,
    core_functions: u32,
    types: u32,
    functions: u32,
}

/// The contents of a component.
struct Outline {
    modules: Vec<Section>,
    /// The module of each core instance; none for an instance that is assembled from exports of others.
    instances: Vec<Option<u32>>,
    counts: Counts,
}

impl Outline {
    fn of(component: &[u8], features: WasmFeatures) -> Result<Self, Error> {
        let mut instances = Vec::new();
        // The component was validated, its functions included. This validator counts the index spaces.
        let mut validator = Validator::new_with_features(features);
        let mut inside = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            let payload = payload?;
            match (&payload, inside.last()) {
                (Payload::ModuleSection { .. }, None) => inside.push(Inside::Module),
                (Payload::ComponentSection { .. }, None) => inside.push(Inside::Component),
                (Payload::End(_), Some(_)) => drop(inside.pop()),
                (Payload::End(_), None) => {
                    let counts = Counts::of(&validator)?;
                    let sections = sections(component, PREAMBLE..component.len())?;
                    let modules: Vec<_> = sections.into_iter().filter(|section| section.id == CORE_MODULE).collect();
                    if (modules.len(), instances.len()) != (counts.modules as usize, counts.instances as usize) {
                        return Err("it imports or aliases modules".into());
                    }
                    return Ok(Self { modules, instances, counts });
                }
                (payload, None) => look_at(payload, &mut instances)?,
                (payload, Some(Inside::Component)) => look_inside(payload)?,
                // Examined on its own.
                (_, Some(Inside::Module)) => {}
            }
            validator.payload(&payload)?;
        }
        Err("it is cut short".into())
    }
}

/// An item nested in a component.
enum Inside {
    Module,
    Component,
}

impl Counts {
    fn of(validator: &Validator) -> Result<Self, Error> {
        let types = validator.types(0).ok_or("it is not a component")?;
        Ok(Self {
            modules: types.module_count(),
            instances: types.core_instance_count(),
            core_functions: types.function_count(),
            types: types.component_type_count(),
            functions: types.component_function_count(),
        })
    }
}

/// Checks a section of the component itself.
fn look_at(payload: &Payload<'_>, instances: &mut Vec<Option<u32>>) -> Result<(), Error> {
    match payload {
        // Nested components are checked by `look_inside`.
        Payload::ComponentInstanceSection(_) | Payload::CoreTypeSection(_) => {}
        Payload::InstanceSection(all) => {
            for instance in all.clone() {
                instances.push(match instance? {
                    Instance::Instantiate { module_index, .. } => Some(module_index),
                    Instance::FromExports(_) => None,
                });
            }
        }
        Payload::ComponentCanonicalSection(all) => {
            for function in all.clone() {
                match function? {
                    CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. }
                        if options.iter().all(is_plain) => {}
                    CanonicalFunction::ResourceDrop { .. } => {}
                    _ => return Err("it has asynchronous functions, or resources of its own".into()),
                }
            }
        }
        Payload::ComponentExportSection(all) => {
            for export in all.clone() {
                if [RESTORE, GLOBALS].contains(&export?.name.name) {
                    return Err(taken());
                }
            }
        }
        other => look_inside(other)?,
    }
    Ok(())
}

/// Returns whether an option of a lifted or lowered function is about linear memory, and about nothing else.
fn is_plain(option: &CanonicalOption) -> bool {
    match option {
        CanonicalOption::UTF8
        | CanonicalOption::UTF16
        | CanonicalOption::CompactUTF16
        | CanonicalOption::Memory(_)
        | CanonicalOption::Realloc(_)
        | CanonicalOption::PostReturn(_) => true,
        CanonicalOption::Async | CanonicalOption::Callback(_) | CanonicalOption::CoreType(_) | CanonicalOption::Gc => {
            false
        }
    }
}

/// Checks a section of a nested component, which must have no code, neither its own nor imported. It may only rename
/// and retype its arguments.
fn look_inside(payload: &Payload<'_>) -> Result<(), Error> {
    match payload {
        Payload::Version { .. } | Payload::CustomSection(_) | Payload::ComponentExportSection(_) => {}
        Payload::ComponentAliasSection(all) => {
            for alias in all.clone() {
                if !matches!(
                    alias?,
                    ComponentAlias::CoreInstanceExport { .. }
                        | ComponentAlias::InstanceExport {
                            kind: ComponentExternalKind::Func
                                | ComponentExternalKind::Type
                                | ComponentExternalKind::Instance,
                            ..
                        }
                ) {
                    return Err("it aliases code or an item of an outer component".into());
                }
            }
        }
        Payload::ComponentTypeSection(all) => {
            for ty in all.clone() {
                if let ComponentType::Resource { .. } = ty? {
                    return Err("it has a resource of its own".into());
                }
            }
        }
        Payload::ComponentImportSection(all) => {
            for import in all.clone() {
                match import?.ty {
                    ComponentTypeRef::Func(_) | ComponentTypeRef::Type(_) | ComponentTypeRef::Instance(_) => {}
                    _ => return Err("it imports code".into()),
                }
            }
        }
        _ => return Err("it has nested components with code, or code that runs before the first call".into()),
    }
    Ok(())
}

fn taken() -> Error {
    format!("it exports {RESTORE} or {GLOBALS}").into()
}

/// Adds a function to a module that sets its mutable globals to their initial values, and one that computes their digest.
fn with_functions(module: &[u8]) -> Result<Vec<u8>, Error> {
    let mut rewrite = Rewrite::of(module)?;
    let (mut restore, mut digest) = (Vec::new(), vec![Instruction::LocalGet(0)]);
    for (index, value) in rewrite.mutable_globals()? {
        let value = value.ok_or("the initial value of a global is unknown")?;
        let twin = rewrite.add_global(value)?;
        restore.extend([Instruction::GlobalGet(twin), Instruction::GlobalSet(index)]);
        digest.push(Instruction::GlobalGet(index));
        match value {
            Global::I32(_) => digest.push(Instruction::I64ExtendI32U),
            Global::I64(_) => {}
            Global::F32(_) => digest.extend([Instruction::I32ReinterpretF32, Instruction::I64ExtendI32U]),
            Global::F64(_) => digest.push(Instruction::I64ReinterpretF64),
        }
        // The product's upper bits depend on all bits, and the next value is mixed with them.
        digest.extend([
            Instruction::I64Xor,
            Instruction::I64Const(FACTOR),
            Instruction::I64Mul,
            Instruction::I64Const(29),
            Instruction::I64Rotl,
        ]);
    }
    rewrite.add_exported(RESTORE, Signature::Nothing, &restore);
    rewrite.add_exported(GLOBALS, Signature::Number, &digest);
    rewrite.finish()
}

/// Appends a module that calls the functions of core instances.
fn append(component: &mut Vec<u8>, instances: &[u32], counts: Counts) -> Result<(), Error> {
    const ADDED: [&str; 2] = [RESTORE, GLOBALS];
    let names: Vec<String> = (0..instances.len()).map(|number| number.to_string()).collect();
    let count = u32::try_from(names.len())?;
    let (mut types, mut imports, mut functions) = (TypeSection::new(), ImportSection::new(), FunctionSection::new());
    types.ty().function([], []);
    types.ty().function([ValType::I64], [ValType::I64]);
    types.ty().function([], [ValType::I64]);
    let (mut restore, mut digest) = (Function::new([]), Function::new([]));
    digest.instruction(&Instruction::I64Const(0));
    for (ty, export) in (0..).zip(ADDED) {
        for name in &names {
            imports.import(name, export, EntityType::Function(ty));
        }
    }
    for index in 0..count {
        restore.instruction(&Instruction::Call(index));
        digest.instruction(&Instruction::Call(count + index));
    }
    restore.instruction(&Instruction::End);
    digest.instruction(&Instruction::End);
    functions.function(0).function(2);
    let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
    for (index, export) in (2 * count..).zip(ADDED) {
        exports.export(export, ExportKind::Func, index);
    }
    code.function(&restore).function(&digest);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    ModuleSection(&module).append_to_component(component);

    let arguments = names.iter().zip(instances).map(|(name, instance)| (&**name, ModuleArg::Instance(*instance)));
    InstanceSection::new().instantiate(counts.modules, arguments).append_to_component(component);
    let mut aliases = ComponentAliasSection::new();
    for name in ADDED {
        aliases.alias(Alias::CoreInstanceExport { instance: counts.instances, kind: ExportKind::Func, name });
    }
    aliases.append_to_component(component);
    let mut types = ComponentTypeSection::new();
    types.function().params([] as [(&str, ComponentValType); 0]).result(None);
    types.function().params([] as [(&str, ComponentValType); 0]).result(Some(PrimitiveValType::U64.into()));
    types.append_to_component(component);
    let (mut lifted, mut exported) = (CanonicalFunctionSection::new(), ComponentExportSection::new());
    for (number, name) in (0..).zip(ADDED) {
        lifted.lift(counts.core_functions + number, counts.types + number, []);
        exported.export(name, ComponentExportKind::Func, counts.functions + number, None);
    }
    lifted.append_to_component(component);
    exported.append_to_component(component);
    Ok(())
}

#[cfg(test)]
mod tests;
