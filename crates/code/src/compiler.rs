//! Where components are compiled, and the time and memory that this may take.
//!
//! A small component can keep a compiler busy for hours, or make it fill the memory, and a thread can be neither stopped nor
//! bounded. So an embedder names a program that compiles in a process of its own ([`serve`] is all that the program has to
//! call). Without a program the compiler runs on a thread of this process: its time is bounded by leaving the thread
//! behind, its memory is not bounded.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::{Engine, Result};

use crate::child;
use crate::compile::{Compiled, compile};

/// Threads that may be left behind before no component is compiled in this process any more.
const MAX_LEFT: usize = 4;

/// A way to compile, and its bounds.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Program and arguments of a process that calls [`serve`]; empty compiles on a thread of this process.
    pub command: Vec<OsString>,
    /// Time for one component.
    pub timeout: Duration,
    /// Bytes of memory for one component, in a process of its own only. Linux counts them (`RLIMIT_DATA`); elsewhere there is
    /// no bound.
    pub memory: u64,
}

/// The bound that compiling a component ran into.
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
    pub(crate) fn run(&self, engine: &Engine, component: &[u8]) -> Result<Compiled> {
        match self.command.split_first() {
            Some((program, arguments)) => child::ask(program, arguments, engine, component, self),
            None => self.on_thread(engine, component),
        }
    }

    fn on_thread(&self, engine: &Engine, component: &[u8]) -> Result<Compiled> {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        wasmtime::ensure!(
            LEFT.load(Ordering::Relaxed) < MAX_LEFT,
            "the compiler still works on {MAX_LEFT} components that took too long"
        );
        let (engine, component) = (engine.clone(), component.to_vec());
        let (sender, receiver) = sync_channel(1);
        // Whether the caller has left, decided once: the thread and the caller agree on who counts.
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

    /// A compiler on a thread of this process.
    pub(crate) fn here() -> Compiler {
        Compiler { command: Vec::new(), timeout: Duration::from_mins(2), memory: 0 }
    }
}
