//! The lines that the commands print: steps on the log, results on standard output.

use std::io::Write;

/// Logs a step of the server.
pub(crate) fn note(step: &str, what: &str) {
    tracing::info!(step, "{what}");
}

/// Prints a line on standard output. A closed reader must not end the server.
pub(crate) fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
