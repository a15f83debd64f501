//! The module between the engine and the imported modules: one function for everything that JavaScript asks for.
//!
//! ```text
//!  dispatch(operation, a, b, c, d) -> i32
//!    FIND   a, b: the halves of a module's id; c: an address that gets the numbers of its first function and first
//!           memory. Returns whether there is such a module.
//!    CALL   a: a function; b: the address of its values, 8 bytes each. The results replace the parameters.
//!    READ   a: a memory; b: an address in it; c: an address of the engine's; d: a length. Returns whether it is
//!           within the memory.
//!    WRITE  the same in the other direction.
//!    SIZE   a: a memory. Returns its pages.
//!    GROW   a: a memory; b: pages. Returns the pages before, or -1.
//! ```
//!
//! Functions and memories are numbered over all modules. The dispatcher has the engine's memory only, because some servers and
//! tools have no modules with several memories. `copying.rs` has the modules that copy between two.

use std::borrow::Cow;
use std::iter::repeat_n;

use tenon_rewrite::section::{EXPORT, PREAMBLE, sections};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ElementSection, Elements, EntityType, Function as Body, FunctionSection,
    ImportSection, Instruction, MemArg, MemoryType, Module, RefType, TableSection, TableType, TypeSection, ValType,
};
use wasmparser::{ExportSectionReader, ValType as Type};

use crate::error::LinkError;
use crate::limits::number_of;
use crate::module::Function;

/// The engine's table, and the dispatcher's index in it (`crates/engine/src/linked.c`).
const TABLE: &str = "__indirect_function_table";
const DISPATCHER_INDEX: u32 = 1;

/// Refuses an engine that has no table for the dispatcher.
pub(crate) fn require_table(engine: &[u8]) -> Result<(), LinkError> {
    for section in sections(engine, PREAMBLE..engine.len()).map_err(LinkError::engine)? {
        if section.id != EXPORT {
            continue;
        }
        for export in ExportSectionReader::new(section.reader(engine)).map_err(LinkError::engine)? {
            if export.map_err(LinkError::engine)?.name == TABLE {
                return Ok(());
            }
        }
    }
    Err(LinkError::engine("it exports no table for modules"))
}

/// Import module with the engine's exports. The others are the numbers of the imported modules.
pub(crate) const ENGINE: &str = "engine";

/// Operations, in the order of the branches. `guest/src/polyfills/linked.ts` has the same numbers.
const FIND: i32 = 0;
const CALL: i32 = 1;
const READ: i32 = 2;
const WRITE: i32 = 3;
const SIZE: i32 = 4;
const GROW: i32 = 5;

/// Parameters of the dispatcher.
const OPERATION: u32 = 0;
const A: u32 = 1;
const B: u32 = 2;
const C: u32 = 3;
const D: u32 = 4;

/// The engine's memory.
const OWN: u32 = 0;

/// Names of instances for each memory, before its number: the ones that copy into it and out of it, and the one that writes it.
pub(crate) const INTO: &str = "into-";
pub(crate) const OUT: &str = "out-";
pub(crate) const PUT: &str = "put-";

/// The copying function of the first two.
const SEND: &str = "send";

/// The imported functions for each memory.
const PER_MEMORY: u32 = 4;

/// Bytes of a value in the engine's memory.
const VALUE: usize = 8;

/// Types of the dispatcher and of the functions that unpack values.
const DISPATCH: u32 = 0;
const UNPACK: u32 = 1;

/// Types of the functions for a memory: copying, its size and its growth.
const COPY: u32 = 2;
const PAGES: u32 = 3;
const MORE: u32 = 4;

/// The engine's table, and the one with the functions that unpack values.
const ENGINE_TABLE: u32 = 0;
const FUNCTIONS: u32 = 1;

/// A module or component, as the dispatcher calls it.
pub(crate) struct Callable<'a> {
    pub(crate) id: u64,
    pub(crate) functions: Vec<&'a Function>,
    pub(crate) memories: &'a [String],
}

/// Builds the dispatcher of modules with their ids.
pub(crate) fn dispatcher(modules: &[Callable<'_>]) -> Module {
    let (mut types, mut imports) = (TypeSection::new(), ImportSection::new());
    types.ty().function(repeat_n(ValType::I32, 5), [ValType::I32]);
    types.ty().function([ValType::I32], []);
    types.ty().function(repeat_n(ValType::I32, 3), []);
    types.ty().function([], [ValType::I32]);
    types.ty().function([ValType::I32], [ValType::I32]);
    imports.import(ENGINE, "memory", memory());
    imports.import(
        ENGINE,
        TABLE,
        EntityType::Table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: (DISPATCHER_INDEX + 1).into(),
            maximum: None,
            shared: false,
        }),
    );
    let functions: Vec<&Function> = modules.iter().flat_map(|module| module.functions.iter().copied()).collect();
    let memories = modules.iter().map(|module| module.memories.len()).sum::<usize>();
    for (number, module) in modules.iter().enumerate() {
        let from = number.to_string();
        for Function { name, params, results } in &module.functions {
            imports.import(&from, name, EntityType::Function(types.len()));
            types.ty().function(params.iter().map(encoded), results.iter().map(encoded));
        }
    }
    let count = number_of(functions.len());
    // Their numbers are those of `Copying`.
    for memory in 0..memories {
        for (from, name, ty) in [(INTO, SEND, COPY), (OUT, SEND, COPY), (PUT, "pages", PAGES), (PUT, "grow", MORE)] {
            imports.import(&format!("{from}{memory}"), name, EntityType::Function(ty));
        }
    }
    let first = count + PER_MEMORY * number_of(memories);
    let (mut defined, mut code) = (FunctionSection::new(), CodeSection::new());
    for (number, function) in (0..).zip(&functions) {
        defined.function(UNPACK);
        code.function(&unpacking(number, function));
    }
    defined.function(DISPATCH);
    code.function(&dispatch(modules, count, number_of(memories)));

    let (mut tables, mut elements) = (TableSection::new(), ElementSection::new());
    tables.table(TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: count.into(),
        maximum: Some(count.into()),
        shared: false,
    });
    let start = ConstExpr::i32_const(0);
    let index = ConstExpr::i32_const(DISPATCHER_INDEX.cast_signed());
    let unpacking: Vec<u32> = (first..first + count).collect();
    elements.active(Some(FUNCTIONS), &start, Elements::Functions(Cow::Owned(unpacking)));
    elements.active(Some(ENGINE_TABLE), &index, Elements::Functions(Cow::Owned(vec![first + count])));

    let mut module = Module::new();
    module.section(&types).section(&imports).section(&defined).section(&tables).section(&elements).section(&code);
    module
}

/// A memory of any size.
pub(crate) fn memory() -> EntityType {
    EntityType::Memory(MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None })
}

fn encoded(ty: &Type) -> ValType {
    match ty {
        Type::I64 => ValType::I64,
        Type::F32 => ValType::F32,
        Type::F64 => ValType::F64,
        // Functions with other types are not among those that JavaScript can call.
        _ => ValType::I32,
    }
}

/// The position of a value in the engine's memory.
fn at(index: usize) -> MemArg {
    MemArg { offset: (index * VALUE) as u64, align: 2, memory_index: OWN }
}

/// Calls a function with values from the engine's memory, and stores its results there.
fn unpacking(number: u32, Function { params, results, .. }: &Function) -> Body {
    let mut body = Body::new(results.iter().map(|ty| (1, encoded(ty))));
    for (index, ty) in params.iter().enumerate() {
        body.instruction(&Instruction::LocalGet(0));
        body.instruction(&match ty {
            Type::I64 => Instruction::I64Load(at(index)),
            Type::F32 => Instruction::F32Load(at(index)),
            Type::F64 => Instruction::F64Load(at(index)),
            _ => Instruction::I32Load(at(index)),
        });
    }
    body.instruction(&Instruction::Call(number));
    // The last result is on top.
    for (index, _) in (1..).zip(results).collect::<Vec<_>>().into_iter().rev() {
        body.instruction(&Instruction::LocalSet(index));
    }
    for (index, ty) in results.iter().enumerate() {
        body.instruction(&Instruction::LocalGet(0));
        body.instruction(&Instruction::LocalGet(number_of(index) + 1));
        body.instruction(&match ty {
            Type::I64 => Instruction::I64Store(at(index)),
            Type::F32 => Instruction::F32Store(at(index)),
            Type::F64 => Instruction::F64Store(at(index)),
            _ => Instruction::I32Store(at(index)),
        });
    }
    body.instruction(&Instruction::End);
    body
}

/// `count` is the number of functions, and of the first function for a memory.
fn dispatch(modules: &[Callable<'_>], count: u32, memories: u32) -> Body {
    let mut body = Body::new([]);
    let (mut function, mut memory) = (0, 0);
    when(&mut body, OPERATION, FIND, |body| {
        for module in modules {
            let [low, high] = [module.id, module.id >> 32].map(|half| (half as u32).cast_signed());
            when(body, A, low, |body| {
                when(body, B, high, |body| {
                    for (index, number) in [function, memory].into_iter().enumerate() {
                        let argument = MemArg { offset: (index * 4) as u64, align: 2, memory_index: OWN };
                        run(
                            body,
                            &[Instruction::LocalGet(C), Instruction::I32Const(number), Instruction::I32Store(argument)],
                        );
                    }
                    answer(body, &[Instruction::I32Const(1)]);
                });
            });
            function += number_of(module.functions.len()).cast_signed();
            memory += number_of(module.memories.len()).cast_signed();
        }
        answer(body, &[Instruction::I32Const(0)]);
    });
    when(&mut body, OPERATION, CALL, |body| {
        answer(
            body,
            &[
                Instruction::LocalGet(B),
                Instruction::LocalGet(A),
                Instruction::CallIndirect { type_index: UNPACK, table_index: FUNCTIONS },
                Instruction::I32Const(1),
            ],
        );
    });
    for memory in 0..memories {
        when(&mut body, A, memory.cast_signed(), |body| with_memory(body, count + PER_MEMORY * memory));
    }
    run(&mut body, &[Instruction::Unreachable, Instruction::End]);
    body
}

/// The operations with one memory. `first` is the first of its functions.
fn with_memory(body: &mut Body, first: u32) {
    let [into, out, pages, grow] = [first, first + 1, first + 2, first + 3];
    for (operation, copy, from, to) in [(READ, out, B, C), (WRITE, into, C, B)] {
        when(body, OPERATION, operation, |body| {
            // Beyond the memory is an answer, because a trap would end the request.
            run(
                body,
                &[
                    Instruction::LocalGet(B),
                    Instruction::I64ExtendI32U,
                    Instruction::LocalGet(D),
                    Instruction::I64ExtendI32U,
                    Instruction::I64Add,
                    Instruction::Call(pages),
                    Instruction::I64ExtendI32U,
                    Instruction::I64Const(16),
                    Instruction::I64Shl,
                    Instruction::I64GtU,
                    Instruction::If(BlockType::Empty),
                ],
            );
            answer(body, &[Instruction::I32Const(0)]);
            body.instruction(&Instruction::End);
            answer(
                body,
                &[
                    Instruction::LocalGet(from),
                    Instruction::LocalGet(to),
                    Instruction::LocalGet(D),
                    Instruction::Call(copy),
                    Instruction::I32Const(1),
                ],
            );
        });
    }
    when(body, OPERATION, SIZE, |body| answer(body, &[Instruction::Call(pages)]));
    when(body, OPERATION, GROW, |body| answer(body, &[Instruction::LocalGet(B), Instruction::Call(grow)]));
}

/// Returns the value on the stack.
fn answer(body: &mut Body, value: &[Instruction<'_>]) {
    run(body, value);
    body.instruction(&Instruction::Return);
}

/// Encodes a block that runs when a parameter has a value.
fn when(body: &mut Body, parameter: u32, value: i32, block: impl FnOnce(&mut Body)) {
    run(
        body,
        &[
            Instruction::LocalGet(parameter),
            Instruction::I32Const(value),
            Instruction::I32Eq,
            Instruction::If(BlockType::Empty),
        ],
    );
    block(body);
    body.instruction(&Instruction::End);
}

fn run(body: &mut Body, instructions: &[Instruction<'_>]) {
    for instruction in instructions {
        body.instruction(instruction);
    }
}
