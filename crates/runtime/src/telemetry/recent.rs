//! The last requests, for a page that shows them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::uri::PathAndQuery;
use http::{Method, Request, StatusCode};

use crate::telemetry::transcript::{Secrets, Summary, Transcript};

/// How many are kept.
const KEPT: usize = 200;

/// How many of them are kept with their transcript.
const TRANSCRIPTS: usize = 50;

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct RecentRequest {
    /// Its request id.
    pub id: Arc<str>,
    /// The time at which it came in.
    pub time: SystemTime,
    /// The module it was for; none when it was for the runtime itself, or for nobody.
    pub module: Option<Arc<str>>,
    /// Its method.
    pub method: Method,
    /// Its path as it was sent, without the query, which may contain secrets.
    pub path: String,
    /// The status of its answer.
    pub status: StatusCode,
    /// From the head of the request to the head of the response, or to the end of one that is streamed.
    pub duration: Duration,
    /// The number of its transcript, while there is one.
    pub transcript: Option<u64>,
}

/// Data noted about a running request, without copies.
pub(crate) struct Noted {
    pub(crate) id: Arc<str>,
    pub(crate) time: SystemTime,
    pub(crate) module: Option<Arc<str>>,
    pub(crate) method: Method,
    pub(crate) path: Option<PathAndQuery>,
    pub(crate) status: StatusCode,
    pub(crate) duration: Duration,
    pub(crate) transcript: Option<Arc<Transcript>>,
}

impl Noted {
    pub(crate) fn path(&self) -> &str {
        self.path.as_ref().map_or("", PathAndQuery::path)
    }
}

#[derive(Default)]
pub(crate) struct Recent {
    list: Mutex<List>,
    /// True when requests have transcripts.
    records: AtomicBool,
}

#[derive(Default)]
struct List {
    requests: VecDeque<Noted>,
    /// How many were dropped: the number of the first one that is kept.
    first: u64,
}

impl Recent {
    /// Records requests from now on.
    pub(crate) fn record(&self) {
        self.records.store(true, Ordering::Relaxed);
    }

    /// A transcript for a request that begins, when requests have one.
    pub(crate) fn begin<B>(&self, request: &Request<B>) -> Option<Arc<Transcript>> {
        self.records.load(Ordering::Relaxed).then(|| Arc::new(Transcript::begin(request)))
    }

    pub(crate) fn note(&self, request: Noted) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if list.requests.len() == KEPT {
            list.first += 1;
            list.requests.pop_front()
        } else {
            None
        };
        list.requests.push_back(request);
        let behind = list.requests.len().checked_sub(TRANSCRIPTS + 1);
        let transcript = behind.and_then(|at| list.requests.get_mut(at)?.transcript.take());
        drop(list);
        // Outside the lock.
        drop((oldest, transcript));
    }

    /// Oldest first.
    pub(crate) fn all(&self) -> Vec<RecentRequest> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let all = (list.first..).zip(&list.requests).map(|(number, noted)| RecentRequest {
            id: Arc::clone(&noted.id),
            time: noted.time,
            module: noted.module.clone(),
            method: noted.method.clone(),
            path: noted.path().to_string(),
            status: noted.status,
            duration: noted.duration,
            transcript: noted.transcript.as_ref().map(|_| number),
        });
        all.collect()
    }

    /// A transcript by its number, while it is kept.
    pub(crate) fn transcript(&self, number: u64) -> Option<Arc<Transcript>> {
        self.with(number, |_, transcript| Arc::clone(transcript))
    }

    /// A transcript as JSON, without credentials and these secrets.
    pub(crate) fn view(&self, number: u64, secrets: &Secrets) -> Option<String> {
        let (view, transcript, noted) = self.with(number, |noted, transcript| {
            let summary = (Arc::clone(&noted.id), noted.module.clone(), noted.status, noted.duration);
            (noted.time, Arc::clone(transcript), summary)
        })?;
        let (id, module, status, duration) = noted;
        let time = view.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let time = u64::try_from(time).unwrap_or(0);
        let summary = Summary { id: &id, time, module: module.as_deref(), status, duration };
        // Outside the lock: it searches for secrets.
        serde_json::to_string(&transcript.view(&summary, secrets)).ok()
    }

    /// The number of the newest request with this id.
    pub(crate) fn newest(&self, id: &str) -> Option<u64> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        (list.first..).zip(&list.requests).filter(|(_, noted)| &*noted.id == id).map(|(number, _)| number).last()
    }

    fn with<T>(&self, number: u64, look: impl FnOnce(&Noted, &Arc<Transcript>) -> T) -> Option<T> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(number.checked_sub(list.first)?).ok()?;
        let noted = list.requests.get(at)?;
        Some(look(noted, noted.transcript.as_ref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(recent: &Recent, path: &'static str) {
        let request = Request::builder().uri(path).body(()).unwrap();
        recent.note(Noted {
            id: path.into(),
            time: UNIX_EPOCH,
            module: None,
            method: Method::GET,
            path: request.uri().path_and_query().cloned(),
            status: StatusCode::OK,
            duration: Duration::ZERO,
            transcript: recent.begin(&request),
        });
    }

    #[test]
    fn no_request_has_a_transcript_unless_asked_for() {
        let recent = Recent::default();
        note(&recent, "/a");
        assert_eq!((recent.all()[0].transcript, recent.view(0, &Secrets::of(&[]))), (None, None));
        recent.record();
        note(&recent, "/b");
        assert_eq!(recent.all()[1].transcript, Some(1));
        assert!(recent.view(1, &Secrets::of(&[])).unwrap().contains(r#""url":"/b""#));
    }

    #[test]
    fn the_newest_keep_their_transcripts_and_numbers_stay() {
        let recent = Recent::default();
        recent.record();
        for _ in 0..KEPT {
            note(&recent, "/a");
        }
        note(&recent, "/b");
        note(&recent, "/a");
        let all = recent.all();
        let kept = KEPT as u64;
        assert_eq!(all.len(), KEPT);
        assert_eq!(all.iter().filter(|request| request.transcript.is_some()).count(), TRANSCRIPTS);
        assert_eq!(all[KEPT - 2].transcript, Some(kept));
        assert_eq!(recent.newest("/b"), Some(kept));
        assert!(recent.view(kept, &Secrets::of(&[])).unwrap().contains(r#""url":"/b""#));
        for gone in [0, 1, kept + 1 - TRANSCRIPTS as u64, kept + 2, u64::MAX] {
            assert!(recent.view(gone, &Secrets::of(&[])).is_none(), "{gone}");
        }
    }
}
