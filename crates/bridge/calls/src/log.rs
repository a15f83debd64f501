//! Log lines as text on standard output and standard error.

use crate::bindings::exports::sdk::core::log::Output;
use crate::bindings::wasi::cli::{stderr, stdout};

/// Maximum bytes that `blocking-write-and-flush` accepts at once.
const PIECE_BYTES: usize = 4096;

/// Writes text. If the server has closed the stream, the text is lost, because a log line must not fail a request.
pub fn write(output: Output, text: &[u8]) {
    let stream = match output {
        Output::Out => stdout::get_stdout(),
        Output::Err => stderr::get_stderr(),
    };
    for piece in text.chunks(PIECE_BYTES) {
        if stream.blocking_write_and_flush(piece).is_err() {
            return;
        }
    }
}
