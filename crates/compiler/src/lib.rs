//! Compiles functions of the engine's bytecode to WebAssembly.
//!
//! The input is the memory of an engine after its top level, with the description that the engine's `fn_list` writes into it. The
//! output is one core module. It imports the engine's memory, table and helpers, and puts one function into the table, the dispatcher.
//! The engine calls it with the number of a function, which a field of the function's bytecode has.
//!
//! A compiled function does what the interpreter does on the paths that are taken often. For everything else it stores its state to
//! the interpreter's frame and returns, and the interpreter goes on: after each exception, and at each instruction that is not compiled.
//! So no function is wrong because an instruction is missing.
//!
//! No build uses it yet: `testing/` measures and compares it with an engine that `testing/engine.diff` makes.

mod emit;
mod flow;
mod image;
mod runtime;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use wasm_encoder::{
    CodeSection, ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalType, ImportSection, MemoryType, Module, RefType, TableSection, TableType, TypeSection, ValType,
};

use crate::emit::{Emitter, is_left};
use crate::image::{Image, describe};
use crate::runtime::{HELPERS, LOCALS, Numbers, body};

/// Type of compiled functions: function, this, new.target, argc, argv, whether it constructs.
const FUNCTION_TYPE: u32 = 1;
const DISPATCH_TYPE: u32 = 0;
/// Frames are smaller than this, so that those of a stack that is not deep need no check.
const MAX_FRAME: u32 = 8192;

/// Reason why a memory cannot be compiled.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CompileError {
    /// An address is outside of the memory.
    #[error("the description refers to addresses outside of the memory")]
    Outside,
    /// The engine's description is of another version.
    #[error("the description is that of another engine")]
    Version,
}

/// Compiled function: the address of its bytecode's field, its number, and sizes.
#[derive(Debug, Clone, Copy)]
pub struct Compiled {
    /// Address of the field in the memory that must be set to the number.
    pub field: u32,
    /// Number for the dispatcher; 0 is none.
    pub number: u32,
    /// Bytes of bytecode.
    pub bytecode: usize,
    /// Bytes of WebAssembly.
    pub code: usize,
}

/// Module with the functions that were compiled.
#[derive(Debug)]
pub struct Output {
    /// The core module.
    pub module: Vec<u8>,
    /// Its functions.
    pub compiled: Vec<Compiled>,
    /// Number of functions that the interpreter keeps.
    pub skipped: usize,
}

/// Compiles the functions that a description lists.
///
/// # Errors
///
/// Fails when the description does not fit this crate or the memory.
pub fn compile(memory: &[u8], description: u32) -> Result<Output, CompileError> {
    let image = Image(memory);
    let described = describe(image, description)?;
    let mut numbers: HashMap<&str, i32> = HashMap::new();
    for (opcode, number) in described.opcodes.iter().zip(0..) {
        numbers.insert(&opcode.name, number);
    }
    numbers.insert("atom:empty", described.empty_string.cast_signed());
    let number = |name: &str| numbers.get(name).copied().ok_or(CompileError::Version);
    let needed = Numbers {
        sub: number("sub")?,
        mul: number("mul")?,
        div: number("div")?,
        modulo: number("mod")?,
        lt: number("lt")?,
        lte: number("lte")?,
        gt: number("gt")?,
    };
    let mut bodies = Vec::new();
    let mut compiled = Vec::new();
    let mut skipped = 0;
    let mut cells = described.cells;
    for function in &described.functions {
        let emitted = (function.is_plain && emit::frame_size(described.layout, function) <= MAX_FRAME)
            .then_some(())
            .and_then(|()| {
                let instructions = flow::decode(function, &described.opcodes)?;
                let blocks = flow::flow(&instructions, is_left)?;
                let given = emit::Given {
                    image,
                    layout: described.layout,
                    numbers: &numbers,
                    atoms_at: described.atoms_at,
                    runtime: described.runtime,
                };
                Emitter::new(given, function, &instructions, &blocks, &mut cells).emit()
            });
        let Some((locals, code)) = emitted else {
            skipped += 1;
            continue;
        };
        let mut made = Function::new_with_locals_types(locals);
        let size = code.len();
        made.raw(code);
        bodies.push(made);
        compiled.push(Compiled {
            field: function.address + described.layout.compiled,
            number: u32::try_from(bodies.len()).unwrap_or(0),
            bytecode: function.code.len(),
            code: size,
        });
    }
    let module = assemble(&described, needed, &bodies);
    Ok(Output { module, compiled, skipped })
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn assemble(described: &image::Description<'_>, numbers: Numbers, bodies: &[Function]) -> Vec<u8> {
    let call = [ValType::I64, ValType::I64, ValType::I64, ValType::I32, ValType::I32, ValType::I32];
    let mut types = TypeSection::new();
    let dispatched: Vec<ValType> = [ValType::I32].into_iter().chain(call).collect();
    types.ty().function(dispatched, [ValType::I64]);
    types.ty().function(call, [ValType::I64]);
    let mut imports = ImportSection::new();
    imports.import(
        "engine",
        "memory",
        MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None },
    );
    let table = TableType { element_type: RefType::FUNCREF, minimum: 0, maximum: None, table64: false, shared: false };
    imports.import("engine", "__indirect_function_table", table);
    imports.import("engine", "__stack_pointer", GlobalType { val_type: ValType::I32, mutable: true, shared: false });
    let mut functions = FunctionSection::new();
    for (index, (name, parameters, results)) in HELPERS.iter().enumerate() {
        types.ty().function(parameters.iter().copied(), results.iter().copied());
        imports.import("engine", name, EntityType::Function(2 + count(index)));
    }
    for (index, (_, parameters, results)) in LOCALS.iter().enumerate() {
        types.ty().function(parameters.iter().copied(), results.iter().copied());
        functions.function(2 + count(HELPERS.len() + index));
    }
    functions.function(DISPATCH_TYPE);
    for _ in bodies {
        functions.function(FUNCTION_TYPE);
    }
    let dispatcher = count(HELPERS.len() + LOCALS.len());
    let length = u64::try_from(bodies.len()).unwrap_or(0) + 1;
    let mut tables = TableSection::new();
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        minimum: length,
        maximum: Some(length),
        table64: false,
        shared: false,
    });
    let mut exports = ExportSection::new();
    exports.export("dispatch", ExportKind::Func, dispatcher);
    let mut elements = ElementSection::new();
    let place = ConstExpr::i32_const(described.place.cast_signed());
    elements.active(Some(0), &place, Elements::Functions([dispatcher][..].into()));
    let numbered: Vec<u32> = (0..bodies.len()).map(|index| dispatcher + 1 + count(index)).collect();
    elements.active(Some(1), &ConstExpr::i32_const(1), Elements::Functions(numbered[..].into()));
    let mut code = CodeSection::new();
    for (local, ..) in LOCALS {
        code.function(&body(*local, described.layout, numbers, described.runtime));
    }
    let mut dispatch = Function::new([]);
    {
        let mut out = dispatch.instructions();
        for parameter in (1..7).chain([0]) {
            out.local_get(parameter);
        }
        out.call_indirect(1, FUNCTION_TYPE).end();
    }
    code.function(&dispatch);
    for each in bodies {
        code.function(each);
    }
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&tables).section(&exports);
    module.section(&elements).section(&code);
    module.finish()
}
