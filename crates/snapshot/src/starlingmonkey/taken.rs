//! The headers of a call's response in one block.
//!
//! The host allocates guest memory for each name and each value. JavaScript would read and free them one by one, which
//! cost more than the rest of taking a response, and most handlers read no header. So they are put into one block.
//! `glue.ts` copies it at once, and parses it when a header is read.
//!
//! ```text
//!  block ─► [ size of all | length of each text … | name | value | name | … ]
//! ```

use tenon_rewrite::{Error, Rewrite};

use crate::graft;

const SOURCE: &str = include_str!("taken.wat");

/// Packs the headers of responses into one block. The engine stays unchanged when it does not import `take`.
pub(crate) fn pack_headers(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    graft::replace(engine, SOURCE, &[("sdk:core/calls@", "take", "take")])
}

#[cfg(test)]
mod tests {
    use wasmtime::{Caller, Engine, Instance, Linker, Memory, Module, Store};

    use super::*;

    /// An engine that allocates after 1 KiB, and overwrites freed memory.
    const ENGINE: &str = r#"(module
      (import "sdk:core/calls@0.1.0" "take" (func $take (param i32)))
      (memory (export "memory") 1)
      (global $next (mut i32) (i32.const 1024))
      (global $freed (export "freed") (mut i32) (i32.const 0))
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (if (i32.eqz (local.get 3)) (then
          (global.set $freed (i32.add (global.get $freed) (local.get 1)))
          (memory.fill (local.get 0) (i32.const 0xaa) (local.get 1))
          (return (i32.const 0))))
        (global.get $next)
        (global.set $next (i32.and (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 7)) (i32.const -8))))
      (func (export "take") (param i32) (call $take (local.get 0))))"#;

    /// A record, and the host's headers for it.
    #[derive(Clone, Copy)]
    struct Taken(&'static [u32], &'static [[&'static str; 2]]);

    fn taken(taken: Taken) -> (Store<Taken>, Instance, Memory) {
        let bytes = wat::parse_str(ENGINE).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        pack_headers(&mut rewrite).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
        let mut linker = Linker::<Taken>::new(&engine);
        let take = |mut caller: Caller<'_, Taken>, at: u32| {
            let memory = caller.get_export("memory").unwrap().into_memory().unwrap();
            let Taken(record, headers) = *caller.data();
            let (mut list, mut text) = (256_u32, 512_u32);
            for part in headers.as_flattened() {
                let length = u32::try_from(part.len()).unwrap();
                let word = [text, length].map(u32::to_le_bytes);
                memory.write(&mut caller, list as usize, word.as_flattened()).unwrap();
                memory.write(&mut caller, text as usize, part.as_bytes()).unwrap();
                (list, text) = (list + 8, text + length);
            }
            let record = record.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
            memory.write(&mut caller, at as usize, &record).unwrap();
        };
        linker.func_wrap("sdk:core/calls@0.1.0", "take", take).unwrap();
        let mut store = Store::new(&engine, taken);
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let take = instance.get_typed_func::<u32, ()>(&mut store, "take").unwrap();
        take.call(&mut store, 64).unwrap();
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        (store, instance, memory)
    }

    fn word(store: &Store<Taken>, memory: Memory, at: u32) -> u32 {
        u32::from_le_bytes(memory.data(store)[at as usize..][..4].try_into().unwrap())
    }

    #[test]
    fn names_and_values_stand_in_one_block_and_theirs_are_freed() {
        let headers = &[["content-type", "text/plain"], ["x-empty", ""], ["etag", "\"1\""]];
        let (mut store, instance, memory) = taken(Taken(&[1, 7, 0, 200, 256, 3, 900, 4], headers));
        let record: Vec<u32> = (0..8).map(|index| word(&store, memory, 64 + 4 * index)).collect();
        let block = record[4];
        assert_eq!(record, [1, 7, 0, 200, block, 3, 900, 4]);
        let texts = headers.as_flattened();
        let all = texts.concat();
        let size = 4 + 4 * texts.len() + all.len();
        assert_eq!(word(&store, memory, block) as usize, size);
        let lengths = (1..=6).map(|index| word(&store, memory, block + 4 * index) as usize);
        assert!(lengths.eq(texts.iter().map(|text| text.len())));
        assert_eq!(&memory.data(&store)[block as usize + 28..][..all.len()], all.as_bytes());
        let freed = instance.get_global(&mut store, "freed").unwrap().get(&mut store).unwrap_i32();
        assert_eq!(freed.cast_unsigned() as usize, all.len() + 8 * texts.len());
    }

    #[test]
    fn a_response_without_headers_has_a_block_and_what_is_no_response_stays_as_it_is() {
        let (store, _, memory) = taken(Taken(&[1, 1, 0, 204, 4, 0, 0, 0], &[]));
        assert_eq!(word(&store, memory, word(&store, memory, 80)), 4);
        for record in [&[0_u32; 8], &[1, 2, 1, 3, 256, 5, 0, 0]] {
            let (store, _, memory) = taken(Taken(record, &[]));
            assert!((0..8).map(|index| word(&store, memory, 64 + 4 * index)).eq(record.iter().copied()));
        }
    }
}
