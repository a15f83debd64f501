//! Results as JSON, written as the rows arrive, so that no more is buffered than is sent.

use std::io;

use serde_json::Value;
use tenon_service::Limits;
use tenon_service::http::charge::{Charge, NoRoom};

use super::SqlError;

/// The outcome of a statement.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) columns: Vec<String>,
    /// The rows as JSON, with commas in between.
    pub(crate) rows: String,
    pub(crate) row_count: u64,
    pub(crate) rows_affected: u64,
}

/// The form of a row in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// `{"column":value}`; the last column of a name counts.
    #[default]
    Objects,
    /// `[value]`, every column in its order.
    Arrays,
}

/// One value of a row.
pub(crate) enum Cell {
    /// A value of JSON.
    Value(Value),
    /// JSON in the database's own text, with its digits and order of keys.
    Json(String),
}

/// The integers that every JSON reader represents exactly: ±(2^53 − 1).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

impl Cell {
    /// A number, or a text when a double is not exact.
    pub(crate) fn integer(value: i64) -> Self {
        Self::Value(if value.unsigned_abs() <= MAX_SAFE_INTEGER { value.into() } else { value.to_string().into() })
    }

    /// A number, or PostgreSQL's text when JSON has no such number.
    pub(crate) fn float(value: f64) -> Self {
        Self::Value(match serde_json::Number::from_f64(value) {
            Some(number) => Value::Number(number),
            None if value.is_nan() => "NaN".into(),
            None if value > 0.0 => "Infinity".into(),
            None => "-Infinity".into(),
        })
    }

    /// Bytes as base64.
    pub(crate) fn bytes(value: &[u8]) -> Self {
        Self::Value(tenon_service::base64::encode(value).into())
    }

    pub(crate) fn text(value: impl Into<String>) -> Self {
        Self::Value(Value::String(value.into()))
    }

    pub(crate) fn null() -> Self {
        Self::Value(Value::Null)
    }
}

/// Collects rows within the limits.
pub(crate) struct ResultWriter {
    outcome: Outcome,
    form: RowForm,
    /// For each column of the statement its key as JSON with a colon, empty in arrays; none when the column is left out,
    /// because a later one has the same name.
    keys: Vec<Option<String>>,
    count: usize,
    max_rows: usize,
    max_bytes: usize,
    /// Bytes of the earlier results in the same answer.
    taken: usize,
    charge: Charge,
}

impl ResultWriter {
    /// `taken` is the number of bytes of the earlier results in the same answer.
    pub(crate) fn new(names: &[String], form: RowForm, limits: &Limits, taken: usize) -> Self {
        let key = |(index, name): (usize, &String)| match form {
            RowForm::Arrays => Some(String::new()),
            RowForm::Objects if names[index + 1..].contains(name) => None,
            RowForm::Objects => Some(format!("{}:", Value::String(name.clone()))),
        };
        let keys: Vec<Option<String>> = names.iter().enumerate().map(key).collect();
        let columns = names.iter().zip(&keys).filter(|(_, key)| key.is_some()).map(|(name, _)| name.clone()).collect();
        Self {
            outcome: Outcome { columns, ..Outcome::default() },
            form,
            keys,
            count: 0,
            max_rows: limits.max_rows,
            max_bytes: limits.max_result_bytes,
            taken,
            charge: Charge::current(),
        }
    }

    /// Charges the rows to a request that is not the current task's.
    pub(crate) fn charged(self, charge: Charge) -> Self {
        Self { charge, ..self }
    }

    /// Checks, before it is copied, that a value of so many bytes fits in a result.
    pub(crate) fn require_room(bytes: usize, limits: &Limits) -> Result<(), SqlError> {
        if bytes > limits.max_result_bytes { Err(too_large(limits.max_result_bytes)) } else { Ok(()) }
    }

    /// Adds a row; `cell` returns each column by its index.
    pub(crate) fn push(&mut self, mut cell: impl FnMut(usize) -> Result<Cell, SqlError>) -> Result<(), SqlError> {
        if self.count == self.max_rows {
            return Err(SqlError::TooMuch(format!("the result has more than {} rows; use LIMIT", self.max_rows)));
        }
        let mut rows = Rows {
            text: &mut self.outcome.rows,
            limit: self.max_bytes.saturating_sub(self.taken),
            charge: &self.charge,
            refused: None,
        };
        let refuse = |rows: &Rows<'_>| match rows.refused {
            Some(NoRoom) => SqlError::Busy,
            None => too_large(self.max_bytes),
        };
        let (open, close) = match self.form {
            RowForm::Objects => ("{", "}"),
            RowForm::Arrays => ("[", "]"),
        };
        if self.count > 0 {
            rows.push(",").map_err(|_| refuse(&rows))?;
        }
        rows.push(open).map_err(|_| refuse(&rows))?;
        let mut first = true;
        for (index, key) in self.keys.iter().enumerate() {
            let Some(key) = key else { continue };
            if !std::mem::take(&mut first) {
                rows.push(",").map_err(|_| refuse(&rows))?;
            }
            rows.push(key).map_err(|_| refuse(&rows))?;
            let written = match cell(index)? {
                Cell::Value(value) => serde_json::to_writer(&mut rows, &value).map_err(io::Error::from),
                Cell::Json(text) => rows.push(&text),
            };
            written.map_err(|_| refuse(&rows))?;
        }
        rows.push(close).map_err(|_| refuse(&rows))?;
        self.count += 1;
        Ok(())
    }

    pub(crate) fn finish(mut self, rows_affected: u64) -> Outcome {
        self.outcome.row_count = self.count as u64;
        self.outcome.rows_affected = rows_affected;
        self.outcome
    }
}

/// The rows of a result, as long as they fit. Escapes may make a text six times as long.
struct Rows<'a> {
    text: &'a mut String,
    limit: usize,
    charge: &'a Charge,
    refused: Option<NoRoom>,
}

impl Rows<'_> {
    fn push(&mut self, part: &str) -> io::Result<()> {
        let wanted = self.text.len() + part.len();
        if wanted > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if wanted > self.text.capacity() {
            // The former buffer stays charged, because the rows move.
            let capacity = wanted.max(2 * self.text.capacity()).min(self.limit);
            if let Err(refused) = self.charge.take(capacity) {
                self.refused = Some(refused);
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.text.reserve_exact(capacity - self.text.len());
        }
        self.text.push_str(part);
        Ok(())
    }
}

impl io::Write for Rows<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A JSON writer writes whole characters.
        let part = std::str::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        self.push(part)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error of a result that is too large.
pub(crate) fn too_large(limit: usize) -> SqlError {
    SqlError::TooMuch(format!("the result is larger than {limit} bytes; use LIMIT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_objects_in_the_order_of_their_columns() {
        let names = ["b", "a", "b"].map(str::to_string);
        let mut writer = ResultWriter::new(&names, RowForm::Objects, &Limits::default(), 0);
        for _ in 0..2 {
            writer.push(|index| Ok(Cell::integer(i64::try_from(index).unwrap()))).unwrap();
        }
        let outcome = writer.finish(0);
        assert_eq!(outcome.columns, ["a", "b"]);
        assert_eq!(outcome.rows, r#"{"a":1,"b":2},{"a":1,"b":2}"#);
    }

    #[test]
    fn arrays_have_every_column_in_its_order() {
        let names = ["slug", "0", "id", "id", "1"].map(str::to_string);
        let mut writer = ResultWriter::new(&names, RowForm::Arrays, &Limits::default(), 0);
        for _ in 0..2 {
            writer.push(|index| Ok(Cell::integer(i64::try_from(index).unwrap()))).unwrap();
        }
        let outcome = writer.finish(0);
        assert_eq!(outcome.columns, names);
        assert_eq!(outcome.rows, "[0,1,2,3,4],[0,1,2,3,4]");
    }

    #[test]
    fn too_many_rows_are_refused() {
        let limits = Limits { max_rows: 1, ..Limits::default() };
        let mut writer = ResultWriter::new(&["a".to_string()], RowForm::Objects, &limits, 0);
        writer.push(|_| Ok(Cell::null())).unwrap();
        assert!(matches!(writer.push(|_| Ok(Cell::null())), Err(SqlError::TooMuch(_))));
    }

    #[test]
    fn results_of_one_answer_share_its_bytes() {
        let limits = Limits { max_result_bytes: 20, ..Limits::default() };
        let push = |taken| {
            ResultWriter::new(&["a".to_string()], RowForm::Objects, &limits, taken).push(|_| Ok(Cell::integer(7)))
        };
        assert!(push(13).is_ok());
        let refused = push(16).unwrap_err();
        assert!(matches!(refused, SqlError::TooMuch(text) if text == "the result is larger than 20 bytes; use LIMIT"));
    }

    #[test]
    fn rows_are_charged_before_they_are_written() {
        let budget = tenon_http_server::Budget::new(1000);
        let text = |length: usize| move |_: usize| Ok(Cell::text("x".repeat(length)));
        let writer = || {
            let writer = ResultWriter::new(&["a".to_string()], RowForm::Objects, &Limits::default(), 0);
            writer.charged(Charge::on(&budget.unshared()))
        };
        let mut rows = writer();
        rows.push(text(100)).unwrap();
        assert!(budget.used() >= 100);
        assert!(matches!(rows.push(text(1000)), Err(SqlError::Busy)));
        assert!(rows.outcome.rows.len() < 1000);
        drop(rows);
        assert_eq!(budget.used(), 0);
        // A text that grows when it is escaped is refused at the limit, and not beyond it.
        let limits = Limits { max_result_bytes: 100, ..Limits::default() };
        let mut rows = ResultWriter::new(&["a".to_string()], RowForm::Objects, &limits, 0);
        assert!(matches!(rows.push(|_| Ok(Cell::text("\u{1}".repeat(90)))), Err(SqlError::TooMuch(_))));
        assert!(rows.outcome.rows.capacity() <= 100);
    }

    #[test]
    fn what_a_double_does_not_hold_is_text() {
        let json = |cell| match cell {
            Cell::Value(value) => value.to_string(),
            Cell::Json(text) => text,
        };
        assert_eq!(json(Cell::integer(9_007_199_254_740_991)), "9007199254740991");
        assert_eq!(json(Cell::integer(9_007_199_254_740_992)), "\"9007199254740992\"");
        assert_eq!(json(Cell::integer(i64::MIN)), "\"-9223372036854775808\"");
        assert_eq!(json(Cell::float(f64::NEG_INFINITY)), "\"-Infinity\"");
    }
}
