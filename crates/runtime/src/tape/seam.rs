//! The source of the values that a guest gets.

use std::sync::{Arc, MutexGuard};

use tenon_tape::Encoder;

use super::player::Player;
use super::recorder::Recorder;

/// The source of the values that a guest gets during one request.
#[derive(Clone, Default)]
pub(crate) enum Seam {
    /// The host.
    #[default]
    Live,
    /// The host, and the recorder notes them.
    Recorded(Arc<Recorder>),
    /// A recording.
    Replayed(Arc<Player>),
}

impl Seam {
    /// Notes an event, if the request is recorded.
    pub(crate) fn note(&self, event: impl FnOnce(&mut Encoder)) {
        if let Self::Recorded(recorder) = self {
            recorder.note(event);
        }
    }

    /// Notes that the host ends the guest, if it does.
    pub(crate) fn refused<T>(&self, result: wasmtime::Result<T>) -> wasmtime::Result<T> {
        if let (Self::Recorded(recorder), Err(error)) = (self, &result) {
            recorder.note(|encoder| encoder.refused(&error.to_string()));
        }
        result
    }

    /// Marks the recording as incomplete, because the guest uses something that is not recorded.
    pub(crate) fn spoil(&self, why: &'static str) {
        if let Self::Recorded(recorder) = self {
            recorder.spoil(why);
        }
    }

    /// The player, if the request is a replay.
    pub(crate) fn player(&self) -> Option<&Player> {
        match self {
            Self::Replayed(player) => Some(player),
            Self::Live | Self::Recorded(_) => None,
        }
    }

    /// The recorder, if the request is recorded.
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        match self {
            Self::Recorded(recorder) => Some(recorder),
            Self::Live | Self::Replayed(_) => None,
        }
    }
}

/// Locks a state, also after a thread that held the lock has panicked.
pub(super) fn locked<T>(state: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
