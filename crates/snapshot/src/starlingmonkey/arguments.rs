//! The arguments of a call in one block.
//!
//! A caller of the handler allocates guest memory for each text of the request: method, path, and each header's name
//! and value. JavaScript later makes a call to free each. Together these took a tenth of the time of a request to a
//! reused instance. So allocations between two calls are taken from one block, one after another. After the call, the
//! block counts as empty. When one allocation does not fit, it and all later ones use the allocator. A word before the
//! first piece then tells JavaScript to free them (`glue.ts`).
//!
//! ```text
//!  block ─► [ did not fit: 0 or 1 | 0 | method | path | headers | … ]
//! ```

use tenon_rewrite::{Error, Known, Rewrite};
use wasm_encoder::Instruction;

const SOURCE: &str = include_str!("arguments.wat");

/// Offset of the first piece in the block, which `glue.ts` repeats.
pub(crate) const BEFORE: usize = 8;

/// Exports that allocate in the guest, answer a request, and free a response.
pub(crate) const REALLOC: &str = "cabi_realloc";
pub(crate) const HANDLE: &str = "sdk:core/handler@0.1.0#handle";
pub(crate) const POST: &str = "cabi_post_sdk:core/handler@0.1.0#handle";

/// Gathers the arguments of calls of an engine's handler. An engine without a handler stays unchanged.
pub(crate) fn gather(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    let Some(handle) = engine.exported(HANDLE) else { return Ok(()) };
    let source = wat::parse_str(SOURCE)?;
    let Some(added) = engine.graft(&source)? else { return Ok(()) };
    let find = |name: &str| -> Result<Known, Error> {
        let found = added.iter().find(|(exported, _)| *exported == name);
        Ok(found.ok_or_else(|| format!("the source has no {name}"))?.1)
    };
    let mut instructions = vec![Instruction::Call(find("begin")?.function)];
    instructions.extend((0..engine.params(handle)).map(Instruction::LocalGet));
    instructions.push(Instruction::Call(handle.function));
    let calling = engine.add(handle, 0, &instructions)?;
    engine.export_instead(HANDLE, calling);
    engine.export_instead(REALLOC, find("realloc")?.function);
    engine.export_instead(POST, find("end")?.function);
    Ok(())
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Instance, Module, Store};

    use super::*;

    /// Size of the block.
    const BLOCK: i32 = 16 * 1024;

    /// An engine that allocates from 65,536 on. Its handler allocates as much as its argument says.
    const ENGINE: &str = r#"(module
      (global $next (mut i32) (i32.const 65536))
      (memory (export "memory") 4)
      (func $realloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (if (local.get 0) (then (return (i32.add (local.get 0) (i32.const 1000000)))))
        (global.get $next)
        (global.set $next (i32.add (global.get $next) (local.get 3))))
      (func (export "sdk:core/handler@0.1.0#handle") (param i32) (result i32)
        (call $realloc (i32.const 0) (i32.const 0) (i32.const 1) (local.get 0)))
      (func (export "cabi_post_sdk:core/handler@0.1.0#handle") (param i32)))"#;

    struct Running {
        store: Store<()>,
        instance: Instance,
    }

    impl Running {
        fn new() -> Self {
            let bytes = wat::parse_str(ENGINE).unwrap();
            let mut rewrite = Rewrite::of(&bytes).unwrap();
            gather(&mut rewrite).unwrap();
            let engine = Engine::default();
            let module = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
            let mut store = Store::new(&engine, ());
            Self { instance: Instance::new(&mut store, &module, &[]).unwrap(), store }
        }

        fn allocate(&mut self, alignment: i32, size: i32) -> i32 {
            self.reallocate(0, 0, alignment, size)
        }

        fn reallocate(&mut self, old: i32, old_size: i32, alignment: i32, size: i32) -> i32 {
            let realloc = self.instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut self.store, REALLOC).unwrap();
            realloc.call(&mut self.store, (old, old_size, alignment, size)).unwrap()
        }

        fn memory(&mut self) -> &mut [u8] {
            self.instance.get_memory(&mut self.store, "memory").unwrap().data_mut(&mut self.store)
        }

        fn handle(&mut self, size: i32) -> i32 {
            self.instance
                .get_typed_func::<i32, i32>(&mut self.store, HANDLE)
                .unwrap()
                .call(&mut self.store, size)
                .unwrap()
        }

        fn end(&mut self) {
            self.instance.get_typed_func::<i32, ()>(&mut self.store, POST).unwrap().call(&mut self.store, 0).unwrap();
        }

        /// Returns the word before the first piece.
        fn did_not_fit(&mut self) -> u8 {
            self.memory()[65_536]
        }
    }

    #[test]
    fn arguments_stand_in_one_block_which_the_next_call_uses_again() {
        let mut engine = Running::new();
        for _ in 0..3 {
            assert_eq!(engine.allocate(1, 3), 65_544);
            assert_eq!(engine.allocate(1, 0), 65_547);
            assert_eq!(engine.allocate(4, 32), 65_548);
            assert_eq!(engine.allocate(8, 1), 65_584);
            assert_eq!(engine.did_not_fit(), 0);
            assert!(engine.handle(0) >= 65_536 + BLOCK);
            engine.end();
        }
    }

    #[test]
    fn what_a_call_allocates_is_not_in_the_block() {
        let mut engine = Running::new();
        assert_eq!(engine.allocate(1, 3), 65_544);
        let behind = engine.handle(10);
        assert_eq!(behind, 65_536 + BLOCK);
        // Results of imports during the call are allocated this way.
        assert_eq!(engine.allocate(1, 7), behind + 10);
        assert_eq!(engine.allocate(1, 7), behind + 17);
        engine.end();
        assert_eq!(engine.allocate(1, 3), 65_544);
    }

    #[test]
    fn what_does_not_fit_is_allocated_and_all_that_follows() {
        for size in [BLOCK - BEFORE as i32, BLOCK, i32::MIN, -1] {
            let mut engine = Running::new();
            assert_eq!(engine.allocate(1, 1), 65_544);
            assert_eq!(engine.allocate(1, size), 65_536 + BLOCK, "{size}");
            assert_eq!(engine.did_not_fit(), 1);
            let next = engine.allocate(1, 5);
            assert_eq!(next, (65_536 + BLOCK).wrapping_add(size));
            engine.handle(0);
            engine.end();
            assert_eq!((engine.did_not_fit(), engine.allocate(1, 1)), (0, 65_544));
        }
        let mut engine = Running::new();
        assert_eq!(engine.allocate(1, BLOCK - BEFORE as i32), 65_544, "all of it");
        assert_eq!((engine.did_not_fit(), engine.allocate(1, 0)), (0, 65_536 + BLOCK));
        assert_eq!((engine.allocate(1, 1), engine.did_not_fit()), (65_536 + BLOCK, 1));
    }

    #[test]
    fn what_is_enlarged_takes_its_content_along() {
        let mut engine = Running::new();
        let first = engine.allocate(1, 4);
        engine.memory()[65_544..65_548].copy_from_slice(b"text");
        let second = engine.reallocate(first, 4, 1, 8);
        assert_eq!(second, 65_548);
        assert_eq!(&engine.memory()[65_548..65_552], b"text");
        let third = engine.reallocate(second, 8, 1, 2);
        assert_eq!((third, engine.allocate(1, 1)), (65_556, 65_558));
        assert_eq!(&engine.memory()[65_556..65_559], b"te\0");
        let outside = engine.reallocate(third, 2, 1, BLOCK);
        assert_eq!((outside, engine.did_not_fit()), (65_536 + BLOCK, 1));
        let at = usize::try_from(outside).unwrap();
        assert_eq!(&engine.memory()[at..at + 3], b"te\0");
        // An allocation outside the block is resized by the engine.
        assert_eq!(engine.reallocate(outside, BLOCK, 1, 2 * BLOCK), outside + 1_000_000);
    }

    #[test]
    fn an_engine_without_a_handler_stays_as_it_is() {
        let bytes = wat::parse_str(r#"(module (func (export "cabi_realloc")))"#).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        gather(&mut rewrite).unwrap();
        assert_eq!(rewrite.finish().unwrap(), bytes);
        let other = ENGINE.replace(r#"#handle") (param i32))"#, r#"#handle") (param i64))"#);
        let bytes = wat::parse_str(other).unwrap();
        assert!(gather(&mut Rewrite::of(&bytes).unwrap()).is_err());
    }
}
