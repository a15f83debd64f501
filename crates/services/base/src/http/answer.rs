//! Answers in JSON, charged before they are written.

use std::io;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::charge::Charge;
use super::problem::Problem;

/// Writes a value of a size that a client chooses. Escapes may make a text six times as long.
pub fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let mut counted = Counted(0);
    serde_json::to_writer(&mut counted, value).map_err(Problem::internal)?;
    Charge::current().take(counted.0)?;
    let mut text = Vec::with_capacity(counted.0);
    serde_json::to_writer(&mut text, value).map_err(Problem::internal)?;
    Ok(([(CONTENT_TYPE, "application/json")], text).into_response())
}

/// Counts what is written.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tenon_http_server::Budget;

    use super::*;

    #[tokio::test]
    async fn an_answer_without_room_is_not_written() {
        let budget = Budget::new(100);
        let charge = Charge::on(&budget.unshared());
        let answers = async { (json(&"\u{1}".repeat(10)).is_ok(), json(&"\u{1}".repeat(10)).is_ok()) };
        // Six characters for each, and two quotes.
        assert_eq!(charge.scope(answers).await, (true, false));
        assert_eq!(budget.used(), 62);
    }
}
