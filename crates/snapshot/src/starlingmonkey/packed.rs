//! The headers of a call's response in one block, and the variables of the environment.
//!
//! The host allocates guest memory for each name and each value. JavaScript would read and free them one by one, which
//! cost more than the rest of taking a response, and most handlers read no header. So they are put into one block.
//! `glue-calls.ts` copies the headers at once, and parses them when one is read. `glue.ts` looks a variable up.
//!
//! ```text
//!  headers   ─► [ size of all | length of each text … | name | value | name | … ]
//!  variables ─► [ size of all | scheme: address, length | host: address, length | length of each text … | name | value | … ]
//! ```
//!
//! Scheme and host are those of the request, in `TENON_REQUEST_SCHEME` and `TENON_REQUEST_HOST`. Finding them in JavaScript took longer
//! than all else in `request.url`.

use tenon_rewrite::{Error, Rewrite};

use crate::graft;

const SOURCE: &str = include_str!("packed.wat");

/// Packs headers of responses, and variables, into one block each. The engine stays unchanged when it lacks one of the imports.
pub(crate) fn pack_texts(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    let replaced =
        [("sdk:core/calls@", "take", "take"), ("wasi:cli/environment@", "get-environment", "get-environment")];
    graft::replace(engine, SOURCE, &replaced)
}

#[cfg(test)]
mod tests {
    use wasmtime::{Caller, Engine, Instance, Linker, Memory, Module, Store};

    use super::*;

    /// An engine that allocates after 1 KiB, and overwrites freed memory.
    const ENGINE: &str = r#"(module
      (import "sdk:core/calls@0.1.0" "take" (func $take (param i32)))
      (import "wasi:cli/environment@0.2.10" "get-environment" (func $get_environment (param i32)))
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
      (func (export "take") (param i32) (call $take (local.get 0)))
      (func (export "get-environment") (param i32) (call $get_environment (local.get 0))))"#;

    /// A record, and the host's headers or variables for it.
    #[derive(Clone, Copy)]
    struct Taken(&'static [u32], &'static [[&'static str; 2]]);

    fn taken(taken: Taken) -> (Store<Taken>, Instance, Memory) {
        called("take", taken)
    }

    /// Calls an export, after whose import the record stands at 64.
    fn called(export: &str, taken: Taken) -> (Store<Taken>, Instance, Memory) {
        let bytes = wat::parse_str(ENGINE).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        pack_texts(&mut rewrite).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
        let mut linker = Linker::<Taken>::new(&engine);
        let write = |mut caller: Caller<'_, Taken>, at: u32| {
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
        linker.func_wrap("sdk:core/calls@0.1.0", "take", write).unwrap();
        linker.func_wrap("wasi:cli/environment@0.2.10", "get-environment", write).unwrap();
        let mut store = Store::new(&engine, taken);
        let instance = linker.instantiate(&mut store, &module).unwrap();
        instance.get_typed_func::<u32, ()>(&mut store, export).unwrap().call(&mut store, 64).unwrap();
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

    #[test]
    fn variables_stand_in_one_block_with_the_places_of_the_origin() {
        let called = |variables: &'static [[&'static str; 2]]| {
            let record = Box::leak(Box::new([256, u32::try_from(variables.len()).unwrap()]));
            called("get-environment", Taken(record, variables))
        };
        let (store, _, memory) = called(&[["NAME", "value"], ["TENON_REQUEST_HOST", "a.example"], ["EMPTY", ""]]);
        let block = word(&store, memory, 64);
        assert_eq!(word(&store, memory, 68), 3);
        let words: Vec<u32> = (0..11).map(|index| word(&store, memory, block + 4 * index)).collect();
        let (host, texts) = (block + 44 + 9 + 18, b"NAMEvalueTENON_REQUEST_HOSTa.exampleEMPTY");
        assert_eq!(words, [44 + 41, 0, 0, host, 9, 4, 5, 18, 9, 5, 0]);
        assert_eq!(&memory.data(&store)[block as usize + 44..][..texts.len()], texts);

        let (store, _, memory) = called(&[]);
        let block = word(&store, memory, 64);
        assert!((0..5).map(|index| word(&store, memory, block + 4 * index)).eq([20, 0, 0, 0, 0]));

        let text = |store: &Store<Taken>, memory: Memory, place: u32| {
            let block = word(store, memory, 64);
            let [at, length] = [place, place + 4].map(|place| word(store, memory, block + place) as usize);
            (at > 0).then(|| String::from_utf8(memory.data(store)[at..][..length].to_vec()).unwrap())
        };
        let variables = &[
            ["TENON_REQUEST_SCHEMA", "1"],
            ["TENON_REQUEST_POST", "2"],
            ["xENON_REQUEST_HOST", "3"],
            ["TENON_REQUEST_HOSTS", "4"],
            ["TENON_REQUEST_HOST", "first"],
            ["TENON_REQUEST_HOST", "second"],
            ["TENON_REQUEST_SCHEME", ""],
            ["TENON_REQUEST_SCHEME", "https"],
        ];
        let (store, _, memory) = called(variables);
        assert_eq!(text(&store, memory, 4).as_deref(), Some(""));
        assert_eq!(text(&store, memory, 12).as_deref(), Some("first"));
    }
}
