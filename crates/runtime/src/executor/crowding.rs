//! Detection of modules that take more than their share of the server's own threads.
//!
//! Most calls are too brief for the guest threads (`compute.rs`), so the calls of a module with many clients would fill the server's
//! threads. Time is divided into windows. A module crowds when it used most of a busy window in which other modules computed, too.
//! Its calls go to the guest threads for a while, where modules take turns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::executor::stopwatch::nanos;

/// The length of a window.
const WINDOW: Duration = Duration::from_millis(50);

/// The number of windows for which a module stays crowding.
const PAUSE: u64 = 8;

/// A window is busy when guests computed for this fraction of the processors' time: other programs may use the rest.
const BUSY: u64 = 4;

/// All windows of this process are counted from here.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The computing time of one module.
pub(crate) struct Crowding {
    all: &'static Windows,
    /// The window that `used` belongs to; 0 is none.
    window: AtomicU64,
    /// Nanoseconds.
    used: AtomicU64,
    /// The first window in which it is crowding no more; 0 when it never was.
    until: AtomicU64,
    /// The first window in which it has no company.
    company_until: AtomicU64,
}

impl Crowding {
    pub(crate) fn new(all: &'static Windows) -> Self {
        Self {
            all,
            window: AtomicU64::new(0),
            used: AtomicU64::new(0),
            until: AtomicU64::new(0),
            company_until: AtomicU64::new(0),
        }
    }

    /// Adds to the module's computing time.
    pub(crate) fn note(&self, took: Duration) {
        self.note_in(current(), took);
    }

    /// Reports whether the module's calls go to the guest threads.
    pub(crate) fn is_crowding(&self) -> bool {
        is_before(&self.until)
    }

    /// Reports whether other modules compute beside it while guests are busy. Its calls must be brief by the wall clock then.
    pub(crate) fn has_company(&self) -> bool {
        is_before(&self.company_until)
    }

    fn note_in(&self, window: u64, took: Duration) {
        let took = nanos(took);
        let before = self.window.swap(window, Ordering::Relaxed);
        if before != window {
            let used = self.used.swap(0, Ordering::Relaxed);
            // The time of an earlier window says nothing about the last one.
            let last = self.all.begin(window);
            if last.is_shared() {
                self.company_until.store(window + PAUSE, Ordering::Relaxed);
                if before + 1 == window && last.is_crowded_by(used) {
                    self.until.store(window + PAUSE, Ordering::Relaxed);
                }
            }
        }
        self.used.fetch_add(took, Ordering::Relaxed);
        self.all.add(took);
    }
}

fn is_before(until: &AtomicU64) -> bool {
    let until = until.load(Ordering::Relaxed);
    until != 0 && current() < until
}

fn current() -> u64 {
    nanos(BEGAN.elapsed()) / nanos(WINDOW) + 1
}

/// The computing time of all modules of this process.
pub(crate) static ALL: Windows = Windows::new();

/// The computing time of some modules.
pub(crate) struct Windows {
    /// Nanoseconds in the current window.
    used: AtomicU64,
    /// The current window and the last one.
    windows: Mutex<(Window, Window)>,
}

/// One window of all modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    number: u64,
    modules: u64,
    used: u64,
}

impl Window {
    const NONE: Self = Self { number: 0, modules: 0, used: 0 };

    /// Reports whether several modules computed in it, and it was busy.
    fn is_shared(&self) -> bool {
        self.modules > 1 && self.used > nanos(WINDOW).saturating_mul(processors()) / BUSY
    }

    /// Reports whether a module that has used so many nanoseconds has left others too little.
    fn is_crowded_by(&self, used: u64) -> bool {
        used.saturating_mul(5) > self.used.saturating_mul(3)
    }
}

impl Windows {
    pub(crate) const fn new() -> Self {
        Self { used: AtomicU64::new(0), windows: Mutex::new((Window::NONE, Window::NONE)) }
    }

    /// Counts a module of a window. Returns the window before.
    fn begin(&self, number: u64) -> Window {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let (current, last) = &mut *windows;
        if current.number < number {
            current.used = self.used.swap(0, Ordering::Relaxed);
            *last = if current.number + 1 == number { *current } else { Window::NONE };
            *current = Window { number, ..Window::NONE };
        }
        current.modules += 1;
        *last
    }

    fn add(&self, took: u64) {
        self.used.fetch_add(took, Ordering::Relaxed);
    }
}

fn processors() -> u64 {
    static COUNT: LazyLock<u64> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, |count| count.get() as u64));
    *COUNT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules<const N: usize>() -> [Crowding; N] {
        let all = Box::leak(Box::new(Windows::new()));
        [(); N].map(|()| Crowding::new(all))
    }

    /// Notes of each module how many hundredths of a window's processor time it computes, in windows from 1 on. Returns the first
    /// window in which each is crowding no more.
    fn noted<const N: usize>(hundredths: [[u32; N]; 4]) -> [u64; N] {
        let modules = modules::<N>();
        for (window, used) in (1..).zip(hundredths) {
            for (module, hundredths) in modules.iter().zip(used) {
                let took = WINDOW * u32::try_from(processors()).unwrap() * hundredths / 100;
                if hundredths > 0 {
                    module.note_in(window, took / 2);
                    module.note_in(window, took / 2);
                }
            }
        }
        modules.map(|module| module.until.load(Ordering::Relaxed))
    }

    #[test]
    fn a_module_that_fills_a_busy_window_beside_others_is_crowding() {
        assert_eq!(noted([[40, 5], [40, 5], [1, 1], [1, 1]]), [3 + PAUSE, 0]);
    }

    #[test]
    fn a_module_alone_and_modules_that_share_are_not() {
        assert_eq!(noted([[90], [90], [90], [90]]), [0]);
        assert_eq!(noted([[45, 45], [45, 45], [45, 45], [45, 45]]), [0, 0]);
        assert_eq!(noted([[20, 1], [20, 1], [20, 1], [20, 1]]), [0, 0], "nothing is busy");
        assert_eq!(noted([[80, 0], [80, 0], [80, 0], [1, 80]]), [0, 0], "one after the other");
    }

    #[test]
    fn a_window_that_is_long_over_does_not_count() {
        let [module, other] = modules();
        module.note_in(1, WINDOW * 10);
        other.note_in(1, WINDOW);
        module.note_in(7, WINDOW);
        assert_eq!(module.until.load(Ordering::Relaxed), 0);
    }
}
