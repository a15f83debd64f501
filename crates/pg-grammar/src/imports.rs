//! The parser's imports. They replace Emscripten's JavaScript (`wasm/libpg-query.js` in the package).
//!
//! PostgreSQL reports errors with `longjmp`. Emscripten compiles a call that a `longjmp` may leave into a call of
//! `invoke_*`, which calls a function of the table. When that ends with `throw_longjmp`, `invoke_*` restores the stack
//! pointer, records the jump with `setThrew`, and returns. All other imports concern files and processes, and fail.

use std::fmt;

use wasmtime::{
    Caller, Error, FuncType, Linker, Memory, Module, Ref, Result, StoreLimits, StoreLimitsBuilder, Table, TypedFunc,
    Val, ValType, bail,
};

use crate::load::FIXED_PAGES;

/// Name of the import module that Emscripten uses.
const MODULE: &str = "a";

/// Imports that call a function of the table.
const INVOKE: [&str; 13] = ["a", "b", "d", "e", "f", "g", "h", "i", "j", "k", "l", "n", "y"];

/// Bytes of a page of WebAssembly's memory.
const PAGE: usize = 64 << 10;

/// The WASI error code "bad file descriptor".
const BAD_DESCRIPTOR: i32 = 8;

/// The host's state for one instance of the parser.
pub(crate) struct Host {
    pub(crate) limits: StoreLimits,
    pub(crate) exports: Option<Exports>,
}

impl Host {
    /// `heap` is the limit of the parser's heap in bytes.
    pub(crate) fn new(heap: usize) -> Self {
        let memory = FIXED_PAGES * PAGE + heap;
        let limits = StoreLimitsBuilder::new().memory_size(memory).instances(1).memories(1).tables(1).build();
        Self { limits, exports: None }
    }
}

/// The exports that the imports use.
#[derive(Clone)]
pub(crate) struct Exports {
    pub(crate) memory: Memory,
    table: Table,
    stack_save: TypedFunc<(), i32>,
    stack_restore: TypedFunc<i32, ()>,
    set_threw: TypedFunc<(i32, i32), ()>,
}

impl Exports {
    pub(crate) fn of(instance: &wasmtime::Instance, mut store: impl wasmtime::AsContextMut) -> Result<Self> {
        let missing = || Error::msg("an export is missing");
        Ok(Self {
            memory: instance.get_memory(&mut store, "z").ok_or_else(missing)?,
            table: instance.get_table(&mut store, "D").ok_or_else(missing)?,
            stack_save: instance.get_typed_func(&mut store, "R")?,
            stack_restore: instance.get_typed_func(&mut store, "Q")?,
            set_threw: instance.get_typed_func(&mut store, "P")?,
        })
    }
}

/// A `longjmp` on its way to the `invoke_*` at which it ends.
#[derive(Debug)]
struct LongJump;

impl fmt::Display for LongJump {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("longjmp")
    }
}

impl std::error::Error for LongJump {}

/// Provides every import of the module.
pub(crate) fn link(linker: &mut Linker<Host>, module: &Module) -> Result<()> {
    for import in module.imports() {
        let Some(signature) = import.ty().func().cloned() else { bail!("an import is not a function") };
        let name = import.name();
        let function: Import = match name {
            _ if import.module() != MODULE => bail!("an import of another module"),
            name if INVOKE.contains(&name) => invoke,
            "p" => |_: Caller<'_, Host>, _: &[Val], _: &mut [Val]| Err(Error::new(LongJump)),
            // The heap grows with `memory.grow`, which the store's limits bound.
            "q" => resize_heap,
            // Timers and the state of a program that stays alive. There are none.
            "o" | "w" => succeed,
            // Files: close, read, seek, write.
            "r" | "s" | "t" | "u" => fail,
            // `assert`, `abort`, `exit`.
            "c" | "m" | "v" | "x" => |_: Caller<'_, Host>, _: &[Val], _: &mut [Val]| bail!("the parser aborted"),
            _ => bail!("unknown import {name}"),
        };
        linker.func_new(MODULE, name, signature, function)?;
    }
    Ok(())
}

type Import = fn(Caller<'_, Host>, &[Val], &mut [Val]) -> Result<()>;

/// Calls the function of the table at the index in the first parameter, with the other parameters.
fn invoke(mut caller: Caller<'_, Host>, params: &[Val], results: &mut [Val]) -> Result<()> {
    let exports = exports(&caller)?;
    let index = params.first().and_then(Val::i32).ok_or_else(|| Error::msg("invoke without an index"))?;
    let element = exports.table.get(&mut caller, u64::from(index.cast_unsigned()));
    let Some(Ref::Func(Some(function))) = element else { bail!("a call of an empty table element") };
    let stack = exports.stack_save.call(&mut caller, ())?;
    let Err(error) = function.call(&mut caller, &params[1..], results) else { return Ok(()) };
    if !error.is::<LongJump>() {
        return Err(error);
    }
    exports.stack_restore.call(&mut caller, stack)?;
    exports.set_threw.call(&mut caller, (1, 0))?;
    let signature = function.ty(&caller);
    zero(&signature, results);
    Ok(())
}

fn zero(signature: &FuncType, results: &mut [Val]) {
    for (result, kind) in results.iter_mut().zip(signature.results()) {
        *result = if matches!(kind, ValType::I64) { Val::I64(0) } else { Val::I32(0) };
    }
}

fn resize_heap(mut caller: Caller<'_, Host>, params: &[Val], results: &mut [Val]) -> Result<()> {
    let wanted = params.first().and_then(Val::i32).map_or(u64::MAX, |size| u64::from(size.cast_unsigned()));
    let memory = exports(&caller)?.memory;
    let missing = wanted.saturating_sub(memory.data_size(&caller) as u64);
    let page = memory.page_size(&caller);
    // A trap, because PostgreSQL would report the lack of memory as a mistake of the statement.
    memory.grow(&mut caller, missing.div_ceil(page))?;
    results[0] = Val::I32(1);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of an import")]
fn succeed(_: Caller<'_, Host>, _: &[Val], results: &mut [Val]) -> Result<()> {
    if let Some(result) = results.first_mut() {
        *result = Val::I32(0);
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of an import")]
fn fail(_: Caller<'_, Host>, _: &[Val], results: &mut [Val]) -> Result<()> {
    results[0] = Val::I32(BAD_DESCRIPTOR);
    Ok(())
}

fn exports(caller: &Caller<'_, Host>) -> Result<Exports> {
    caller.data().exports.clone().ok_or_else(|| Error::msg("a call before the instance is ready"))
}
