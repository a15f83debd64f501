//! What goes on in one connection: requests that are answered, and clients that take too little of their answers.
//!
//! hyper closes an HTTP/1.1 connection that idles, and a blocked socket shows a client that reads nothing. An HTTP/2
//! connection does neither: it may idle for ever, and its streams are blocked one by one, by their windows.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Turns that are noted before those that are over are forgotten.
const NOTED: usize = 128;

/// Requests that a client may cancel at once, and in each second (the figures of nghttp2). Each costs the server the beginning
/// of an exchange, and the client nothing (CVE-2023-44487).
const RESETS: f64 = 1000.0;
const RESETS_PER_SECOND: f64 = 33.0;

/// The exchanges of one connection. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Activity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    exchanges: AtomicUsize,
    /// When the last exchange ended, in milliseconds since `started`.
    ended: AtomicU64,
    turns: Mutex<Vec<Weak<AtomicU64>>>,
    /// How many requests may be cancelled now, and when that was so.
    resets: Mutex<(f64, Instant)>,
    too_many_resets: Notify,
}

/// An exchange that goes on: until its answer is made, and its bytes have left the server.
#[derive(Debug)]
pub struct Ongoing {
    inner: Arc<Inner>,
    answered: bool,
}

/// Times for how long a client has taken nothing of an answer.
#[derive(Debug)]
pub struct Turn {
    inner: Arc<Inner>,
    /// Since when it is the client's turn, in milliseconds since `started`, plus one; 0 when it is the server's.
    since: Arc<AtomicU64>,
}

impl Default for Activity {
    fn default() -> Self {
        Self(Arc::new(Inner {
            started: Instant::now(),
            exchanges: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            turns: Mutex::default(),
            resets: Mutex::new((RESETS, Instant::now())),
            too_many_resets: Notify::new(),
        }))
    }
}

impl Inner {
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }

    fn reset(&self) {
        let mut resets = self.resets.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, at) = *resets;
        let left = (left + at.elapsed().as_secs_f64() * RESETS_PER_SECOND).min(RESETS) - 1.0;
        *resets = (left, Instant::now());
        if left < 0.0 {
            self.too_many_resets.notify_one();
        }
    }
}

impl Activity {
    /// Begins an exchange.
    #[must_use]
    pub fn begin(&self) -> Ongoing {
        self.0.exchanges.fetch_add(1, Ordering::SeqCst);
        Ongoing { inner: Arc::clone(&self.0), answered: false }
    }

    /// Returns when the client has cancelled more requests than it may.
    pub async fn too_many_resets(&self) {
        self.0.too_many_resets.notified().await;
    }

    /// For how long no exchange has gone on.
    #[must_use]
    pub fn idle(&self) -> Option<Duration> {
        if self.0.exchanges.load(Ordering::SeqCst) > 0 {
            return None;
        }
        Some(Duration::from_millis(self.0.now().saturating_sub(self.0.ended.load(Ordering::SeqCst))))
    }

    /// For how long the slowest client's turn has lasted.
    #[must_use]
    pub fn longest_turn(&self) -> Duration {
        let mut turns = self.0.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|turn| turn.strong_count() > 0);
        let since = turns.iter().filter_map(Weak::upgrade).map(|turn| turn.load(Ordering::Relaxed));
        let first = since.filter(|since| *since > 0).min();
        Duration::from_millis(first.map_or(0, |first| (self.0.now() + 1).saturating_sub(first)))
    }
}

impl Ongoing {
    /// The answer is made. An exchange that ends before was cancelled by the client.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// Times an answer, from now on the client's turn.
    #[must_use]
    pub fn turn(&self) -> Turn {
        let since = Arc::new(AtomicU64::new(self.inner.now() + 1));
        let mut turns = self.inner.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= NOTED {
            turns.retain(|turn| turn.strong_count() > 0);
        }
        turns.push(Arc::downgrade(&since));
        Turn { inner: Arc::clone(&self.inner), since }
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        self.inner.ended.store(self.inner.now(), Ordering::SeqCst);
        self.inner.exchanges.fetch_sub(1, Ordering::SeqCst);
        if !self.answered {
            self.inner.reset();
        }
    }
}

impl Turn {
    /// The client is given more: its turn begins anew.
    pub fn client(&self) {
        self.since.store(self.inner.now() + 1, Ordering::Relaxed);
    }

    /// The client has taken all that there is so far.
    pub fn server(&self) {
        self.since.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_idles_while_no_exchange_goes_on() {
        let activity = Activity::default();
        assert!(activity.idle().is_some());
        let (one, other) = (activity.begin(), activity.begin());
        drop(one);
        assert_eq!(activity.idle(), None);
        drop(other);
        assert!(activity.idle().is_some());
    }

    #[tokio::test]
    async fn a_client_that_goes_on_cancelling_is_noticed() {
        let activity = Activity::default();
        for _ in 0..900 {
            drop(activity.begin());
            let mut answered = activity.begin();
            answered.answered();
        }
        let noticed = tokio::time::timeout(Duration::from_millis(1), activity.too_many_resets());
        assert!(noticed.await.is_err());
        for _ in 0..10_000 {
            drop(activity.begin());
        }
        activity.too_many_resets().await;
    }

    #[test]
    fn a_turn_lasts_while_the_client_takes_nothing() {
        let activity = Activity::default();
        let ongoing = activity.begin();
        assert_eq!(activity.longest_turn(), Duration::ZERO);
        let turn = ongoing.turn();
        while activity.longest_turn() < Duration::from_millis(5) {
            std::thread::yield_now();
        }
        turn.server();
        assert_eq!(activity.longest_turn(), Duration::ZERO);
        turn.client();
        drop(turn);
        assert_eq!(activity.longest_turn(), Duration::ZERO);
    }
}
