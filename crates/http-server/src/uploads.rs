//! Reservations for bytes that have arrived on a connection but were not read yet.
//!
//! hyper reads a body ahead: up to its buffer with HTTP/1.1, and up to the connection's window with HTTP/2. So that
//! many bytes are reserved while bodies are read, but at most the lengths of these bodies.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{Account, Reservation};

/// The bodies that are currently read on one connection.
#[derive(Debug)]
pub struct Uploads {
    window: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Sum of the lengths of these bodies.
    lengths: usize,
    reserved: Reservation,
}

/// A body that is being read.
#[derive(Debug)]
pub struct Upload {
    uploads: Arc<Uploads>,
    length: usize,
}

impl Uploads {
    /// Makes the uploads of a connection, with at most `window` bytes read ahead.
    #[must_use]
    pub fn new(account: &Account, window: usize) -> Arc<Self> {
        Arc::new(Self { window, state: Mutex::new(State { lengths: 0, reserved: account.nothing() }) })
    }

    /// Begins a body of `length` bytes, or of an unknown length. None when the budget has no room for it.
    #[must_use]
    pub fn begin(self: &Arc<Self>, length: Option<usize>) -> Option<Upload> {
        let length = length.unwrap_or(self.window).min(self.window);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lengths = state.lengths + length;
        let more = lengths.min(self.window).saturating_sub(state.reserved.bytes());
        if !state.reserved.try_grow(more) {
            return None;
        }
        state.lengths = lengths;
        Some(Upload { uploads: Arc::clone(self), length })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut state = self.uploads.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.lengths -= self.length;
        let needed = state.lengths.min(self.uploads.window);
        state.reserved.shrink_to(needed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;

    #[test]
    fn what_may_arrive_is_reserved_and_no_more_than_the_window() {
        let budget = Budget::new(1000);
        let account = budget.unshared();
        let uploads = Uploads::new(&account, 100);
        let small = uploads.begin(Some(30)).unwrap();
        assert_eq!(budget.used(), 30);
        let unknown = uploads.begin(None).unwrap();
        let large = uploads.begin(Some(5000)).unwrap();
        assert_eq!(budget.used(), 100);
        drop((unknown, large));
        assert_eq!(budget.used(), 30);
        let _others = account.try_reserve(960).unwrap();
        assert!(uploads.begin(Some(20)).is_none());
        assert!(uploads.begin(Some(10)).is_some());
        drop(small);
        assert_eq!(budget.used(), 960);
    }
}
