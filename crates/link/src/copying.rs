//! Modules that copy between the engine's memory and another one.
//!
//! No module here has two memories, because some servers and tools do not take such modules. One instance reads a memory and
//! calls another instance to write the other memory:
//!
//! ```text
//!  send (engine's memory) ── put, put-byte ──► put (module's memory)
//!  send (module's memory) ── put, put-byte ──► put (engine's memory)
//! ```

use wasm_encoder::{
    BlockType, CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection,
    InstructionSink, MemArg, Module, TypeSection, ValType,
};

use crate::instances::Instances;
use crate::limits::number_of;

/// The engine's memory, as it exports it.
const ENGINE_MEMORY: &str = "memory";

/// Words of 8 bytes that one call of `put` writes.
const WORDS: u32 = 4;

/// Bytes that one call of `put` writes.
const PIECE: i32 = 8 * WORDS.cast_signed();

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Writes into a memory for a module that has another one.
    Put,
    /// Copies from a memory into another one, a piece at a time.
    Send,
}

/// The copying modules of a component, encoded once for each name of a memory.
pub(crate) struct Copying {
    /// The number of the first module.
    first: u32,
    engine: u32,
    modules: Vec<(Source, String, Module)>,
    /// The instance that writes the engine's memory.
    put: Option<u32>,
}

/// The instances for one memory: they copy into it and out of it, and write it.
pub(crate) struct Copies {
    pub(crate) into: u32,
    pub(crate) out: u32,
    pub(crate) put: u32,
}

impl Copying {
    pub(crate) fn new(first: u32, engine: u32) -> Self {
        Self { first, engine, modules: Vec::new(), put: None }
    }

    /// Adds the instances for a memory that an instance exports.
    pub(crate) fn add(&mut self, instance: u32, memory: &str, made: &mut Instances) -> Copies {
        let engine = self.engine;
        let to_engine = match self.put {
            Some(put) => put,
            None => made.add(self.module(Source::Put, ENGINE_MEMORY), &[("module", engine)]),
        };
        self.put = Some(to_engine);
        let put = made.add(self.module(Source::Put, memory), &[("module", instance)]);
        let into = made.add(self.module(Source::Send, ENGINE_MEMORY), &[("module", engine), ("to", put)]);
        let out = made.add(self.module(Source::Send, memory), &[("module", instance), ("to", to_engine)]);
        Copies { into, out, put }
    }

    /// Returns the number of a module for memories of a name.
    fn module(&mut self, source: Source, memory: &str) -> u32 {
        let known = self.modules.iter().position(|(of, name, _)| *of == source && name == memory);
        let index = known.unwrap_or_else(|| {
            self.modules.push((source, memory.to_owned(), encoded(source, memory)));
            self.modules.len() - 1
        });
        self.first + number_of(index)
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter().map(|(_, _, module)| module)
    }

    /// The number of the next module.
    pub(crate) fn next(&self) -> u32 {
        self.first + number_of(self.modules.len())
    }
}

/// A module that imports a memory by its name.
fn encoded(source: Source, memory: &str) -> Module {
    let mut made = Encoded::default();
    made.imports.import("module", memory, crate::dispatcher::memory());
    let words = [ValType::I64; WORDS as usize];
    let put = [&[ValType::I32], &words[..]].concat();
    let put_byte = [ValType::I32; 2];
    match source {
        Source::Put => {
            made.function("put", &put, &[], |body| {
                for word in 0..WORDS {
                    body.local_get(0).local_get(1 + word).i64_store(at(word));
                }
            });
            made.function("put-byte", &put_byte, &[], |body| {
                body.local_get(0).local_get(1).i32_store8(at(0));
            });
            made.function("pages", &[], &[ValType::I32], |body| {
                body.memory_size(0);
            });
            made.function("grow", &[ValType::I32], &[ValType::I32], |body| {
                body.local_get(0).memory_grow(0);
            });
        }
        Source::Send => {
            let put = made.import("put", &put);
            let put_byte = made.import("put-byte", &put_byte);
            made.function("send", &[ValType::I32; 3], &[], |body| {
                each(body, PIECE, |body| {
                    for word in 0..WORDS {
                        body.local_get(FROM).i64_load(at(word));
                    }
                    body.call(put);
                });
                each(body, 1, |body| {
                    body.local_get(FROM).i32_load8_u(at(0)).call(put_byte);
                });
            });
        }
    }
    made.finish()
}

/// Parameters of `send`: two addresses, and a number of bytes.
const FROM: u32 = 0;
const TO: u32 = 1;
const LENGTH: u32 = 2;

/// Repeats what copies `bytes` while there are as many. It finds the address that is written to on the stack.
fn each(body: &mut InstructionSink<'_>, bytes: i32, copy: impl FnOnce(&mut InstructionSink<'_>)) {
    body.block(BlockType::Empty).loop_(BlockType::Empty);
    body.local_get(LENGTH).i32_const(bytes).i32_lt_u().br_if(1);
    body.local_get(TO);
    copy(body);
    for address in [FROM, TO] {
        body.local_get(address).i32_const(bytes).i32_add().local_set(address);
    }
    body.local_get(LENGTH).i32_const(bytes).i32_sub().local_set(LENGTH);
    body.br(0).end().end();
}

/// The place of a word in an imported memory, aligned or not.
fn at(word: u32) -> MemArg {
    MemArg { offset: u64::from(8 * word), align: 0, memory_index: 0 }
}

/// A module that is being encoded. Functions are imported before any is defined.
#[derive(Default)]
struct Encoded {
    types: TypeSection,
    imports: ImportSection,
    functions: FunctionSection,
    exports: ExportSection,
    code: CodeSection,
}

impl Encoded {
    /// Imports a function without results from the instance that writes, and returns its number.
    fn import(&mut self, name: &str, params: &[ValType]) -> u32 {
        let ty = self.types.len();
        self.types.ty().function(params.iter().copied(), []);
        self.imports.import("to", name, EntityType::Function(ty));
        ty
    }

    fn function(
        &mut self,
        name: &str,
        params: &[ValType],
        results: &[ValType],
        body: impl FnOnce(&mut InstructionSink<'_>),
    ) {
        // Each function has a type of its own, so their numbers are equal.
        let number = self.types.len();
        self.types.ty().function(params.iter().copied(), results.iter().copied());
        self.functions.function(number);
        self.exports.export(name, ExportKind::Func, number);
        let mut function = Function::new([]);
        body(&mut function.instructions());
        function.instructions().end();
        self.code.function(&function);
    }

    fn finish(&self) -> Module {
        let mut module = Module::new();
        let Self { types, imports, functions, exports, code } = self;
        module.section(types).section(imports).section(functions).section(exports).section(code);
        module
    }
}
