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
