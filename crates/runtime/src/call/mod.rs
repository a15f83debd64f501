//! Calling a module: one way for each interface that it may export. Both give a response, or a [`Failure`] that says
//! what became of the call. `pieces` goes on with a streamed response of `direct`.

pub(crate) mod direct;
mod instance;
pub(crate) mod pieces;
pub(crate) mod wasi_http;

pub(crate) use instance::Instance;

/// Why a call gave no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The guest trapped, or ended without an answer. The name of the limit that it had run into before, if any.
    Trap(wasmtime::Error, Option<&'static str>),
    /// The guest's answer is none that HTTP allows.
    InvalidResponse(&'static str),
    /// The guest ended, and has neither answered nor failed.
    Unanswered,
    /// The guest waits for what will never come.
    Stuck,
    /// The guest has answered, and there is no room to hold its answer for the client.
    NoRoom,
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error, None)
    }
}
