//! The clock that ends instances: it advances the engine's epoch while a statement runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

use wasmtime::Engine;

/// Time between two looks at the deadline of each running instance.
const TICK: Duration = Duration::from_millis(10);

/// Counts the calls that run. The thread sleeps when there are none.
#[derive(Clone)]
pub(crate) struct Ticker {
    running: Arc<AtomicUsize>,
    thread: Thread,
}

impl Ticker {
    /// Starts the thread, which lives as long as the process.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Self> {
        let running = Arc::<AtomicUsize>::default();
        let seen = Arc::clone(&running);
        let tick = move || loop {
            if seen.load(Ordering::SeqCst) == 0 {
                std::thread::park();
            } else {
                std::thread::sleep(TICK);
                engine.increment_epoch();
            }
        };
        let thread = std::thread::Builder::new().name("sqlite-clock".to_owned()).spawn(tick)?.thread().clone();
        Ok(Self { running, thread })
    }

    /// Keeps the clock going until the guard is dropped.
    pub(crate) fn run(&self) -> Running {
        if self.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Running(Arc::clone(&self.running))
    }
}

/// A call that runs.
pub(crate) struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
