//! Instances for tests of memories.

use std::io::Write;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use wasmtime::{Engine, Instance, Module, Store};

use crate::{Image, Live, providing};

pub(crate) const PAGE: usize = 65_536;

/// Makes an image of these bytes at 8,192, for a memory of two pages.
pub(crate) fn image(bytes: &[u8]) -> Arc<Image> {
    image_of(bytes, 2)
}

/// Makes the same for a memory that starts with `pages`, of a module that declares two.
pub(crate) fn image_of(bytes: &[u8], pages: usize) -> Arc<Image> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[0xee; 4_096]).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(8_192 + 4_096 * bytes.len().div_ceil(4_096) as u64).unwrap();
    // SAFETY: the file has no name, and this process no longer writes to it.
    let image =
        unsafe { Image::of_file(file, 4_096, bytes.len().next_multiple_of(4_096), 8_192, pages * PAGE, 2 * PAGE) };
    Arc::new(image.unwrap())
}

/// Makes a module that reads, writes, fills and grows its memory.
pub(crate) fn module(engine: &Engine, more: &str) -> Module {
    let text = format!(
        r#"(module
          (memory (export "memory") 2 1000) {more}
          (func (export "load") (param i32) (result i32) (i32.load8_u (local.get 0)))
          (func (export "store") (param i32 i32) (i32.store8 (local.get 0) (local.get 1)))
          (func (export "fill") (param i32 i32) (memory.fill (local.get 0) (i32.const 7) (local.get 1)))
          (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))"#
    );
    Module::new(engine, wat::parse_str(text).unwrap()).unwrap()
}

pub(crate) struct Running {
    pub(crate) store: Store<()>,
    pub(crate) instance: Instance,
    pub(crate) memory: Option<Live>,
}

impl Running {
    pub(crate) fn new(module: &Module, image: Option<&Arc<Image>>) -> Self {
        let mut store = Store::new(module.engine(), ());
        let started = providing(image, Instance::new_async(&mut store, module, &[]));
        let started = std::pin::pin!(started).poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready((instance, started)) = started else { panic!("it waits") };
        Self { instance: instance.unwrap(), memory: started.memory, store }
    }

    pub(crate) fn load(&mut self, at: usize) -> wasmtime::Result<i32> {
        let load = self.instance.get_typed_func::<i32, i32>(&mut self.store, "load")?;
        load.call(&mut self.store, i32::try_from(at)?)
    }

    pub(crate) fn store(&mut self, at: usize, byte: i32) {
        let store = self.instance.get_typed_func::<(i32, i32), ()>(&mut self.store, "store").unwrap();
        store.call(&mut self.store, (i32::try_from(at).unwrap(), byte)).unwrap();
    }

    pub(crate) fn fill(&mut self, at: usize, length: usize) {
        let fill = self.instance.get_typed_func::<(i32, i32), ()>(&mut self.store, "fill").unwrap();
        fill.call(&mut self.store, (i32::try_from(at).unwrap(), i32::try_from(length).unwrap())).unwrap();
    }

    pub(crate) fn grow(&mut self, pages: i32) -> i32 {
        let grow = self.instance.get_typed_func::<i32, i32>(&mut self.store, "grow").unwrap();
        grow.call(&mut self.store, pages).unwrap()
    }

    /// Returns its whole memory.
    pub(crate) fn bytes(&mut self) -> (*const u8, Vec<u8>) {
        let memory = self.instance.get_memory(&mut self.store, "memory").unwrap();
        (memory.data_ptr(&self.store), memory.data(&self.store).to_vec())
    }
}

pub(crate) fn expected(bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0; 2 * PAGE];
    all[8_192..8_192 + bytes.len()].copy_from_slice(bytes);
    all
}

/// Returns true if the system scans page tables. An emulator does not: then a test is left out, and this prints it. With `CI` set this is a failure.
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
pub(crate) fn has_scans() -> bool {
    let has_scans = crate::scan::pagemap().is_some();
    if !has_scans {
        assert!(std::env::var_os("CI").is_none(), "the system must have PAGEMAP_SCAN");
        writeln!(std::io::stderr(), "skipped: the system has no PAGEMAP_SCAN").unwrap();
    }
    has_scans
}

/// Runs a test in a child process, which has no other threads and so no page faults but the test's own.
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
pub(crate) fn in_a_child(test: impl FnOnce()) {
    // SAFETY: the child uses only values of this thread, and ends without unwinding into the test harness.
    match unsafe { libc::fork() } {
        0 => {
            let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
            // SAFETY: the call ends the child.
            unsafe { libc::_exit(if passed { 0 } else { 1 }) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is this function's.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "the test failed in the child");
        }
    }
}
