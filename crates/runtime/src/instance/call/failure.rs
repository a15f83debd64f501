//! The failure of a call, and the answer for it.

use http::StatusCode;

use crate::request::problem::Problem;

/// Why a call gave no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The guest trapped, or ended without an answer. The name of the limit that it had run into before, if any.
    Trap(wasmtime::Error, Option<&'static str>),
    /// HTTP does not allow the guest's answer.
    InvalidResponse(&'static str),
    /// The guest ended, and has neither answered nor failed.
    Unanswered,
    /// The guest has answered, and the buffers have no room for its answer.
    NoRoom,
}

/// The status of an answer. Refuses one that HTTP does not have, and one that only the host may send (RFC 9110, section 15).
pub(crate) fn lift_status(status: u16) -> Result<StatusCode, Failure> {
    match StatusCode::from_u16(status) {
        Ok(code) if (200..=599).contains(&status) => Ok(code),
        _ => Err(Failure::InvalidResponse("the handler answered with a status outside 200 to 599")),
    }
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error, None)
    }
}

/// The text by which a trap is recorded: its first cause.
pub(crate) fn trap_text(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
}

/// The text of a trap is for the log alone.
impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::InvalidResponse(what) => Self::InvalidResponse(what),
            Failure::Trap(..) | Failure::Unanswered => Self::Crashed,
            Failure::NoRoom => Self::NoRoom,
        }
    }
}
