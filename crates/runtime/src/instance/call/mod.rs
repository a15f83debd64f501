//! Calling a module: one file for each interface that it may export. Each returns a response, or a [`Failure`] with the
//! outcome of the call. `pieces` continues a streamed response of `direct`.

pub(crate) mod direct;
pub(crate) mod guest_body;
mod instance;
pub(crate) mod pieces;
pub(crate) mod service;
pub(crate) mod wasi_http;

pub(crate) use instance::Instance;

/// Why a call gave no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The guest trapped, or ended without an answer. The name of the limit that it had run into before, if any.
    Trap(wasmtime::Error, Option<&'static str>),
    /// HTTP does not allow the guest's answer.
    InvalidResponse(&'static str),
    /// The guest ended, and has neither answered nor failed.
    Unanswered,
    /// The guest waits for an event that can never come.
    Stuck,
    /// The guest has answered, and the buffers have no room for its answer.
    NoRoom,
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error, None)
    }
}
