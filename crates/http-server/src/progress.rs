//! Activity of one connection: exchanges in progress, and clients that read their answers too slowly.
//!
//! hyper closes an idle HTTP/1.1 connection, and a blocked socket reveals a client that does not read. An HTTP/2
//! connection has neither: it may idle forever, and flow control blocks its streams one by one.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Number of turns after which ended ones are removed from the list.
const NOTED: usize = 128;

/// Requests that a client may cancel at once, and per second (nghttp2's numbers). Each one costs the server the
/// beginning of an exchange, and costs the client nothing (CVE-2023-44487).
const RESETS: f64 = 1000.0;
const RESETS_PER_SECOND: f64 = 33.0;

/// The exchanges of one connection. Clones share them.
#[derive(Clone, Debug)]
pub struct Activity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    exchanges: AtomicUsize,
    /// End of the last exchange, in milliseconds since `started`.
    ended: AtomicU64,
    turns: Mutex<Vec<Weak<AtomicU64>>>,
    /// Number of requests that could be cancelled at this instant.
    resets: Mutex<(f64, Instant)>,
    too_many_resets: Notify,
}

/// An exchange in progress. It lasts until its answer has left the server.
#[derive(Debug)]
pub struct Ongoing {
    inner: Arc<Inner>,
    answered: bool,
}

/// A timer for a client that reads nothing of an answer.
#[derive(Debug)]
pub struct Turn {
    inner: Arc<Inner>,
    /// Start of the client's turn in milliseconds since `started`, plus one; 0 during the server's turn.
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

    /// Returns when the client has cancelled too many requests.
    pub async fn too_many_resets(&self) {
        self.0.too_many_resets.notified().await;
    }

    /// Returns the time since the last exchange ended. None during an exchange.
    #[must_use]
    pub fn idle(&self) -> Option<Duration> {
        if self.0.exchanges.load(Ordering::SeqCst) > 0 {
            return None;
        }
        Some(Duration::from_millis(self.0.now().saturating_sub(self.0.ended.load(Ordering::SeqCst))))
    }

    /// Returns the duration of the longest current turn of the client.
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
    /// Marks the answer as made. An exchange that ends without it was cancelled by the client.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// Starts a timer for an answer, with the client's turn.
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
    /// Restarts the client's turn, because it got more to read.
    pub fn client(&self) {
        self.since.store(self.inner.now() + 1, Ordering::Relaxed);
    }

    /// Ends the client's turn, because it has read everything so far.
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
