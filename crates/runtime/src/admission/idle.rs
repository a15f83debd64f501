//! Idle modules.
//!
//! A module that has run has pages of its memory's image in memory, and the machine code that it shares with others. Both
//! are mapped from files, and pages that were unused for a while are released: a server with hundreds of modules keeps
//! only the called ones in memory. Shared code is released when all its modules are idle.

use std::sync::atomic::{AtomicBool, Ordering};

use tenon_code::Code;

/// The code of a module, and whether it is in use.
pub(crate) struct Idle {
    code: Code,
    /// Called since somebody last looked.
    called: AtomicBool,
    /// Its code has been let go of, and not been called since.
    released: AtomicBool,
}

impl Idle {
    pub(crate) fn new(code: Code) -> Self {
        // Loading it has used some of the code.
        Self { code, called: AtomicBool::new(true), released: AtomicBool::new(false) }
    }

    /// Takes note of a call.
    pub(crate) fn call(&self) {
        self.called.store(true, Ordering::Relaxed);
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
