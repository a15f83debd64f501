//! Log lines without a stream of the host.
//!
//! Text that a handler prints goes through the C library to `fd_write` of WASI 0.1. The adapter to WASI 0.2 opens a
//! stream of the host for it, which the instance then holds. It also does so when the library queries the type of the
//! output file. `sdk:core/log` takes the same bytes as a value.

use tenon_rewrite::{Error, Rewrite};

use crate::graft;

const SOURCE: &str = include_str!("log.wat");

/// Sends standard output and standard error to `sdk:core/log`. The engine stays unchanged when it does not import that.
pub(crate) fn write_as_value(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    graft::replace(engine, SOURCE, &["fd_write", "fd_fdstat_get"].map(|name| ("wasi_snapshot_preview1", name, name)))
}

#[cfg(test)]
mod tests {
    use wasmtime::{Caller, Engine, Linker, Module, Store};

    use super::*;

    const ENGINE: &str = r#"(module
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $status (param i32 i32) (result i32)))
      (import "sdk:core/log@0.1.0" "write" (func (param i32 i32 i32)))
      (memory (export "memory") 1)
      (data (i32.const 64) "\80\00\00\00\05\00\00\00" "\90\00\00\00\00\00\00\00" "\85\00\00\00\07\00\00\00")
      (data (i32.const 128) "Hello, world")
      (func (export "status") (param i32) (result i32) (call $status (local.get 0) (i32.const 256)))
      (func (export "write") (param i32) (result i32)
        (call $write (local.get 0) (i32.const 64) (i32.const 3) (i32.const 16))))"#;

    #[test]
    fn the_pieces_of_a_text_arrive_in_order_and_other_files_as_before() {
        let bytes = wat::parse_str(ENGINE).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        write_as_value(&mut rewrite).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
        let mut linker = Linker::<Vec<(u32, String)>>::new(&engine);
        linker.func_wrap("wasi_snapshot_preview1", "fd_write", |file: u32, _: u32, _: u32, _: u32| file * 10).unwrap();
        linker.func_wrap("wasi_snapshot_preview1", "fd_fdstat_get", |file: u32, _: u32| file * 10).unwrap();
        let write = |mut caller: Caller<'_, Vec<(u32, String)>>, output: u32, at: u32, length: u32| {
            let memory = caller.get_export("memory").unwrap().into_memory().unwrap();
            let text = String::from_utf8_lossy(&memory.data(&caller)[at as usize..][..length as usize]).into_owned();
            caller.data_mut().push((output, text));
        };
        linker.func_wrap("sdk:core/log@0.1.0", "write", write).unwrap();
        let mut store = Store::new(&engine, Vec::new());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let write = instance.get_typed_func::<u32, u32>(&mut store, "write").unwrap();
        assert_eq!([1, 2, 0, 3].map(|file| write.call(&mut store, file).unwrap()), [0, 0, 0, 30]);
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        assert_eq!(memory.data(&store)[16..20], 12_u32.to_le_bytes());
        memory.data_mut(&mut store)[256..280].fill(0xaa);
        let status = instance.get_typed_func::<u32, u32>(&mut store, "status").unwrap();
        assert_eq!([3, 2].map(|file| status.call(&mut store, file).unwrap()), [30, 0]);
        let told = [[0; 8], 64_u64.to_le_bytes(), [0; 8]].concat();
        assert_eq!(memory.data(&store)[256..280], told);
        let lines = [0, 1].map(|output| [(output, "Hello".to_owned()), (output, ", world".to_owned())]);
        assert_eq!(*store.data(), lines.concat());
    }

    #[test]
    fn an_engine_without_it_stays_as_it_is() {
        let bytes = wat::parse_str(ENGINE.replace("sdk:core/log@", "sdk:core/logs@")).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        write_as_value(&mut rewrite).unwrap();
        assert_eq!(rewrite.finish().unwrap(), bytes);
    }
}
