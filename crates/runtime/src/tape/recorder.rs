//! The recorder of one request. It collects events in a buffer; when the request has ended and nobody holds the recorder any more, it
//! is decided whether they become a file.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::StatusCode;
use tenon_tape::{Encoder, Kept, Meta};

use super::derived::Remade;
use super::not_recorded::{NotRecorded, Reason};
use super::seam::locked;
use super::sink::{Finished, Held, Sink};
use crate::module::Module;

/// Bytes of the events of one request, at most.
const MOST: usize = 8 * 1024 * 1024;

/// Bytes that are claimed of the bound of all requests at once.
const STEP: usize = 16 * 1024;

/// Collects the events of one request.
pub(crate) struct Recorder {
    sink: Arc<Sink>,
    module: Arc<Module>,
    request_id: Arc<str>,
    time: SystemTime,
    started: Instant,
    /// Why it is kept however it ends.
    chosen: Option<Kept>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    encoder: Encoder,
    /// Bytes that are claimed of the sink's.
    claimed: usize,
    /// Why it cannot be replayed.
    spoiled: Option<NotRecorded>,
    /// True while the guest runs.
    is_inside: bool,
    answered: Option<(StatusCode, Duration)>,
    memory: Option<u128>,
    has_failed: bool,
}

impl Recorder {
    pub(crate) fn new(sink: Arc<Sink>, module: Arc<Module>, request_id: Arc<str>, chosen: Option<Kept>) -> Self {
        let state = Mutex::default();
        Self { sink, module, request_id, time: SystemTime::now(), started: Instant::now(), chosen, state }
    }

    /// Notes an event.
    pub(crate) fn note(&self, event: impl FnOnce(&mut Encoder)) {
        let mut state = locked(&self.state);
        if state.spoiled.is_some() {
            return;
        }
        event(&mut state.encoder);
        let length = state.encoder.len();
        if length > MOST || state.encoder.is_full() {
            self.drop_events(&mut state, Reason::Size, "it is larger than a recording may be");
        } else if length > state.claimed {
            let more = (length - state.claimed).next_multiple_of(STEP);
            if self.sink.claim(more) {
                state.claimed += more;
            } else {
                let why = "the requests that run and the recordings that wait have too many bytes";
                self.drop_events(&mut state, Reason::Busy, why);
            }
        }
    }

    /// The host calls the guest.
    pub(crate) fn enter(&self, event: impl FnOnce(&mut Encoder)) {
        locked(&self.state).is_inside = true;
        self.note(event);
    }

    /// The guest has returned, or trapped.
    pub(crate) fn leave(&self, has_failed: bool, event: impl FnOnce(&mut Encoder)) {
        self.note(event);
        let mut state = locked(&self.state);
        state.is_inside = false;
        state.has_failed |= has_failed;
    }

    /// Notes that the events are not all.
    pub(crate) fn spoil(&self, why: &'static str) {
        self.drop_events(&mut locked(&self.state), Reason::Module, why);
    }

    /// Returns whether the digest of the guest's memory is wanted, which takes a while: the recording is likely to be kept.
    pub(crate) fn wants_digest(&self) -> bool {
        let state = locked(&self.state);
        state.spoiled.is_none() && (self.chosen.is_some() || self.sink.keeps(state.has_failed, self.started.elapsed()))
    }

    /// Notes the digest.
    pub(crate) fn digest(&self, digest: Option<u128>) {
        locked(&self.state).memory = digest;
    }

    /// Notes the answer that the client got.
    pub(crate) fn answered(&self, status: StatusCode, duration: Duration) {
        locked(&self.state).answered = Some((status, duration));
    }

    fn drop_events(&self, state: &mut State, reason: Reason, why: &'static str) {
        state.encoder = Encoder::default();
        state.spoiled.get_or_insert_with(|| NotRecorded::new(reason, why));
        self.sink.free(std::mem::take(&mut state.claimed));
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let state = std::mem::take(self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner));
        let (status, duration) = state.answered.unwrap_or((StatusCode::OK, self.started.elapsed()));
        let has_failed = state.has_failed || matches!(status.as_u16(), 500 | 504);
        let kept = match self.chosen {
            Some(chosen) => Some(chosen),
            None if self.sink.keeps_failed(has_failed) => Some(Kept::Failed),
            None if self.sink.keeps(false, duration) => Some(Kept::Slow),
            None => None,
        };
        let mut claimed = state.claimed;
        match (kept, state.spoiled) {
            (Some(_), Some(why)) => self.sink.leave_out(&self.module.info.name, &self.request_id, &why),
            // It never came to the guest.
            (Some(_), None) if state.encoder.is_empty() => {}
            (Some(kept), None) => {
                let limits = &self.module.shared_state.limits;
                let meta = Meta {
                    component: self.module.digest,
                    module: self.module.info.name.to_string(),
                    request_id: self.request_id.to_string(),
                    time: nanoseconds(self.time),
                    duration: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
                    status: status.as_u16(),
                    kept,
                    limits: [limits.memory_limit_bytes, limits.max_table_elements],
                    memory: state.memory,
                    masked: Vec::new(),
                    is_cut: state.is_inside,
                };
                // They are the recording's from here on.
                let claimed = std::mem::take(&mut claimed);
                let (sink, module) = (Arc::clone(&self.sink), Arc::clone(&self.module));
                let held = Held::new(sink, module, Arc::clone(&self.request_id), claimed);
                let events = state.encoder.into_bytes();
                Sink::offer(Finished { held, meta, events, remade: Remade::new(), runs: 0 });
            }
            (None, _) => {}
        }
        self.sink.free(claimed);
    }
}

/// A time in nanoseconds since 1970.
pub(crate) fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
