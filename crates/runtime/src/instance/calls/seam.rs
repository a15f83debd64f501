//! The values of calls as events of a recording, and back.

use tenon_tape as tape;

use super::wit::{Bodies, Failure, Outcome, Piece, Reason, Request, Response};

/// The request of a call.
pub(super) fn call(request: &Request, bodies: Bodies) -> tape::Call {
    let Request { method, url, headers, body, timeout_ms, max_bytes } = request;
    tape::Call {
        method: method.clone(),
        url: url.clone(),
        headers: headers.clone(),
        body: body.clone(),
        timeout_ms: *timeout_ms,
        max_bytes: *max_bytes,
        streamed: streamed(bodies),
    }
}

/// Notes the start of a call, without a copy of its request.
pub(super) fn note_start(tape: &mut tape::Encoder, call: u32, request: &Request, bodies: Bodies) {
    let Request { method, url, headers, body, timeout_ms, max_bytes } = request;
    tape.start_with(call, (method, url), headers, body.as_deref(), [*timeout_ms, *max_bytes], streamed(bodies));
}

fn streamed(bodies: Bodies) -> Option<bool> {
    match bodies {
        Bodies::Whole => None,
        Bodies::Streamed => Some(false),
        Bodies::StreamedWithMore => Some(true),
    }
}

/// The outcome of a call.
pub(super) fn outcome(outcome: Result<tape::Response, tape::Failure>) -> Outcome {
    let response =
        |tape::Response { status, headers, body }| Response { status, headers, body: body.unwrap_or_default() };
    outcome.map(response).map_err(failure)
}

/// The outcome of a read.
pub(super) fn piece(piece: tape::Piece) -> Piece {
    match piece {
        tape::Piece::Bytes(bytes) => Piece::Bytes(bytes),
        tape::Piece::Later => Piece::Later,
        tape::Piece::End => Piece::End,
        tape::Piece::Failed(failed) => Piece::Failed(failure(failed)),
    }
}

fn failure(tape::Failure { reason, detail }: tape::Failure) -> Failure {
    let reason = match reason {
        tape::Reason::Refused => Reason::Refused,
        tape::Reason::Unreachable => Reason::Unreachable,
        tape::Reason::Timeout => Reason::Timeout,
        tape::Reason::TooLarge => Reason::TooLarge,
        tape::Reason::Invalid => Reason::Invalid,
        tape::Reason::Broken => Reason::Broken,
    };
    Failure { reason, detail }
}

fn reason(reason: Reason) -> tape::Reason {
    match reason {
        Reason::Refused => tape::Reason::Refused,
        Reason::Unreachable => tape::Reason::Unreachable,
        Reason::Timeout => tape::Reason::Timeout,
        Reason::TooLarge => tape::Reason::TooLarge,
        Reason::Invalid => tape::Reason::Invalid,
        Reason::Broken => tape::Reason::Broken,
    }
}

/// Notes the result of a call.
pub(super) fn note_taken(encoder: &mut tape::Encoder, taken: Option<&(u32, Outcome)>) {
    match taken {
        None => encoder.take_nothing(),
        Some((call, Ok(Response { status, headers, body }))) => encoder.take(*call, *status, headers, Some(body)),
        Some((call, Err(Failure { reason: why, detail }))) => encoder.take_failed(*call, reason(*why), detail),
    }
}

/// Notes the outcome of a read.
pub(super) fn note_read(encoder: &mut tape::Encoder, call: u32, piece: &Piece) {
    match piece {
        Piece::Bytes(bytes) => encoder.read(call, bytes),
        Piece::Later => encoder.read_nothing(call, false),
        Piece::End => encoder.read_nothing(call, true),
        Piece::Failed(Failure { reason: why, detail }) => encoder.read_failed(call, reason(*why), detail),
    }
}
