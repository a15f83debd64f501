//! The same for systems other than Linux: nothing is kept or reset, and wasmtime makes stacks itself.
//!
//! The feature `elsewhere` compiles this on Linux, so that it is checked where no other system is at hand.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use wasmtime::Config;

use crate::Usage;
use crate::image::Image;
use crate::portable::Once;

/// No memories that are kept.
#[derive(Clone)]
pub struct Memories;

/// No stacks: wasmtime makes them.
#[derive(Clone)]
pub struct Stacks;

/// There is none: no memory is reset.
pub enum Live {}

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

impl Live {
    /// Makes the memory what it was.
    ///
    /// # Safety
    ///
    /// There is none that this could be called for.
    #[must_use]
    pub unsafe fn restore(&self) -> bool {
        match *self {}
    }

    /// Computes a digest.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    #[must_use]
    pub unsafe fn digest(&self) -> Option<u128> {
        match *self {}
    }

    /// Lets go of pages.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    pub unsafe fn release(&self) {
        match *self {}
    }
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
