//! The same for systems other than Linux: memories are reset with their instance only, and wasmtime makes stacks itself.
//!
//! The feature `elsewhere` compiles this on Linux, so that it is checked where no other system is at hand.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use wasmtime::Config;

use crate::Usage;
use crate::image::Image;
use crate::portable::{PortableLive, PortableMemories};

/// Creator of the memories of an engine's instances. It keeps none of them.
#[derive(Clone)]
pub struct Memories(PortableMemories);

/// No stacks: wasmtime makes them.
#[derive(Clone)]
pub struct Stacks;

/// The memory of a live instance.
pub struct Live(PortableLive);

/// There is none: nothing tells a process that was forked.
pub enum PerProcess {}

/// Has an engine use memories that are copies of their image.
pub fn configure(config: &mut Config, memories: &Memories, _: &Stacks) {
    config.with_host_memory(Arc::new(memories.0.clone()));
}

/// Nothing is released.
pub fn release_program() {}

impl Memories {
    /// Makes a creator. It keeps no memory, so no number bounds that.
    #[must_use]
    pub fn new(_: usize) -> Self {
        Self(PortableMemories::default())
    }

    /// Nothing is kept.
    pub fn release(&self, _: &Arc<Image>) {}

    /// Nothing is kept.
    pub fn forget(&self, _: &Arc<Image>) {}

    /// Nothing is kept.
    pub fn trim(&self) {}

    /// Returns the number of memories that exist. No slots wait.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage { used: self.0.used(), ..Usage::default() }
    }
}

impl Stacks {
    /// No stacks.
    #[must_use]
    pub fn new(_: usize) -> Self {
        Self
    }

    /// How many are known: none.
    #[must_use]
    pub fn used(&self) -> usize {
        0
    }
}

impl From<PortableLive> for Live {
    fn from(memory: PortableLive) -> Self {
        Self(memory)
    }
}

impl Live {
    /// Resets the memory to its initial state. False when it cannot be reset, because it has grown or is too large.
    ///
    /// # Safety
    ///
    /// Nothing runs in the instance, and nobody reads or writes the memory during the call.
    #[must_use]
    pub unsafe fn restore(&self) -> bool {
        // SAFETY: by the caller's promise nobody uses the memory during the call.
        unsafe { self.0.restore() }.unwrap_or(false)
    }

    /// Computes a digest of the memory. It is the same for equal memories with the same image, on every machine. None when its image
    /// cannot be read.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    #[must_use]
    pub unsafe fn digest(&self) -> Option<u128> {
        // SAFETY: by the caller's promise nobody uses the memory while it is read.
        unsafe { self.0.digest() }.ok()
    }

    /// Releases nothing, because the memory shares no pages with its image.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    pub unsafe fn release(&self) {}
}

impl PerProcess {
    /// There is none.
    ///
    /// # Errors
    ///
    /// `Unsupported`, always.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The number.
    #[must_use]
    pub fn number(&self) -> &AtomicI32 {
        match *self {}
    }
}
