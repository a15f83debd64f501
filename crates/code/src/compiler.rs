//! The way to compile components, with its limits of time and memory.
//!
//! A small component can keep a compiler busy for hours, or make it fill the memory. A thread can be neither stopped
//! nor limited. So an embedder names a program that compiles in a separate process. The program only has to call
//! [`serve`]. Without a program, the compiler runs on a thread of this process. A thread that takes too long is
//! abandoned, and its memory has no limit.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::{Engine, Result};

use crate::child;
use crate::compile::compile;

/// Abandoned threads after which this process compiles no more components.
const MAX_LEFT: usize = 4;

/// A way to compile, and its bounds.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Program and arguments of a process that calls [`serve`]; empty means a thread of this process.
    pub command: Vec<OsString>,
    /// Time limit for one component.
    pub timeout: Duration,
    /// Memory limit in bytes for one component, in a separate process only. Linux enforces it (`RLIMIT_DATA`), other
    /// systems do not.
    pub memory: u64,
}

/// The limit that a compilation exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverBound {
    /// [`Compiler::timeout`].
    #[error("compiling it takes longer than {} ms", .0.as_millis())]
    Time(Duration),
    /// [`Compiler::memory`].
    #[error("compiling it takes more than {0} bytes of memory")]
    Memory(u64),
}

impl Compiler {
    /// Compiles a component that was screened.
    pub(crate) fn run(&self, engine: &Engine, component: &[u8]) -> Result<Vec<u8>> {
        match self.command.split_first() {
            Some((program, arguments)) => child::ask(program, arguments, engine, component, self),
            None => self.on_thread(engine, component),
        }
    }

    fn on_thread(&self, engine: &Engine, component: &[u8]) -> Result<Vec<u8>> {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        wasmtime::ensure!(
            LEFT.load(Ordering::Relaxed) < MAX_LEFT,
            "the compiler still runs for {MAX_LEFT} components that took too long"
        );
        let (engine, component) = (engine.clone(), component.to_vec());
        let (sender, receiver) = sync_channel(1);
        // True after the caller has left. The lock makes the thread and the caller agree on the count.
        let left = Arc::new(Mutex::new(false));
        let also_left = Arc::clone(&left);
        thread::Builder::new().name("tenon-compile".to_string()).spawn(move || {
            let compiled = compile(&engine, &component);
            let left = also_left.lock().unwrap_or_else(PoisonError::into_inner);
            if *left {
                LEFT.fetch_sub(1, Ordering::Relaxed);
            }
            let _ = sender.send(compiled);
        })?;
        match receiver.recv_timeout(self.timeout) {
            Ok(compiled) => compiled,
            Err(RecvTimeoutError::Disconnected) => Err(wasmtime::format_err!("the compiler panicked")),
            Err(RecvTimeoutError::Timeout) => {
                let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
                if let Ok(compiled) = receiver.try_recv() {
                    return compiled;
                }
                *left = true;
                LEFT.fetch_add(1, Ordering::Relaxed);
                Err(OverBound::Time(self.timeout).into())
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a compiler on a thread of this process.
    pub(crate) fn here() -> Compiler {
        Compiler { command: Vec::new(), timeout: Duration::from_mins(2), memory: 0 }
    }
}
