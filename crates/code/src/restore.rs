//! Instances that can be made what they were when they were made.
//!
//! A fresh instance for each request costs more than what it has to be fresh in: its memory, and the globals that code has
//! set. Who can reset these has a fresh instance without making one. A memory is reset from outside (`tenon-memory`). For the
//! globals a component is given a function before it is compiled, [`RESTORE`]:
//!
//! ```text
//!  module with mutable globals ─► one more of each, which nobody sets, and a function that sets each to its twin
//!  component ─► one more module, whose function calls all of those; it is exported
//! ```
//!
//! That makes an instance what it was only when nothing else can change in it, which is found by reading every instruction:
//! [`added`] says what it must not have. What hosts keep for an instance, such as handles of resources, is not looked into
//! here: whoever restores it has to know that there are none.

use wasm_encoder::{
    Alias, CanonicalFunctionSection, CodeSection, ComponentAliasSection, ComponentExportKind, ComponentExportSection,
    ComponentSection, ComponentTypeSection, ComponentValType, Encode, EntityType, ExportKind, ExportSection, Function,
    FunctionSection, ImportSection, InstanceSection, Instruction, Module, ModuleArg, ModuleSection, TypeSection,
};
use wasmparser::{
    CanonicalFunction, CanonicalOption, CodeSectionReader, ComponentAlias, ComponentExternalKind, ComponentType,
    ComponentTypeRef, DataKind, DataSectionReader, ExportSectionReader, ImportSectionReader, Instance,
    MemorySectionReader, Operator, Parser, Payload, TableSectionReader, TypeRef, Validator, WasmFeatures,
};

use crate::rewrite::{Error, Rewrite};
use crate::section::{CODE, CORE_MODULE, DATA, EXPORT, IMPORT, MEMORY, PREAMBLE, START, Section, TABLE, sections};

/// The export of a component that sets the globals of its modules to what they were at first; it takes and gives nothing. No
/// component may bring one of its own.
pub const RESTORE: &str = "tenon-restore";

/// A component with [`RESTORE`].
///
/// # Errors
///
/// Why its instances cannot be restored:
///
/// - it has not one memory, or a memory that is not as its own module says when nothing has run yet;
/// - code can change tables, or drop data or elements;
/// - it has objects of the garbage collector;
/// - a mutable global is imported, starts with a value that is computed, or refers to something;
/// - code runs before the first call;
/// - it has components in it that have code, resources of its own, asynchronous functions, or two instances of a module.
pub(crate) fn added(component: &[u8]) -> Result<Vec<u8>, Error> {
    let Outline { modules, instances, counts } = Outline::of(component)?;
    let read: Result<Vec<_>, _> =
        modules.iter().map(|module| CoreModule::of(&component[module.content.clone()])).collect();
    let read = read?;
    if read.iter().map(|module| module.memories).sum::<usize>() != 1 {
        return Err("it has not one memory".into());
    }
    // Of each module with globals that may change, its instance.
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
            with_function(&component[section.content])?.encode(&mut made);
        } else {
            made.extend_from_slice(&component[section.start..section.content.end]);
        }
    }
    let instances: Vec<u32> = restored.into_iter().map(|(_, instance)| instance).collect();
    append(&mut made, &instances, counts)?;
    Ok(made)
}

/// How many of each kind there are in a component: what is added gets the next number.
struct Counts {
    modules: u32,
    instances: u32,
    core_functions: u32,
    types: u32,
    functions: u32,
}

/// What a component consists of.
struct Outline {
    modules: Vec<Section>,
    /// The module of each core instance; none of one that is put together of others' exports.
    instances: Vec<Option<u32>>,
    counts: Counts,
}

impl Outline {
    fn of(component: &[u8]) -> Result<Self, Error> {
        let mut instances = Vec::new();
        // The functions are the compiler's to check. What is around them says how much of everything there is.
        // Objects of the garbage collector would be another thing that can change.
        let mut validator = Validator::new_with_features(WasmFeatures::default().difference(WasmFeatures::GC));
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
                        return Err("it has modules that are not its own".into());
                    }
                    return Ok(Self { modules, instances, counts });
                }
                (payload, None) => look_at(payload, &mut instances)?,
                (payload, Some(Inside::Component)) => look_inside(payload)?,
                // Looked at by itself.
                (_, Some(Inside::Module)) => {}
            }
            validator.payload(&payload)?;
        }
        Err("it has no end".into())
    }
}

/// What is in a component.
enum Inside {
    Module,
    Component,
}

impl Counts {
    fn of(validator: &Validator) -> Result<Self, Error> {
        let types = validator.types(0).ok_or("it is no component")?;
        Ok(Self {
            modules: types.module_count(),
            instances: types.core_instance_count(),
            core_functions: types.function_count(),
            types: types.component_type_count(),
            functions: types.component_function_count(),
        })
    }
}

/// Looks at a section of a component itself.
fn look_at(payload: &Payload<'_>, instances: &mut Vec<Option<u32>>) -> Result<(), Error> {
    match payload {
        // Components in it are looked into.
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
                let is_async = |options: &[CanonicalOption]| {
                    options.iter().any(|option| matches!(option, CanonicalOption::Async | CanonicalOption::Callback(_)))
                };
                match function? {
                    CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. }
                        if !is_async(&options) => {}
                    CanonicalFunction::ResourceDrop { .. } => {}
                    _ => return Err("it has asynchronous functions, or resources of its own".into()),
                }
            }
        }
        Payload::ComponentExportSection(all) => {
            for export in all.clone() {
                if export?.name.name == RESTORE {
                    return Err(taken());
                }
            }
        }
        other => look_inside(other)?,
    }
    Ok(())
}

/// Looks at a section of a component that has no code, neither of its own nor from elsewhere: one that gives what it is given
/// other types and names.
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
                    return Err("it has an alias of code, or of what it is in".into());
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
        _ => return Err("it has components in it that have code, or code that runs before the first call".into()),
    }
    Ok(())
}

fn taken() -> Error {
    format!("it exports {RESTORE}").into()
}

/// What is known of a core module that has nothing that cannot be restored.
struct CoreModule {
    memories: usize,
    has_globals: bool,
}

impl CoreModule {
    fn of(module: &[u8]) -> Result<Self, Error> {
        let mut memories = 0;
        let mut writes = false;
        for section in sections(module, PREAMBLE..module.len())? {
            let reader = section.reader(module);
            match section.id {
                START => return Err("code runs before the first call".into()),
                IMPORT => {
                    for import in ImportSectionReader::new(reader)?.into_imports() {
                        match import?.ty {
                            TypeRef::Global(global) if global.mutable => {
                                return Err("it imports a mutable global".into());
                            }
                            TypeRef::Memory(memory) if memory.shared => return Err("it shares a memory".into()),
                            TypeRef::Table(table) if !table.element_type.is_func_ref() => return Err(no_functions()),
                            _ => {}
                        }
                    }
                }
                MEMORY => {
                    for memory in MemorySectionReader::new(reader)? {
                        memories += 1;
                        if memory?.shared {
                            return Err("it shares a memory".into());
                        }
                    }
                }
                TABLE => {
                    for table in TableSectionReader::new(reader)? {
                        if !table?.ty.element_type.is_func_ref() {
                            return Err(no_functions());
                        }
                    }
                }
                EXPORT => {
                    for export in ExportSectionReader::new(reader)? {
                        if export?.name == RESTORE {
                            return Err(taken());
                        }
                    }
                }
                CODE => {
                    for body in CodeSectionReader::new(reader)? {
                        for operator in body?.get_operators_reader()? {
                            check(&operator?)?;
                        }
                    }
                }
                DATA => {
                    for data in DataSectionReader::new(reader)? {
                        writes |= matches!(data?.kind, DataKind::Active { .. });
                    }
                }
                _ => {}
            }
        }
        if writes && memories == 0 {
            return Err("a module writes into another's memory before the first call".into());
        }
        let globals = Rewrite::of(module)?.mutable_globals()?;
        if globals.iter().any(|(_, value)| value.is_none()) {
            return Err("a mutable global starts with what is no constant number".into());
        }
        Ok(Self { memories, has_globals: !globals.is_empty() })
    }
}

fn no_functions() -> Error {
    "a table holds other things than functions".into()
}

/// Whether an instruction changes nothing but memory, globals, and what lives no longer than a call.
fn check(operator: &Operator<'_>) -> Result<(), Error> {
    match operator {
        Operator::TableSet { .. }
        | Operator::TableGrow { .. }
        | Operator::TableFill { .. }
        | Operator::TableCopy { .. }
        | Operator::TableInit { .. } => Err("code can change a table".into()),
        Operator::ElemDrop { .. } | Operator::DataDrop { .. } => Err("code can drop data or elements".into()),
        _ => Ok(()),
    }
}

/// A module with a function that sets its mutable globals to what they were at first.
fn with_function(module: &[u8]) -> Result<Vec<u8>, Error> {
    let mut rewrite = Rewrite::of(module)?;
    let mut instructions = Vec::new();
    for (index, value) in rewrite.mutable_globals()? {
        let twin = rewrite.add_global(value.ok_or("a global's first value is unknown")?)?;
        instructions.extend([Instruction::GlobalGet(twin), Instruction::GlobalSet(index)]);
    }
    rewrite.add_exported(RESTORE, &instructions)?;
    rewrite.finish()
}

/// Adds what calls the functions of core instances.
fn append(component: &mut Vec<u8>, instances: &[u32], counts: Counts) -> Result<(), Error> {
    let names: Vec<String> = (0..instances.len()).map(|number| number.to_string()).collect();
    let (mut types, mut imports, mut functions) = (TypeSection::new(), ImportSection::new(), FunctionSection::new());
    types.ty().function([], []);
    let mut body = Function::new([]);
    for (index, name) in (0..).zip(&names) {
        imports.import(name, RESTORE, EntityType::Function(0));
        body.instruction(&Instruction::Call(index));
    }
    body.instruction(&Instruction::End);
    functions.function(0);
    let (mut exports, mut code) = (ExportSection::new(), CodeSection::new());
    exports.export(RESTORE, ExportKind::Func, u32::try_from(names.len())?);
    code.function(&body);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    ModuleSection(&module).append_to_component(component);

    let arguments = names.iter().zip(instances).map(|(name, instance)| (&**name, ModuleArg::Instance(*instance)));
    InstanceSection::new().instantiate(counts.modules, arguments).append_to_component(component);
    ComponentAliasSection::new()
        .alias(Alias::CoreInstanceExport { instance: counts.instances, kind: ExportKind::Func, name: RESTORE })
        .append_to_component(component);
    let mut types = ComponentTypeSection::new();
    types.function().params([] as [(&str, ComponentValType); 0]).result(None);
    types.append_to_component(component);
    CanonicalFunctionSection::new().lift(counts.core_functions, counts.types, []).append_to_component(component);
    ComponentExportSection::new()
        .export(RESTORE, ComponentExportKind::Func, counts.functions, None)
        .append_to_component(component);
    Ok(())
}

#[cfg(test)]
mod tests {
    use wasmtime::component::{Component, Instance as Made, Linker};
    use wasmtime::{Engine, Store};

    use super::*;

    /// A component of an engine with this in it and another module, around them this.
    fn component(engine: &str, other: &str, around: &str) -> Vec<u8> {
        let text = format!(
            r#"(component
                 (core module $engine
                   (memory (export "memory") 1)
                   (data (i32.const 8) "state")
                   (table (export "table") 1 funcref)
                   {engine})
                 (core module $other (import "engine" "memory" (memory 0)) {other})
                 (core instance $e (instantiate $engine))
                 (core instance $o (instantiate $other (with "engine" (instance $e))))
                 {around})"#
        );
        wat::parse_str(text).unwrap()
    }

    fn reason(engine: &str, other: &str, around: &str) -> String {
        added(&component(engine, other, around)).unwrap_err().to_string()
    }

    fn call<T>(store: &mut Store<()>, instance: Made, name: &str) -> T
    where
        (T,): wasmtime::component::ComponentNamedList + wasmtime::component::Lift,
    {
        instance.get_typed_func::<(), (T,)>(&mut *store, name).unwrap().call(&mut *store, ()).unwrap().0
    }

    #[test]
    fn the_globals_of_all_modules_become_what_they_were_at_first() {
        let engine = r#"
            (global $fixed i32 (i32.const 5))
            (global $a (mut i32) (i32.const 7))
            (global $b (mut f64) (f64.const 2.5))
            (func (export "a") (result i32)
              (global.set $a (i32.add (global.get $a) (global.get $fixed))) (global.get $a))
            (func (export "b") (result f64)
              (global.set $b (f64.add (global.get $b) (f64.const 1))) (global.get $b))"#;
        let other = r#"
            (global $c (mut i64) (i64.const -1))
            (global $d (mut f32) (f32.const 0.5))
            (func (export "c") (result i64)
              (global.set $c (i64.sub (global.get $c) (i64.const 1))) (global.get $c))
            (func (export "d") (result f32)
              (global.set $d (f32.neg (global.get $d))) (global.get $d))"#;
        let around = r#"
            (func (export "a") (result s32) (canon lift (core func $e "a")))
            (func (export "b") (result f64) (canon lift (core func $e "b")))
            (func (export "c") (result s64) (canon lift (core func $o "c")))
            (func (export "d") (result f32) (canon lift (core func $o "d")))"#;
        let made = added(&component(engine, other, around)).unwrap();
        let engine = Engine::default();
        let component = Component::new(&engine, made).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine).instantiate(&mut store, &component).unwrap();
        let restore = instance.get_typed_func::<(), ()>(&mut store, RESTORE).unwrap();
        for _ in 0..3 {
            for (a, b, c, d) in [(12, 3.5, -2, -0.5), (17, 4.5, -3, 0.5)] {
                assert_eq!(call::<i32>(&mut store, instance, "a"), a);
                assert_eq!(call::<f64>(&mut store, instance, "b").to_bits(), f64::to_bits(b));
                assert_eq!(call::<i64>(&mut store, instance, "c"), c);
                assert_eq!(call::<f32>(&mut store, instance, "d").to_bits(), f32::to_bits(d));
            }
            restore.call(&mut store, ()).unwrap();
        }
    }

    #[test]
    fn what_can_change_otherwise_is_not_restored() {
        let function = |body: &str| format!("(func $f {body}) (elem declare func $f)");
        for body in [
            "(table.set (i32.const 0) (ref.null func))",
            "(drop (table.grow (ref.null func) (i32.const 1)))",
            "(table.fill (i32.const 0) (ref.null func) (i32.const 1))",
            "(table.copy (i32.const 0) (i32.const 0) (i32.const 1))",
            "(table.init $el (i32.const 0) (i32.const 0) (i32.const 0))",
        ] {
            let engine = function(body) + "(elem $el func $f)";
            assert_eq!(reason(&engine, "", ""), "code can change a table", "{body}");
        }
        for body in ["(elem.drop $el)", "(data.drop $d)"] {
            let engine = function(body) + r#"(elem $el func $f) (data $d "passive")"#;
            assert_eq!(reason(&engine, "", ""), "code can drop data or elements", "{body}");
        }
        for (engine, other, around, expected) in [
            ("(func $f) (start $f)", "", "", "code runs before the first call"),
            ("", "(func $f) (start $f)", "", "code runs before the first call"),
            ("", "(memory 1)", "", "it has not one memory"),
            ("", r#"(data (i32.const 0) "x")"#, "", "a module writes into another's memory before the first call"),
            ("(table 1 externref)", "", "", "a table holds other things than functions"),
            (
                "(global (mut funcref) (ref.null func))",
                "",
                "",
                "a mutable global starts with what is no constant number",
            ),
            (
                r#"(global (export "g") (mut i32) (i32.const 0))"#,
                r#"(import "engine" "g" (global (mut i32)))"#,
                "",
                "it imports a mutable global",
            ),
            (
                "(global (mut i32) (i32.const 0))",
                "",
                "(core instance (instantiate $engine))",
                "it has two instances of a module",
            ),
            ("", "", "(type (resource (rep i32)))", "it has a resource of its own"),
            (
                "",
                "",
                "(core func $b (canon backpressure.inc))",
                "it has asynchronous functions, or resources of its own",
            ),
            (
                "",
                "",
                "(component (core module (func)))",
                "it has components in it that have code, or code that runs before the first call",
            ),
            ("", "", r#"(import "m" (core module))"#, "it imports code"),
            (r#"(func (export "tenon-restore"))"#, "", "", "it exports tenon-restore"),
            (
                r#"(func (export "f"))"#,
                "",
                r#"(func (export "tenon-restore") (canon lift (core func $e "f")))"#,
                "it exports tenon-restore",
            ),
        ] {
            assert_eq!(reason(engine, other, around), expected, "{engine} {other} {around}");
        }
        let object = "(type $s (struct (field (mut i32)))) (global (ref $s) (struct.new $s (i32.const 1)))";
        assert!(reason(object, "", "").contains("gc"), "{}", reason(object, "", ""));
        assert!(added(b"no component").is_err());
        assert!(added(&tenon_fixtures::core_module()).is_err());
    }

    #[test]
    fn components_without_code_are_no_matter() {
        let around = r#"
            (func $f (canon lift (core func $e "f")))
            (component $named
              (type (func))
              (import "f" (func (type 0)))
              (export "f" (func 0)))
            (instance $i (instantiate $named (with "f" (func $f))))
            (export "named" (instance $i))"#;
        let made = added(&component(r#"(func (export "f"))"#, "", around)).unwrap();
        Validator::new().validate_all(&made).unwrap();
    }
}
