//! SQLite's errors, with the SQL standard's codes where they have one.

use axum::http::StatusCode;
use tenon_sqlite::{Ended, Error};

use crate::{NO_STATEMENT, Reported, SqlError};

/// Primary result codes (`sqlite3.h`).
mod codes {
    pub(super) const INTERNAL: i32 = 2;
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const NOMEM: i32 = 7;
    pub(super) const READONLY: i32 = 8;
    pub(super) const INTERRUPT: i32 = 9;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const AUTH: i32 = 23;
    pub(super) const NOTADB: i32 = 26;
    /// Extended codes of [`CONSTRAINT`].
    pub(super) const CHECK: i32 = CONSTRAINT | (1 << 8);
    pub(super) const FOREIGN_KEY: i32 = CONSTRAINT | (3 << 8);
    pub(super) const NOT_NULL: i32 = CONSTRAINT | (5 << 8);
    pub(super) const PRIMARY_KEY: i32 = CONSTRAINT | (6 << 8);
    pub(super) const UNIQUE: i32 = CONSTRAINT | (8 << 8);
    pub(super) const ROW_ID: i32 = CONSTRAINT | (10 << 8);
}

/// Converts an error: it is the client's, unless the database itself has failed.
pub(super) fn sql_error(error: Error) -> SqlError {
    let (code, message) = match error {
        Error::Sqlite { code, message } => (code, message),
        Error::Several => return statement("one statement at a time; use /sql/batch for several"),
        Error::Nothing => return statement(NO_STATEMENT),
        Error::Zero => return statement("a statement must not contain the character U+0000"),
        Error::Ended(Ended::Time) => return SqlError::TimedOut,
        Error::Ended(Ended::Depth) => return statement("the statement is nested too deeply"),
        Error::Crowded => return SqlError::Busy,
        error @ (Error::Ended(Ended::Fault) | Error::Start(_) | Error::NoRow | Error::Type(_)) => {
            return SqlError::Internal(error.to_string());
        }
    };
    if code == tenon_sqlite::TEMPORARY_FULL {
        let detail = "the statement needs more temporary space than it may use: sort fewer rows, or by an index";
        return SqlError::TooMuch(detail.to_owned());
    }
    match code & 0xff {
        codes::NOMEM => SqlError::TooMuch("the statement needs more memory than it may use".to_owned()),
        codes::INTERRUPT => SqlError::TimedOut,
        codes::BUSY | codes::LOCKED => SqlError::Database(Box::new(Reported {
            status: StatusCode::SERVICE_UNAVAILABLE,
            sqlstate: Some("55P03".to_owned()),
            retryable: true,
            ..Reported::of("the database is locked by another transaction; try again".to_owned())
        })),
        codes::AUTH | codes::READONLY => SqlError::Forbidden(message),
        codes::CONSTRAINT => SqlError::Database(Box::new(violation(code, message))),
        codes::CORRUPT
        | codes::NOTADB
        | codes::IOERR
        | codes::FULL
        | codes::CANTOPEN
        | codes::PERM
        | codes::INTERNAL => SqlError::Internal(format!("SQLite: {message}")),
        _ => SqlError::Database(Box::new(Reported::of(message))),
    }
}

fn statement(detail: &str) -> SqlError {
    SqlError::Statement(detail.to_owned())
}

/// A violated constraint. SQLite names the table and its columns, or the constraint, in the message only:
/// `UNIQUE constraint failed: users.name, users.tenant`, `CHECK constraint failed: positive`.
fn violation(extended: i32, message: String) -> Reported {
    let sqlstate = match extended {
        codes::UNIQUE | codes::PRIMARY_KEY | codes::ROW_ID => "23505",
        codes::NOT_NULL => "23502",
        codes::FOREIGN_KEY => "23503",
        codes::CHECK => "23514",
        _ => "23000",
    };
    let place = message.split_once(" constraint failed: ").map(|(_, place)| place.to_owned());
    let (mut constraint, mut table, mut column) = (None, None, None);
    match (extended, place) {
        (codes::CHECK, place) => constraint = place,
        // A unique index of expressions is named itself: `index 'by_lower_name'`.
        (_, Some(place)) if place.starts_with("index '") => {
            constraint = place.strip_prefix("index '").map(|name| name.trim_end_matches('\'').to_owned());
        }
        (_, Some(place)) => {
            let mut columns = place.split(", ").filter_map(|name| name.split_once('.'));
            if let Some((first, name)) = columns.next() {
                table = Some(first.to_owned());
                // No column is named when there are several.
                column = columns.next().is_none().then(|| name.to_owned());
            }
        }
        (_, None) => {}
    }
    Reported { sqlstate: Some(sqlstate.to_owned()), constraint, table, column, ..Reported::of(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_name_their_place() {
        let of = |code, message: &str| {
            let found = violation(code, message.to_owned());
            (found.sqlstate.unwrap(), found.constraint, found.table, found.column)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            of(codes::UNIQUE, "UNIQUE constraint failed: users.name"),
            ("23505".to_owned(), None, some("users"), some("name"))
        );
        assert_eq!(
            of(codes::PRIMARY_KEY, "UNIQUE constraint failed: users.a, users.b"),
            ("23505".to_owned(), None, some("users"), None)
        );
        assert_eq!(
            of(codes::UNIQUE, "UNIQUE constraint failed: index 'by_lower_name'"),
            ("23505".to_owned(), some("by_lower_name"), None, None)
        );
        assert_eq!(
            of(codes::CHECK, "CHECK constraint failed: balance >= 0"),
            ("23514".to_owned(), some("balance >= 0"), None, None)
        );
        assert_eq!(of(codes::FOREIGN_KEY, "FOREIGN KEY constraint failed"), ("23503".to_owned(), None, None, None));
    }
}
