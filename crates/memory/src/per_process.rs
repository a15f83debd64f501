//! A number that a forked process does not inherit.

use std::io;
use std::sync::atomic::AtomicI32;

use crate::region::{PAGE, Region};

/// A number that is 0 at first, and 0 again in each process that is forked from the one that stored another.
///
/// A process that forks hands on descriptors and memory that belong to itself, and none of its threads. This tells the child:
/// the number stands in a page that the kernel wipes there (`MADV_WIPEONFORK`). The process id cannot serve for that, because
/// the first process of a nested namespace may have the same one as its parent.
pub struct PerProcess {
    page: Region,
}

impl PerProcess {
    /// A number that is 0.
    ///
    /// # Errors
    ///
    /// The system's, when no page can be had, or none that is wiped.
    pub fn new() -> io::Result<Self> {
        let page = Region::reserve(PAGE)?;
        page.protect(0, PAGE, true)?;
        page.wipe_on_fork()?;
        Ok(Self { page })
    }

    /// The number.
    #[must_use]
    pub fn number(&self) -> &AtomicI32 {
        // SAFETY: the page is aligned, can be read and written to, lives as long as this value, and is only used as this.
        unsafe { &*self.page.start().cast::<AtomicI32>() }
    }
}
