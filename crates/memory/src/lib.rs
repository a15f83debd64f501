//! Memories and stacks of instances, which are made once and reset for the next instance.
//!
//! A fresh instance for each request is made of what the last one left: its memory is mapped from a file already, and only
//! the pages that were written to have to be restored. Which ones they are the system tells (`PAGEMAP_SCAN` of Linux 6.7;
//! where there is none, all of them are given back to it). Wasmtime's own pool does the same, but takes 32 runs of pages as
//! an answer and gives up what lies behind the last; a JavaScript engine writes to a hundred pages in as many runs.
//!
//! ```text
//!  wasmtime ─► Memories (MemoryCreator) ─► Slot: a reservation, and the image that is mapped at its start
//!                                            └─► when its memory is dropped: scan, restore, and wait for the next
//!           ─► Stacks (StackCreator)
//! ```
//!
//! Wasmtime does not say for which module it wants a memory, so whoever instantiates one does: [`providing`].

mod allocator;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod content;
#[cfg(any(not(target_os = "linux"), feature = "elsewhere"))]
mod elsewhere;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod image;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod memories;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod per_process;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod providing;
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
mod region;
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
pub use elsewhere::{Image, Live, Memories, PerProcess, Stacks, configure, providing};
#[cfg(all(target_os = "linux", not(feature = "elsewhere")))]
pub use {
    image::Image,
    memories::{Live, Memories, configure},
    per_process::PerProcess,
    providing::providing,
    stacks::Stacks,
};

/// What memories take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Memories of instances that exist.
    pub used: usize,
    /// Slots that wait to be used again.
    pub waiting: usize,
    /// What these keep resident, in bytes.
    pub resident: usize,
}

/// The variable that has a process do without what only Linux has.
const PORTABLE: &str = "TENON_PORTABLE";

/// Whether memories and stacks are wasmtime's own, and each instance a fresh one. What this crate does relies on Linux: there,
/// `MADV_DONTNEED` gives back the bytes of the file, and `PAGEMAP_SCAN` tells what was written. With `TENON_PORTABLE=1` Linux does
/// without as well.
#[must_use]
pub fn is_portable() -> bool {
    static ASKED: LazyLock<bool> = LazyLock::new(|| std::env::var_os(PORTABLE).is_some_and(|value| value == "1"));
    cfg!(any(not(target_os = "linux"), feature = "elsewhere")) || *ASKED
}
