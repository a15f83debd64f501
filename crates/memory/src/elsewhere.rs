//! The same for systems other than Linux: nothing is shared, kept or reset, and wasmtime makes memories and stacks itself.
//!
//! The feature `elsewhere` compiles this on Linux, so that it is checked where no other system is at hand.

use std::fs::File;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use wasmtime::Config;

use crate::Usage;

/// No memories: wasmtime makes them.
#[derive(Clone)]
pub struct Memories;

/// No stacks: wasmtime makes them.
#[derive(Clone)]
pub struct Stacks;

/// There is none: memories start as wasmtime initializes them.
pub enum Image {}

/// There is none: no memory is reset.
pub enum Live {}

/// There is none: nothing tells a process that was forked.
pub enum PerProcess {}

/// Leaves an engine's memories and stacks to wasmtime.
pub fn configure(_: &mut Config, _: &Memories, _: &Stacks) {}

/// Does what instantiates a module.
pub async fn providing<T>(_: Option<&Arc<Image>>, instantiate: impl Future<Output = T>) -> (T, Option<Live>) {
    (instantiate.await, None)
}

impl Memories {
    /// No memories.
    #[must_use]
    pub fn new(_: usize) -> Self {
        Self
    }

    /// Nothing is kept.
    pub fn release(&self, image: &Arc<Image>) {
        match **image {}
    }

    /// Nothing is kept.
    pub fn forget(&self, image: &Arc<Image>) {
        match **image {}
    }

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

impl Image {
    /// There is none.
    ///
    /// # Errors
    ///
    /// `Unsupported`, always.
    ///
    /// # Safety
    ///
    /// None is needed here; the Linux version needs one.
    pub unsafe fn of_file(_: File, _: u64, _: usize, _: usize, _: usize, _: usize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match *self {}
    }

    /// The initial size that the module declares.
    #[must_use]
    pub fn declared(&self) -> usize {
        match *self {}
    }

    /// Lets go of it.
    pub fn release(&self) {
        match *self {}
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
