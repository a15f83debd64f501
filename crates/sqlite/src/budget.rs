//! The sums over all connections of one service.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::ResourceLimiter;

/// Bounds the memory and the temporary files of several connections. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    memory: Sum,
    files: Sum,
    /// Memory of one connection in bytes.
    each: usize,
}

#[derive(Debug)]
struct Sum {
    held: AtomicUsize,
    most: usize,
}

impl Sum {
    fn take(&self, bytes: usize, most: usize) -> bool {
        let more = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= most);
        self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Budget {
    /// `memory` bytes of all connections and `each` bytes of one, and `files` bytes of all temporary files. Those may have as
    /// many more as the database, because a VACUUM writes it anew.
    #[must_use]
    pub fn new(memory: usize, each: usize, files: usize) -> Self {
        let sum = |most| Sum { held: AtomicUsize::new(0), most };
        Self(Arc::new(Inner { memory: sum(memory), files: sum(files), each }))
    }

    /// Bytes of memory that the connections hold now.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.0.memory.held.load(Ordering::Relaxed)
    }

    /// Bytes of temporary files now.
    #[must_use]
    pub fn files(&self) -> usize {
        self.0.files.held.load(Ordering::Relaxed)
    }

    /// Charges a temporary file. Together they may be larger than the limit by `database` bytes.
    pub(crate) fn take_file(&self, bytes: usize, database: impl FnOnce() -> usize) -> bool {
        let files = &self.0.files;
        files.take(bytes, files.most) || files.take(bytes, files.most.saturating_add(database()))
    }

    pub(crate) fn give_file_back(&self, bytes: usize) {
        self.0.files.give_back(bytes);
    }
}

/// The memory of one connection, charged to the budget before it is given to the instance.
pub(crate) struct Growth {
    budget: Budget,
    held: usize,
    /// Set when memory was refused that this connection may use, because others hold it.
    pub(crate) crowded: bool,
}

impl Growth {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, held: 0, crowded: false }
    }

    /// Bytes that the instance holds.
    pub(crate) fn held(&self) -> usize {
        self.held
    }
}

impl Drop for Growth {
    fn drop(&mut self) {
        self.budget.0.memory.give_back(self.held);
    }
}

impl ResourceLimiter for Growth {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let inner = &self.budget.0;
        let more = desired.saturating_sub(self.held);
        let fits = desired <= inner.each;
        let grows = fits && inner.memory.take(more, inner.memory.most);
        self.crowded = fits && !grows;
        if grows {
            self.held += more;
        }
        Ok(grows)
    }

    fn table_growing(&mut self, _: usize, desired: usize, most: Option<usize>) -> wasmtime::Result<bool> {
        // The table has SQLite's own functions; it does not grow.
        Ok(most.is_none_or(|most| desired <= most))
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        1
    }

    fn memories(&self) -> usize {
        1
    }
}
