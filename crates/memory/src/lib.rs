//! Memories and stacks of instances, which are made once and reset for the next instance.
//!
//! A fresh instance for each request reuses the last one's memory. That memory is mapped from a file already, so only
//! the written pages have to be restored. The system reports them (`PAGEMAP_SCAN` of Linux 6.7); without that, all
//! pages are given back to the system. Wasmtime's own pool works the same way, but accepts 32 runs of pages in one
//! answer and gives up the pages behind them. A JavaScript engine writes to a hundred pages in as many runs.
//!
//! ```text
//!  wasmtime ─► Memories (MemoryCreator) ─► Slot: a reservation, and the image that is mapped at its start
//!                                            └─► when its memory is dropped: scan, restore, and wait for the next
//!           ─► Stacks (StackCreator)
//! ```
//!
//! Other systems report no written pages at little cost. There a memory is a copy of its image that belongs to one instance, and a
//! reset compares the two ([`is_portable`]).
//!
//! Wasmtime does not report the module that a memory is for, so the caller that instantiates the module does:
//! [`providing`].

mod allocator;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod content;
mod digest;
#[cfg(any(not(target_os = "linux"), feature = "elsewhere"))]
mod elsewhere;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod faults;
mod image;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod memories;
mod original;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod per_process;
mod portable;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod program;
mod providing;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod quiet;
mod region;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod remap;
#[cfg(test)]
mod running;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod scan;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod slot;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod stacks;
#[cfg(test)]
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod tests;

use std::sync::LazyLock;

pub use allocator::{keep_little, trim};
#[cfg(any(not(target_os = "linux"), feature = "elsewhere"))]
pub use elsewhere::{Live, Memories, PerProcess, Stacks, configure, release_program};
pub use {
    image::Image,
    providing::{Started, providing},
};
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
pub use {
    memories::{Live, Memories, configure},
    per_process::PerProcess,
    program::release_program,
    stacks::Stacks,
};

/// Usage of memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Memories of instances that exist.
    pub used: usize,
    /// Slots that wait to be used again.
    pub waiting: usize,
    /// Resident bytes of idle memories.
    pub resident: usize,
}

/// Maximum written bytes that a reset restores in place and keeps resident. A slot with more is given back as a whole, so that later
/// requests do not pay for a greedy one.
const KEPT: usize = 2 * 1024 * 1024;

/// The variable that has a process do without features that only Linux has.
const PORTABLE: &str = "TENON_PORTABLE";

/// Returns whether memories are copies of their image, which belong to one instance. Slots rely on Linux: there, `MADV_DONTNEED`
/// gives back the bytes of the file, and `PAGEMAP_SCAN` reports the written pages. A copy is compared with its image instead. With
/// `TENON_PORTABLE=1` Linux does so as well.
#[must_use]
pub fn is_portable() -> bool {
    static ASKED: LazyLock<bool> = LazyLock::new(|| std::env::var_os(PORTABLE).is_some_and(|value| value == "1"));
    cfg!(any(not(target_os = "linux"), feature = "elsewhere")) || *ASKED
}
