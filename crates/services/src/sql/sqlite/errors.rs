//! SQLite's errors, with the SQL standard's codes where they have one.

use axum::http::StatusCode;
use rusqlite::{ErrorCode, ffi};

use crate::sql::{NO_STATEMENT, Reported, SqlError};

/// Converts an error: it is the client's, unless the database itself has failed.
pub(super) fn sql_error(error: rusqlite::Error) -> SqlError {
    let message = match &error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::MultipleStatement => "one statement at a time; use /sql/batch for several".to_string(),
        other => other.to_string(),
    };
    let extended = error.sqlite_error().map_or(0, |error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => SqlError::TimedOut,
        // SQLite's error for a statement of blanks and comments.
        Some(ErrorCode::ApiMisuse) => SqlError::Statement(NO_STATEMENT.to_owned()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlError::Database(Box::new(Reported {
            status: StatusCode::SERVICE_UNAVAILABLE,
            sqlstate: Some("55P03".to_owned()),
            retryable: true,
            ..Reported::of("the database is locked by another transaction; try again".to_owned())
        })),
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => SqlError::Forbidden(message),
        Some(ErrorCode::ConstraintViolation) => SqlError::Database(Box::new(violation(extended, message))),
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::InternalMalfunction,
        ) => SqlError::Internal(format!("SQLite: {message}")),
        _ => SqlError::Database(Box::new(Reported::of(message))),
    }
}

/// A violated constraint. SQLite names the table and its columns, or the constraint, in the message only:
/// `UNIQUE constraint failed: users.name, users.tenant`, `CHECK constraint failed: positive`.
fn violation(extended: i32, message: String) -> Reported {
    let sqlstate = match extended {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => "23505",
        ffi::SQLITE_CONSTRAINT_NOTNULL => "23502",
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => "23503",
        ffi::SQLITE_CONSTRAINT_CHECK => "23514",
        _ => "23000",
    };
    let place = message.split_once(" constraint failed: ").map(|(_, place)| place.to_owned());
    let (mut constraint, mut table, mut column) = (None, None, None);
    match (extended, place) {
        (ffi::SQLITE_CONSTRAINT_CHECK, place) => constraint = place,
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
            of(ffi::SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: users.name"),
            ("23505".to_owned(), None, some("users"), some("name"))
        );
        assert_eq!(
            of(ffi::SQLITE_CONSTRAINT_PRIMARYKEY, "UNIQUE constraint failed: users.a, users.b"),
            ("23505".to_owned(), None, some("users"), None)
        );
        assert_eq!(
            of(ffi::SQLITE_CONSTRAINT_UNIQUE, "UNIQUE constraint failed: index 'by_lower_name'"),
            ("23505".to_owned(), some("by_lower_name"), None, None)
        );
        assert_eq!(
            of(ffi::SQLITE_CONSTRAINT_CHECK, "CHECK constraint failed: balance >= 0"),
            ("23514".to_owned(), some("balance >= 0"), None, None)
        );
        assert_eq!(
            of(ffi::SQLITE_CONSTRAINT_FOREIGNKEY, "FOREIGN KEY constraint failed"),
            ("23503".to_owned(), None, None, None)
        );
    }
}
