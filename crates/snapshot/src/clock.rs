//! The monotonic clock without a detour.
//!
//! The engine asks for the time in every request, by its C library, which asks WASI 0.1; the adapter to WASI 0.2 answers,
//! and to do so the first time in an instance allocates 64 KiB for what it has to remember. The clock itself it takes from
//! an import that the engine has, too. So the engine asks that one, and the adapter for other clocks only.

use std::convert::Infallible;

use tenon_code::sections;
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{BlockType, CodeSection, Encode, Function, Instruction, MemArg, Module, RawSection, SectionId};
use wasmparser::{
    BinaryReader, CodeSectionReader, CompositeInnerType, FunctionSectionReader, ImportSectionReader, Operator, TypeRef,
    TypeSectionReader, ValType,
};

use crate::error::SnapshotError;

/// Magic number and version, before the first section.
const PREAMBLE: usize = 8;

const TYPE: u8 = SectionId::Type as u8;
const IMPORT: u8 = SectionId::Import as u8;
const FUNCTION: u8 = SectionId::Function as u8;
const CODE: u8 = SectionId::Code as u8;

/// `clockid::monotonic` of WASI 0.1, and its `errno::success`.
const MONOTONIC: i32 = 1;
const SUCCESS: i32 = 0;

/// An import and its type.
#[derive(Clone, Copy)]
struct Imported {
    function: u32,
    ty: u32,
}

/// Makes an engine ask for the monotonic clock directly. It stays as it is when it does not import both ways.
pub(crate) fn directly(engine: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    redirected(engine).map_err(SnapshotError::engine)
}

fn redirected(engine: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let sections = sections(engine, PREAMBLE..engine.len())?;
    let reader = |id: u8| {
        let section = sections.iter().find(|section| section.id == id);
        section.map(|section| BinaryReader::new(&engine[section.content.clone()], section.content.start))
    };
    let (Some(types), Some(imports), Some(functions), Some(code)) =
        (reader(TYPE), reader(IMPORT), reader(FUNCTION), reader(CODE))
    else {
        return Ok(engine.to_vec());
    };
    let (mut count, mut adapter, mut clock) = (0, None, None);
    for import in ImportSectionReader::new(imports)?.into_imports() {
        let import = import?;
        let TypeRef::Func(ty) = import.ty else { continue };
        let imported = Some(Imported { function: count, ty });
        match (import.module, import.name) {
            ("wasi_snapshot_preview1", "clock_time_get") => adapter = imported,
            (module, "now") if module.starts_with("wasi:clocks/monotonic-clock@") => clock = imported,
            _ => {}
        }
        count += 1;
    }
    let (Some(adapter), Some(clock)) = (adapter, clock) else { return Ok(engine.to_vec()) };
    let functions = FunctionSectionReader::new(functions)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let added = count + u32::try_from(functions.len())?;
    let is_as_known = has_type(types.clone(), adapter.ty, &[ValType::I32, ValType::I64, ValType::I32], ValType::I32)?
        && has_type(types, clock.ty, &[], ValType::I64)?;
    if !is_as_known {
        return Err("the clock is imported as another function than the adapter has".into());
    }
    let mut bodies = CodeSection::new();
    let mut renumber = Renumber { from: adapter.function, to: added };
    for body in CodeSectionReader::new(code)? {
        let body = body?;
        let mut asks = false;
        for operator in body.get_operators_reader()? {
            asks |= matches!(operator?, Operator::Call { function_index } if function_index == adapter.function);
        }
        if asks {
            renumber.parse_function_body(&mut bodies, body)?;
        } else {
            bodies.raw(body.as_bytes());
        }
    }
    bodies.function(&asking(adapter, clock));
    let mut module = Module::new();
    for section in &sections {
        match section.id {
            CODE => module.section(&bodies),
            FUNCTION => {
                let mut content = Vec::new();
                (functions.len() + 1).encode(&mut content);
                functions.iter().chain([&adapter.ty]).for_each(|ty| ty.encode(&mut content));
                module.section(&RawSection { id: FUNCTION, data: &content })
            }
            id => module.section(&RawSection { id, data: &engine[section.content.clone()] }),
        };
    }
    Ok(module.finish())
}

/// `clock_time_get`: the clock, its precision, and where the time goes.
fn asking(adapter: Imported, clock: Imported) -> Function {
    let (id, precision, at) = (0, 1, 2);
    let time = MemArg { offset: 0, align: 3, memory_index: 0 };
    let mut function = Function::new([]);
    for instruction in [
        Instruction::LocalGet(id),
        Instruction::I32Const(MONOTONIC),
        Instruction::I32Eq,
        Instruction::If(BlockType::Empty),
        Instruction::LocalGet(at),
        Instruction::Call(clock.function),
        Instruction::I64Store(time),
        Instruction::I32Const(SUCCESS),
        Instruction::Return,
        Instruction::End,
        Instruction::LocalGet(id),
        Instruction::LocalGet(precision),
        Instruction::LocalGet(at),
        Instruction::Call(adapter.function),
        Instruction::End,
    ] {
        function.instruction(&instruction);
    }
    function
}

fn has_type(types: BinaryReader<'_>, index: u32, params: &[ValType], result: ValType) -> wasmparser::Result<bool> {
    let mut all = Vec::new();
    for group in TypeSectionReader::new(types)? {
        all.extend(group?.into_types());
    }
    Ok(match all.get(index as usize).map(|ty| &ty.composite_type.inner) {
        Some(CompositeInnerType::Func(function)) => function.params() == params && function.results() == [result],
        _ => false,
    })
}

/// One function gets another number.
struct Renumber {
    from: u32,
    to: u32,
}

impl Reencode for Renumber {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(if function == self.from { self.to } else { function })
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Linker, Module, Store};

    use super::*;

    const ADAPTER: &str = r#"(import "wasi_snapshot_preview1" "clock_time_get"
        (func $adapter (param i32 i64 i32) (result i32)))"#;
    const CLOCK: &str = r#"(import "wasi:clocks/monotonic-clock@0.2.10" "now" (func $now (result i64)))"#;

    fn engine(imports: &str) -> Vec<u8> {
        let text = format!(
            r#"(module {imports}
              (memory (export "memory") 1)
              (func $other (export "other") (result i32) (i32.const 7))
              (func (export "ask") (param i32) (result i32)
                (call $adapter (local.get 0) (i64.const 5) (i32.const 16))))"#
        );
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn the_monotonic_clock_is_asked_directly_and_the_adapter_for_others() {
        let made = directly(&engine(&[ADAPTER, CLOCK].concat())).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, made).unwrap();
        let mut linker = Linker::new(&engine);
        linker.func_wrap("wasi:clocks/monotonic-clock@0.2.10", "now", || 123_456_789_012_i64).unwrap();
        let asked = |clock: i32, precision: i64, at: i32| clock * 100 + i32::try_from(precision).unwrap() * 10 + at;
        linker.func_wrap("wasi_snapshot_preview1", "clock_time_get", asked).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let ask = instance.get_typed_func::<i32, i32>(&mut store, "ask").unwrap();
        assert_eq!(ask.call(&mut store, 0).unwrap(), 66);
        assert_eq!(ask.call(&mut store, 2).unwrap(), 266);
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        assert_eq!(memory.data(&store)[16..24], [0; 8]);
        assert_eq!(ask.call(&mut store, 1).unwrap(), 0);
        assert_eq!(memory.data(&store)[16..24], 123_456_789_012_i64.to_le_bytes());
        let other = instance.get_typed_func::<(), i32>(&mut store, "other").unwrap();
        assert_eq!(other.call(&mut store, ()).unwrap(), 7);
    }

    #[test]
    fn an_engine_without_both_ways_stays_as_it_is_and_one_that_differs_is_refused() {
        for engine in [engine(ADAPTER), wat::parse_str("(module (func))").unwrap()] {
            assert_eq!(directly(&engine).unwrap(), engine);
        }
        let other = CLOCK.replace("i64", "i32");
        assert!(directly(&engine(&[ADAPTER, &other].concat())).is_err());
    }
}
