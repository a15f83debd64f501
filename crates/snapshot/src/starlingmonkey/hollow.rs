//! The engine for the splicer, without the function bodies that splicing does not read.
//!
//! componentize-js splices the world's bindings into the engine with a program that decodes every instruction of a
//! module. For an engine of 10 MB that takes half a gigabyte of memory. The program needs only the exported functions.
//! So it gets an engine in which every other function is hollow, and its output is filled again:
//!
//! ```text
//!  engine ─► hollow ─► splicer ─► spliced, hollow ─► fill ─► spliced engine
//!     └────────────────────────────────────────────────┘
//! ```
//!
//! A hollow function contains its own number, and the first one calls every function that hollow ones called. The
//! splicer renumbers those calls like all others. That gives the new numbers for the functions that are put back.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::convert::Infallible;

use tenon_rewrite::section::{CODE, EXPORT, IMPORT, PREAMBLE, Section, TYPE, sections};
use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{CodeSection, Function, Instruction, Module, RawSection};
use wasmparser::{
    CodeSectionReader, ExportSectionReader, ExternalKind, FunctionBody, ImportSectionReader, Operator, TypeRef,
};

use crate::error::SnapshotError;

/// Makes an engine hollow.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when it is not a core module.
pub fn hollow(engine: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let parts = Parts::of(engine)?;
    let mut called = Some(parts.called()?);
    let mut code = CodeSection::new();
    for (index, body) in parts.functions() {
        if parts.exported.contains(&index) {
            code.raw(body.as_bytes());
            continue;
        }
        let mut function = Function::new([]);
        function.instruction(&Instruction::I32Const(index.cast_signed()));
        function.instruction(&Instruction::Drop);
        function.instruction(&Instruction::Unreachable);
        for called in called.take().unwrap_or_default() {
            function.instruction(&Instruction::Call(called));
            // Operands after it are not checked.
            function.instruction(&Instruction::Unreachable);
        }
        function.instruction(&Instruction::End);
        code.function(&function);
    }
    Ok(parts.with_code(&code))
}

/// Puts the functions of `engine` into the splicer's output for its [`hollow`] form.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when `spliced` is something else.
pub fn fill(spliced: &[u8], engine: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let (made, parts) = (Parts::of(spliced)?, Parts::of(engine)?);
    if !made.types.starts_with(parts.types) {
        return Err(changed("types"));
    }
    let was: Vec<Option<u32>> = made.bodies.iter().map(marker).collect();
    let mut now = Vec::new();
    if let Some(first) = was.iter().position(Option::is_some) {
        references(&made.bodies[first], |function| now.push(function))?;
    }
    let called = parts.called()?;
    if now.len() != called.len() {
        return Err(changed("functions"));
    }
    let numbers = called.into_iter().zip(now).collect();
    let mut renumber = Renumber(&numbers);
    let mut code = CodeSection::new();
    for (body, was) in made.bodies.iter().zip(was) {
        match was {
            None => drop(code.raw(body.as_bytes())),
            Some(was) => {
                let own = was.checked_sub(parts.imports).and_then(|index| parts.bodies.get(index as usize));
                let own = own.ok_or_else(|| changed("functions"))?;
                renumber.parse_function_body(&mut code, own.clone()).map_err(SnapshotError::engine)?;
            }
        }
    }
    Ok(made.with_code(&code))
}

/// Renumbers the functions in the map and keeps everything else.
struct Renumber<'a>(&'a HashMap<u32, u32>);

impl Reencode for Renumber<'_> {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
        Ok(self.0.get(&function).copied().unwrap_or(function))
    }
}

/// The parts of a module that splicing and filling use.
struct Parts<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    /// The types, encoded, without their number.
    types: &'a [u8],
    /// Number of imported functions, which come first.
    imports: u32,
    exported: HashSet<u32>,
    bodies: Vec<FunctionBody<'a>>,
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, SnapshotError> {
        let sections = sections(bytes, PREAMBLE..bytes.len()).map_err(SnapshotError::engine)?;
        let mut parts =
            Self { bytes, sections: Vec::new(), types: &[], imports: 0, exported: HashSet::new(), bodies: Vec::new() };
        for section in &sections {
            parts.read(section).map_err(SnapshotError::engine)?;
        }
        Ok(Self { sections, ..parts })
    }

    fn read(&mut self, section: &Section) -> wasmparser::Result<()> {
        let mut reader = section.reader(self.bytes);
        match section.id {
            TYPE => {
                reader.read_var_u32()?;
                self.types = reader.read_bytes(reader.bytes_remaining())?;
            }
            IMPORT => {
                for import in ImportSectionReader::new(reader)?.into_imports() {
                    self.imports += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            EXPORT => {
                for export in ExportSectionReader::new(reader)? {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        self.exported.insert(export.index);
                    }
                }
            }
            CODE => self.bodies = CodeSectionReader::new(reader)?.into_iter().collect::<Result<_, _>>()?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the functions that are not imported, with their numbers.
    fn functions(&self) -> impl Iterator<Item = (u32, &FunctionBody<'a>)> {
        (self.imports..).zip(&self.bodies)
    }

    /// Returns the functions that the bodies left out by [`hollow`] call.
    fn called(&self) -> Result<BTreeSet<u32>, SnapshotError> {
        let mut called = BTreeSet::new();
        for (index, body) in self.functions() {
            if !self.exported.contains(&index) {
                references(body, |function| {
                    called.insert(function);
                })?;
            }
        }
        Ok(called)
    }

    fn with_code(&self, code: &CodeSection) -> Vec<u8> {
        let mut module = Module::new();
        for section in &self.sections {
            match section.id {
                CODE => module.section(code),
                id => module.section(&RawSection { id, data: &self.bytes[section.content.clone()] }),
            };
        }
        module.finish()
    }
}

/// Calls `each` with every function that a body refers to.
fn references(body: &FunctionBody<'_>, mut each: impl FnMut(u32)) -> Result<(), SnapshotError> {
    for operator in body.get_operators_reader().map_err(SnapshotError::engine)? {
        match operator.map_err(SnapshotError::engine)? {
            Operator::Call { function_index }
            | Operator::ReturnCall { function_index }
            | Operator::RefFunc { function_index } => each(function_index),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the original number of a hollow function; None for any other function.
fn marker(body: &FunctionBody<'_>) -> Option<u32> {
    let mut operators = body.get_operators_reader().ok()?;
    let (first, second, third) = (operators.read().ok()?, operators.read().ok()?, operators.read().ok()?);
    match (first, second, third) {
        (Operator::I32Const { value }, Operator::Drop, Operator::Unreachable) => Some(value.cast_unsigned()),
        _ => None,
    }
}

fn changed(what: &str) -> SnapshotError {
    SnapshotError::Engine(format!("the splicer has changed {what} in an unexpected way"))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use wasm_encoder::reencode;
    use wasm_encoder::{EntityType, ImportSection};

    use super::*;

    /// Splices like the splicer: one more import gives every function another number.
    struct Splicer;

    impl Reencode for Splicer {
        type Error = Infallible;

        fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error> {
            Ok(if function < 2 { function } else { function + 1 })
        }

        fn parse_import_section(
            &mut self,
            imports: &mut ImportSection,
            section: ImportSectionReader<'_>,
        ) -> Result<(), reencode::Error> {
            reencode::utils::parse_import_section(self, imports, section)?;
            imports.import("m", "third", EntityType::Function(0));
            Ok(())
        }
    }

    fn spliced(module: &[u8]) -> Vec<u8> {
        let mut made = Module::new();
        Splicer.parse_core_module(&mut made, wasmparser::Parser::new(0), module).unwrap();
        made.finish()
    }

    fn engine() -> Vec<u8> {
        let text = r#"(module
          (type (func)) (type $unary (func (param i32) (result i32)))
          (import "m" "first" (func $first)) (import "m" "second" (func $second (type $unary)))
          (memory 1) (table funcref (elem $inner $shown))
          (func $shown (export "shown") (call $first) (drop (call $inner (i32.const 1))))
          (func $inner (type $unary)
            (local i64 f32)
            (if (local.get 0) (then (drop (call $second (call $leaf (local.get 0))))))
            (call_indirect (type $unary) (i32.load8_u offset=7 (local.get 0)) (i32.const 0)))
          (func $leaf (type $unary) (call $shown) (return_call $inner (local.get 0)))
          (func $alone))"#;
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn what_is_filled_again_is_what_splicing_the_engine_makes() {
        let engine = engine();
        let hollow = hollow(&engine).unwrap();
        wasmparser::Validator::new().validate_all(&hollow).unwrap();
        assert_eq!(fill(&hollow, &engine).unwrap(), engine);
        assert_eq!(fill(&spliced(&hollow), &engine).unwrap(), spliced(&engine));
    }

    #[test]
    fn what_was_made_of_another_engine_is_refused() {
        let other =
            wat::parse_str(r#"(module (func (result i64) (call 1)) (func (result i64) (i64.const 7)))"#).unwrap();
        assert!(fill(&hollow(&engine()).unwrap(), &other).is_err());
        assert!(fill(&hollow(&other).unwrap(), &engine()).is_err());
        assert!(fill(&engine(), &engine()).is_err());
        assert!(hollow(b"no module").is_err());
    }
}
