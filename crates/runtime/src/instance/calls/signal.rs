//! Wakes the guest that waits, and notes which streams have changed, so that no other is polled.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

use futures::task::AtomicWaker;

/// The streams of one request that have changed.
#[derive(Default)]
pub(super) struct Signal {
    changed: Mutex<Vec<Arc<StreamWaker>>>,
    waiting: AtomicWaker,
}

impl Signal {
    /// Makes the waker of a stream.
    pub(super) fn waker(self: &Arc<Self>, call: u32) -> Waker {
        let is_noted = AtomicBool::new(false);
        Arc::new(StreamWaker { call, is_noted, signal: Arc::clone(self) }).into()
    }

    /// Has later changes wake this waker.
    pub(super) fn register(&self, waker: &Waker) {
        self.waiting.register(waker);
    }

    /// Takes the numbers of the streams that have changed.
    pub(super) fn changed(&self) -> Vec<u32> {
        let changed = std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner));
        let number = |waker: &Arc<StreamWaker>| {
            // Before the stream is polled, so that no later change is lost.
            waker.is_noted.store(false, Ordering::Release);
            waker.call
        };
        changed.iter().map(number).collect()
    }
}

struct StreamWaker {
    call: u32,
    is_noted: AtomicBool,
    signal: Arc<Signal>,
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_noted.swap(true, Ordering::AcqRel) {
            self.signal.changed.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(self));
            self.signal.waiting.wake();
        }
    }
}
