//! The last requests, for a page that shows them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use http::uri::PathAndQuery;
use http::{Method, StatusCode};

/// How many are kept.
const KEPT: usize = 200;

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct RecentRequest {
    /// Its request id.
    pub id: Arc<str>,
    /// When it came in.
    pub time: SystemTime,
    /// The module it was for; none when it was for the runtime itself, or for nobody.
    pub module: Option<Arc<str>>,
    /// Its method.
    pub method: Method,
    /// Its path as it was sent. The query may hold what nobody else should see, and is left out.
    pub path: String,
    /// The status of its answer.
    pub status: StatusCode,
    /// From the head of the request to the head of the response.
    pub duration: Duration,
}

/// What is noted of a request while it is served: nothing that has to be copied.
pub(crate) struct Noted {
    pub(crate) id: Arc<str>,
    pub(crate) time: SystemTime,
    pub(crate) module: Option<Arc<str>>,
    pub(crate) method: Method,
    pub(crate) path: Option<PathAndQuery>,
    pub(crate) status: StatusCode,
    pub(crate) duration: Duration,
}

impl Noted {
    pub(crate) fn path(&self) -> &str {
        self.path.as_ref().map_or("", PathAndQuery::path)
    }
}

#[derive(Default)]
pub(crate) struct Recent {
    requests: Mutex<VecDeque<Noted>>,
}

impl Recent {
    pub(crate) fn note(&self, request: Noted) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if requests.len() == KEPT { requests.pop_front() } else { None };
        requests.push_back(request);
        drop(requests);
        // Outside the lock.
        drop(oldest);
    }

    /// Oldest first.
    pub(crate) fn all(&self) -> Vec<RecentRequest> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let all = requests.iter().map(|noted| RecentRequest {
            id: Arc::clone(&noted.id),
            time: noted.time,
            module: noted.module.clone(),
            method: noted.method.clone(),
            path: noted.path().to_string(),
            status: noted.status,
            duration: noted.duration,
        });
        all.collect()
    }
}
