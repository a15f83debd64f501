//! Random bytes for the engine's C library.
//!
//! OpenSSL seeds its generator through `random_get` of WASI 0.1, for instance when a key of RSA or EC is imported. The
//! splicer of componentize-js replaces that import with a function that traps, although the engine also imports random
//! numbers from WASI 0.2. The engine calls those instead.

use tenon_rewrite::{Error, Known, Rewrite};
use wasm_encoder::{BlockType, Instruction, MemArg};
use wasmparser::ValType::{I32, I64};

/// `errno::success` of WASI 0.1.
const SUCCESS: i32 = 0;

/// Size of a random number in bytes.
const NUMBER: i32 = 8;

/// Fills the engine's requests for random bytes with random numbers of WASI 0.2. The engine stays unchanged when
/// `random_get` does not trap, or when it does not import random numbers.
pub(crate) fn draw_directly(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    let trapping = engine.stubbed("random_get")?;
    let number = engine.imported("wasi:random/random@", "get-random-u64");
    let (Some(trapping), Some(number)) = (trapping, number) else { return Ok(()) };
    if !engine.takes(trapping, &[I32, I32], &[I32]) || !engine.takes(number, &[], &[I64]) {
        return Err("the import of random numbers has another type than in WASI".into());
    }
    let drawing = engine.add(trapping, 0, &fill(number))?;
    engine.call_instead(trapping.function, drawing);
    Ok(())
}

/// Writes whole numbers while there is room for one, then one byte of a new number for each remaining byte.
fn fill(number: Known) -> Vec<Instruction<'static>> {
    let (at, length) = (0, 1);
    let memory = |align| MemArg { offset: 0, align, memory_index: 0 };
    let step = |bytes: i32| {
        [
            Instruction::LocalGet(at),
            Instruction::I32Const(bytes),
            Instruction::I32Add,
            Instruction::LocalSet(at),
            Instruction::LocalGet(length),
            Instruction::I32Const(bytes),
            Instruction::I32Sub,
            Instruction::LocalSet(length),
        ]
    };
    let mut made = Vec::new();
    for (bytes, store) in [(NUMBER, Instruction::I64Store(memory(0))), (1, Instruction::I64Store8(memory(0)))] {
        made.extend([
            Instruction::Block(BlockType::Empty),
            Instruction::Loop(BlockType::Empty),
            Instruction::LocalGet(length),
            Instruction::I32Const(bytes),
            Instruction::I32LtU,
            Instruction::BrIf(1),
            Instruction::LocalGet(at),
            Instruction::Call(number.function),
            store,
        ]);
        made.extend(step(bytes));
        made.extend([Instruction::Br(0), Instruction::End, Instruction::End]);
    }
    made.push(Instruction::I32Const(SUCCESS));
    made
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Linker, Module, Store};

    use super::*;

    const NUMBERS: &str = r#"(import "wasi:random/random@0.2.10" "get-random-u64" (func $number (result i64)))"#;
    const TRAPPING: &str = "(func $random_get (param i32 i32) (result i32) unreachable)";

    fn engine(import: &str, stub: &str) -> Vec<u8> {
        let text = format!(
            r#"(module {import}
              (memory (export "memory") 1)
              {stub}
              (func (export "ask") (param i32 i32) (result i32) (call $random_get (local.get 0) (local.get 1))))"#
        );
        wat::parse_str(text).unwrap()
    }

    fn directly(engine: &[u8]) -> Result<Vec<u8>, Error> {
        let mut rewrite = Rewrite::of(engine)?;
        draw_directly(&mut rewrite)?;
        rewrite.finish()
    }

    #[test]
    fn every_byte_is_drawn_and_none_beside_them() {
        let made = directly(&engine(NUMBERS, TRAPPING)).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, made).unwrap();
        let mut linker = Linker::new(&engine);
        linker.func_wrap("wasi:random/random@0.2.10", "get-random-u64", || -1_i64).unwrap();
        for length in [0_usize, 1, 7, 8, 9, 31, 48] {
            let mut store = Store::new(&engine, ());
            let instance = linker.instantiate(&mut store, &module).unwrap();
            let ask = instance.get_typed_func::<(i32, i32), i32>(&mut store, "ask").unwrap();
            assert_eq!(ask.call(&mut store, (101, i32::try_from(length).unwrap())).unwrap(), 0);
            let memory = instance.get_memory(&mut store, "memory").unwrap();
            let drawn = &memory.data(&store)[..256];
            assert!(
                drawn
                    .iter()
                    .enumerate()
                    .all(|(at, byte)| { *byte == if (101..101 + length).contains(&at) { 255 } else { 0 } })
            );
        }
    }

    #[test]
    fn an_engine_that_draws_already_stays_as_it_is_and_one_that_differs_is_refused() {
        let drawing = "(func $random_get (param i32 i32) (result i32) (i32.const 0))";
        for engine in [engine(NUMBERS, drawing), engine("", TRAPPING)] {
            assert_eq!(directly(&engine).unwrap(), engine);
        }
        assert!(directly(&engine(&NUMBERS.replace("i64", "i32"), TRAPPING)).is_err());
    }
}
