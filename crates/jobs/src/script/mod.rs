//! The statements of a migration file, read as `psql -f` or `sqlite3` would read it.
//!
//! The databases' own readers split the file: PostgreSQL's grammar, and SQLite's `sqlite3_complete` and compiler. This module owns
//! the lines that are not sent, because a file is applied in one transaction anyway: `BEGIN` and `COMMIT` around statements,
//! and SQLite's pragmas of foreign keys.

mod postgres;
mod sqlite;
#[cfg(test)]
mod tests;

pub use postgres::GrammarFile;
pub(crate) use postgres::of_postgres;
pub(crate) use sqlite::of_sqlite;

/// A file's statements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) statements: Vec<ScriptStatement>,
    /// Foreign keys are enforced while they run.
    pub(crate) foreign_keys: bool,
}

/// A statement, and the line of the file in which it begins, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScriptStatement {
    pub(crate) line: usize,
    pub(crate) sql: String,
}

/// The reason why a file cannot be applied, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScriptError {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

/// Counts lines while positions only grow.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line of a position, which is not before the last one.
    fn line(&mut self, at: usize) -> usize {
        let passed = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(at);
        self.line
    }
}

/// The text after a byte order mark, which editors write and both programs skip.
fn without_mark(text: &str) -> Result<&str, ScriptError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.find('\0') {
        Some(at) => {
            let problem = "it must be text, and has the character U+0000".to_owned();
            Err(ScriptError { line: Lines::of(text).line(at), problem })
        }
        None => Ok(text),
    }
}

/// The transactions that a file begins and ends itself. They are left out.
#[derive(Default)]
struct Blocks {
    /// The line of the BEGIN that has no COMMIT yet.
    open: Option<usize>,
}

impl Blocks {
    fn begin(&mut self, line: usize) -> Result<(), ScriptError> {
        match self.open.replace(line) {
            None => Ok(()),
            Some(first) => {
                Err(ScriptError { line, problem: format!("BEGIN must follow the COMMIT of line {first}'s") })
            }
        }
    }

    fn commit(&mut self, line: usize) -> Result<(), ScriptError> {
        self.open
            .take()
            .map(|_| ())
            .ok_or_else(|| ScriptError { line, problem: "COMMIT must follow a BEGIN".to_owned() })
    }

    fn other(line: usize) -> ScriptError {
        let problem =
            "a file is applied in one transaction: it must not have ROLLBACK, SAVEPOINT or options of BEGIN and COMMIT";
        ScriptError { line, problem: problem.to_owned() }
    }

    fn end(self) -> Result<(), ScriptError> {
        self.open.map_or(Ok(()), |line| Err(ScriptError { line, problem: "BEGIN must have a COMMIT".to_owned() }))
    }
}
