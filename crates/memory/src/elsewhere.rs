//! The same for systems other than Linux: nothing is kept or reset, and wasmtime makes stacks itself.
//!
//! The feature `elsewhere` compiles this on Linux, so that it is checked where no other system is at hand.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use wasmtime::Config;

use crate::Usage;
use crate::image::Image;
use crate::portable::{Once, OnceLive};

/// No memories that are kept.
#[derive(Clone)]
pub struct Memories;

/// No stacks: wasmtime makes them.
#[derive(Clone)]
pub struct Stacks;

/// The memory of a live instance.
pub struct Live(OnceLive);

/// There is none: nothing tells a process that was forked.
pub enum PerProcess {}

/// Has an engine use memories that are used once.
pub fn configure(config: &mut Config, _: &Memories, _: &Stacks) {
    config.with_host_memory(Arc::new(Once));
}

/// Nothing is released.
pub fn release_program() {}

impl Memories {
    /// No memories.
    #[must_use]
    pub fn new(_: usize) -> Self {
        Self
    }

    /// Nothing is kept.
    pub fn release(&self, _: &Arc<Image>) {}

    /// Nothing is kept.
    pub fn forget(&self, _: &Arc<Image>) {}

    /// Nothing is kept.
    pub fn trim(&self) {}

    /// The default, because this system does not report usage.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage::default()
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

impl From<OnceLive> for Live {
    fn from(memory: OnceLive) -> Self {
        Self(memory)
    }
}

impl Live {
    /// Returns false: no memory is reset.
    ///
    /// # Safety
    ///
    /// Nothing runs in the instance, and nobody reads or writes the memory during the call.
    #[must_use]
    pub unsafe fn restore(&self) -> bool {
        false
    }

    /// Computes a digest of the memory. It is the same for equal memories with the same image, on every machine. None when its image
    /// cannot be read.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    #[must_use]
    pub unsafe fn digest(&self) -> Option<u128> {
        // SAFETY: by the caller's promise nobody writes to the memory while it is read.
        unsafe { self.0.digest() }.ok()
    }

    /// Releases nothing.
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
