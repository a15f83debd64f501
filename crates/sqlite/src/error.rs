//! Why a statement failed.

use thiserror::Error;

/// The code of [`Error::Sqlite`] when a temporary file cannot grow, because of the [`crate::Budget`]. A full disk has
/// another: `SQLITE_FULL`.
pub const TEMPORARY_FULL: i32 = crate::codes::FULL | (1 << 8);

/// The reason why a statement, or a connection, failed.
#[derive(Debug, Error)]
pub enum Error {
    /// SQLite's own error.
    #[error("{message}")]
    Sqlite {
        /// The extended result code.
        code: i32,
        /// SQLite's message.
        message: String,
    },
    /// The text has more than one statement.
    #[error("the text must be one statement")]
    Several,
    /// The text has only blanks and comments.
    #[error("there is no statement in this text")]
    Nothing,
    /// The text has the character U+0000.
    #[error("the statement has the character U+0000")]
    Zero,
    /// The host's statement has no row.
    #[error("the statement returned no row")]
    NoRow,
    /// A column, by its index, has a value of another type than the host reads.
    #[error("the column {0} has a value of another type")]
    Type(usize),
    /// Other connections hold the memory that the statement needs.
    #[error("the connections need more memory together than they may use")]
    Crowded,
    /// The instance has ended, and the connection with it. Its transaction is rolled back.
    #[error("{0}")]
    Ended(Ended),
    /// The library does not compile, or an instance cannot be made.
    #[error("SQLite does not start: {0:#}")]
    Start(wasmtime::Error),
}

/// The reason why an instance has ended.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Ended {
    /// It did not come to an end in time.
    #[error("the statement took too long")]
    Time,
    /// It calls itself too deeply.
    #[error("the statement is nested too deeply")]
    Depth,
    /// A fault of SQLite, or of this crate.
    #[error("SQLite has failed")]
    Fault,
}
