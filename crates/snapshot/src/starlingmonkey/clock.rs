//! Direct access to the monotonic clock.
//!
//! The engine reads the time in every request through its C library, which uses WASI 0.1. On its first call in an
//! instance, the adapter to WASI 0.2 allocates 64 KiB for its state. It then reads the clock through an import that the
//! engine has, too. So the engine calls this import itself, and the adapter for other clocks only.

use tenon_rewrite::{Error, Rewrite};
use wasm_encoder::{BlockType, Instruction, MemArg};
use wasmparser::ValType::{I32, I64};

/// `clockid::monotonic` of WASI 0.1, and its `errno::success`.
const MONOTONIC: i32 = 1;
const SUCCESS: i32 = 0;

/// Makes an engine read the monotonic clock directly. It stays unchanged unless it imports both functions.
pub(crate) fn ask_directly(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    let adapter = engine.imported("wasi_snapshot_preview1", "clock_time_get");
    let clock = engine.imported("wasi:clocks/monotonic-clock@", "now");
    let (Some(adapter), Some(clock)) = (adapter, clock) else { return Ok(()) };
    if !engine.takes(adapter, &[I32, I64, I32], &[I32]) || !engine.takes(clock, &[], &[I64]) {
        return Err("the clock's import has another type than the adapter's".into());
    }
    // The clock, its precision, and the address for the time.
    let (id, precision, at) = (0, 1, 2);
    let asking = engine.add(
        adapter,
        0,
        &[
            Instruction::LocalGet(id),
            Instruction::I32Const(MONOTONIC),
            Instruction::I32Eq,
            Instruction::If(BlockType::Empty),
            Instruction::LocalGet(at),
            Instruction::Call(clock.function),
            Instruction::I64Store(MemArg { offset: 0, align: 3, memory_index: 0 }),
            Instruction::I32Const(SUCCESS),
            Instruction::Return,
            Instruction::End,
            Instruction::LocalGet(id),
            Instruction::LocalGet(precision),
            Instruction::LocalGet(at),
            Instruction::Call(adapter.function),
        ],
    )?;
    engine.call_instead(adapter.function, asking);
    Ok(())
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

    fn directly(engine: &[u8]) -> Result<Vec<u8>, Error> {
        let mut rewrite = Rewrite::of(engine)?;
        ask_directly(&mut rewrite)?;
        rewrite.finish()
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
