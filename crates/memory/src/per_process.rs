//! A number that a forked process does not inherit.

use std::io;
use std::sync::atomic::AtomicI32;

use crate::region::{Region, page_size};

/// A number that is 0 at first, and 0 again in each forked process.
///
/// A forked process inherits descriptors and memory that belong to its parent, and none of its threads. This number
/// shows the fork: it is in a page that the kernel wipes in the child (`MADV_WIPEONFORK`). A process id would not do,
/// because the first process of a nested namespace may have the same id as its parent.
pub struct PerProcess {
    page: Region,
}

impl PerProcess {
    /// Makes a number that is 0.
    ///
    /// # Errors
    ///
    /// An I/O error, when no page can be mapped, or none that is wiped.
    pub fn new() -> io::Result<Self> {
        let page = Region::reserve(page_size())?;
        page.allow(0, page_size())?;
        page.wipe_on_fork()?;
        Ok(Self { page })
    }

    /// Returns the number.
    #[must_use]
    pub fn number(&self) -> &AtomicI32 {
        // SAFETY: the page is aligned, readable and writable, lives as long as this value, and is used only for this.
        unsafe { &*self.page.start().cast::<AtomicI32>() }
    }
}
