//! Idle modules.
//!
//! A module that has run has pages of its memory's image in memory, and the machine code that it shares with others. Both
//! are mapped from files, and pages that were unused for a while are released: a server with hundreds of modules keeps
//! only the called ones in memory. Shared code is released when all its modules are idle.
//!
//! Most of a module's resident memory is pages of its image that its instances only read. The system maps sixteen at once, and
//! mapping all of them again takes some 50 µs. So these are released after a brief pause already.

use std::sync::atomic::{AtomicBool, Ordering};

use tenon_code::Code;

/// The code of a module, and whether it is in use.
pub(crate) struct Idle {
    code: Code,
    /// Called since somebody last looked.
    called: AtomicBool,
    /// Its code has been let go of, and not been called since.
    released: AtomicBool,
    pauses: Pauses,
}

/// The pauses between calls.
struct Pauses {
    /// Called since somebody last looked.
    called: AtomicBool,
    /// The pause since the last call has been seen.
    seen: AtomicBool,
}

impl Pauses {
    /// Loading counts as a call, because it uses some pages.
    fn new() -> Self {
        Self { called: AtomicBool::new(true), seen: AtomicBool::new(false) }
    }

    /// Reports the beginning of a pause, once: there was no call since this was last asked.
    fn begins(&self) -> bool {
        if self.called.swap(false, Ordering::Relaxed) {
            self.seen.store(false, Ordering::Relaxed);
            return false;
        }
        !self.seen.swap(true, Ordering::Relaxed)
    }
}

impl Idle {
    pub(crate) fn new(code: Code) -> Self {
        // Loading it has used some of the code.
        Self { code, called: AtomicBool::new(true), released: AtomicBool::new(false), pauses: Pauses::new() }
    }

    /// Takes note of a call.
    pub(crate) fn call(&self) {
        self.called.store(true, Ordering::Relaxed);
        self.pauses.called.store(true, Ordering::Relaxed);
    }

    /// Reports the beginning of a pause, once.
    pub(crate) fn begins_pause(&self) -> bool {
        self.pauses.begins()
    }

    /// Lets go of code that was not called since this was last asked, and says whether it did. Code that a long call runs in is
    /// mapped again as it runs.
    pub(crate) fn look(&self) -> bool {
        if self.called.swap(false, Ordering::Relaxed) {
            self.released.store(false, Ordering::Relaxed);
            self.code.resume();
            return false;
        }
        let release = !self.released.swap(true, Ordering::Relaxed);
        if release {
            self.code.release();
        }
        release
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_reported_once() {
        let pauses = Pauses::new();
        let calls = [false, false, false, true, true, false, false];
        let begins = calls.map(|called| {
            pauses.called.fetch_or(called, Ordering::Relaxed);
            pauses.begins()
        });
        assert_eq!(begins, [false, true, false, false, false, true, false]);
    }
}
