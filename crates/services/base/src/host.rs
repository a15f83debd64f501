//! The runtime's functions that the development services use.

use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use thiserror::Error;

/// A request that a runtime answered recently.
#[derive(Clone, Debug, Serialize)]
pub struct RecentRequest {
    /// The request's id, as in the log.
    pub id: String,
    /// The time at which it came, in milliseconds since 1970.
    pub time: f64,
    /// The requested module; none for the runtime itself.
    pub module: Option<String>,
    /// Such as `GET`.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The answer's status.
    pub status: u16,
    /// The duration in milliseconds.
    pub duration_ms: f64,
    /// The number of its transcript, while it is kept.
    pub transcript: Option<u64>,
}

/// A replayed request.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SentAgain {
    /// The answer's status.
    pub status: u16,
    /// The number of its own transcript.
    pub transcript: Option<u64>,
}

/// The reason why a request was not sent again.
#[derive(Clone, Copy, Debug, Error)]
#[error("{0}")]
pub struct NotSent(pub &'static str);

/// A pending replay.
pub type SendingAgain = Pin<Box<dyn Future<Output = Result<SentAgain, NotSent>> + Send>>;

/// A runtime, with the functions that the services page and cron use.
pub trait Host: Send + Sync + 'static {
    /// Its URL, such as `http://127.0.0.1:3000`.
    fn url(&self) -> String;

    /// The names of its modules, sorted.
    fn modules(&self) -> Vec<String>;

    /// The last requests, oldest first.
    fn recent_requests(&self) -> Vec<RecentRequest>;

    /// The transcript of a request as JSON, without credentials.
    fn transcript(&self, transcript: u64) -> Option<String>;

    /// Sends the request of a transcript again.
    fn send_again(&self, transcript: u64) -> SendingAgain;
}

/// A slot for the runtime, which starts later.
#[derive(Clone, Default)]
pub struct HostSlot(Arc<RwLock<Option<Arc<dyn Host>>>>);

impl HostSlot {
    /// Sets or removes the runtime.
    pub fn set(&self, host: Option<Arc<dyn Host>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = host;
    }

    /// The runtime; none before it has started.
    pub fn get(&self) -> Option<Arc<dyn Host>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
