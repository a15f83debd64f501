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
//! Wasmtime does not report the module that a memory is for, so the caller that instantiates the module does:
//! [`providing`].

mod allocator;
mod content;
mod image;
mod memories;
mod per_process;
mod providing;
mod region;
mod scan;
mod slot;
mod stacks;
#[cfg(test)]
mod tests;

pub use allocator::{keep_little, trim};
pub use image::Image;
pub use memories::{Live, Memories, Usage};
pub use per_process::PerProcess;
pub use providing::providing;
pub use stacks::Stacks;
