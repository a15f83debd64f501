//! The count of this process's page faults.
//!
//! The first write to a page of a mapping is a page fault, and so is the first write after the system has paged it out or a
//! process has forked. The kernel counts each fault with the thread that causes it (`mm_account_fault` in mm/memory.c). So no
//! page was written for the first time while the count stayed the same. Reading the count takes a thirtieth of the time of a scan.
//!
//! A debugger that writes to this process has its faults counted as its own. So does any other writer with the rights of one.

use std::ffi::c_long;
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::per_process::PerProcess;
use crate::region::{Region, page_size};

/// The number of page faults at one time. Two equal ones are of the same process, which has had no page fault between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Faults {
    process: i32,
    count: c_long,
}

/// Numbers this process among those that were forked from one another. None where faults are not counted.
static PROCESS: LazyLock<Option<PerProcess>> = LazyLock::new(|| {
    let counts = counts_faults();
    if !counts {
        tracing::debug!("the system does not count page faults, so every reset scans the memory");
    }
    PerProcess::new().ok().filter(|_| counts)
});

/// True once pages were written that the count did not show.
static IS_DISTRUSTED: AtomicBool = AtomicBool::new(false);

impl Faults {
    /// Reads the count, of all threads since the process began. None where it cannot be relied on.
    pub(crate) fn now() -> Option<Self> {
        let process = number(PROCESS.as_ref()?);
        let is_trusted = !IS_DISTRUSTED.load(Ordering::Relaxed);
        is_trusted.then(count).flatten().map(|count| Self { process, count })
    }

    /// Ends the trust in the count for this process: pages were written that it did not show.
    pub(crate) fn distrust() {
        if !IS_DISTRUSTED.swap(true, Ordering::Relaxed) {
            tracing::error!("pages were written without a page fault; every reset scans the memory from now on");
        }
    }
}

/// Returns the number of this process. A child continues the numbers of its parent.
fn number(process: &PerProcess) -> i32 {
    static LAST: AtomicI32 = AtomicI32::new(0);
    let number = process.number();
    match number.load(Ordering::Relaxed) {
        0 => {
            let next = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            match number.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => next,
                Err(first) => first,
            }
        }
        known => known,
    }
}

fn count() -> Option<c_long> {
    // SAFETY: all bits zero are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is this function's.
    let read = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    let count = usage.ru_minflt + usage.ru_majflt;
    // No process comes here without a page fault.
    (read == 0 && count > 0).then_some(count)
}

/// Reports whether the first write to a page is counted: a system that only resembles Linux may not do so.
fn counts_faults() -> bool {
    let touched =
        Region::reserve(page_size()).and_then(|page| page.allow(0, page_size()).map(|()| page)).ok().and_then(|page| {
            let before = count()?;
            let first = NonNull::new(page.start())?;
            // SAFETY: the page is writable, and nobody else has it.
            unsafe { first.write_volatile(1) };
            Some(count()? > before)
        });
    touched.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_write_to_a_page_is_counted() {
        assert!(counts_faults());
        let page = Region::reserve(page_size()).unwrap();
        page.allow(0, page_size()).unwrap();
        let before = Faults::now().unwrap();
        // SAFETY: the page is writable, and nobody else has it.
        unsafe { page.start().write_volatile(1) };
        assert_ne!(Faults::now(), Some(before));
    }
}
