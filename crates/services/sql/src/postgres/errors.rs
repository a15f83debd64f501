//! PostgreSQL's errors: their problem details, and the decision to run a request again.

use axum::http::StatusCode;

use crate::{Reported, SqlError};

/// The failure of a request, with its possible remedies.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) error: SqlError,
    /// The cause may be a statement that was prepared before a change of the schema.
    pub(super) may_be_stale: bool,
    /// The statement does not run inside a transaction.
    pub(super) refuses_transaction: bool,
    /// The table of idempotency keys is missing.
    pub(super) misses_keys: bool,
}

impl Trouble {
    /// The statement does not fit the names and types of the schema.
    pub(super) fn is_of_names_and_types(&self) -> bool {
        let is_of = |code: &str| matches!(code, "0A000" | "26000") || code.starts_with("42");
        matches!(&self.error, SqlError::Database(reported) if reported.sqlstate.as_deref().is_some_and(is_of))
    }

    /// The transaction conflicts with another one's changes.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(&self.error, SqlError::Database(reported) if reported.sqlstate.as_deref() == Some("40001"))
    }
}

impl From<SqlError> for Trouble {
    fn from(error: SqlError) -> Self {
        Self { error, may_be_stale: false, refuses_transaction: false, misses_keys: false }
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
        Self {
            error: sql_error(&error),
            may_be_stale: is_of_stale_statements(&code),
            // `VACUUM` and the like; procedures that commit.
            refuses_transaction: matches!(code.as_str(), "25001" | "2D000"),
            misses_keys: false,
        }
    }
}

/// Reports whether an error with this SQLSTATE may come from a statement that was prepared before a change of the
/// schema: unsuitable values, wrong types, vanished objects, and internal errors such as "cache lookup failed for
/// type".
fn is_of_stale_statements(code: &str) -> bool {
    // Syntax errors and missing rights have other causes.
    let other = matches!(code, "42601" | "42501");
    !other && (matches!(code, "0A000" | "26000") || ["22", "42", "XX"].iter().any(|class| code.starts_with(class)))
}

/// Passes the database's message to the client, unless it is about the server itself.
pub(super) fn sql_error(error: &sqlx::Error) -> SqlError {
    let database = match error {
        sqlx::Error::Database(database) => database,
        sqlx::Error::Io(_) => return SqlError::Lost,
        // Columns of sqlx's own query for types, which does not support multiranges, nor an enum with the label `NULL`.
        sqlx::Error::ColumnDecode { index, .. } if matches!(index.trim_matches('"'), "typtype" | "enum_labels") => {
            return SqlError::Statement(
                "the statement has a type that JSON has no form for, such as a multirange: select it as column::text, and bind it \
                 as $1::text::its_type"
                    .to_owned(),
            );
        }
        other => return SqlError::Internal(format!("PostgreSQL: {other}")),
    };
    let message = database.message().to_string();
    let code = database.code().unwrap_or_default().into_owned();
    let status = match code.as_str() {
        "57014" => return SqlError::TimedOut,
        // The server ends the connection.
        "57P01" | "57P02" | "57P03" | "57P05" => return SqlError::Lost,
        // A deadlock, or rows that another transaction has just changed: a retry may well succeed.
        "40001" | "40P01" | "55P03" => StatusCode::SERVICE_UNAVAILABLE,
        "25006" | "42501" => StatusCode::FORBIDDEN,
        // Connection exceptions, exhausted resources, failures of the system, errors of PostgreSQL itself.
        code if ["08", "53", "58", "XX", "F0", "28"].iter().any(|class| code.starts_with(class)) => {
            return SqlError::Internal(format!("PostgreSQL: {message}"));
        }
        _ => StatusCode::BAD_REQUEST,
    };
    let details = database.try_downcast_ref::<sqlx::postgres::PgDatabaseError>();
    let text = |text: Option<&str>| text.map(str::to_owned);
    SqlError::Database(Box::new(Reported {
        status,
        message,
        sqlstate: Some(code),
        constraint: text(details.and_then(|details| details.constraint())),
        table: text(details.and_then(|details| details.table())),
        column: text(details.and_then(|details| details.column())),
        retryable: status == StatusCode::SERVICE_UNAVAILABLE,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_no_sign_of_a_changed_schema() {
        for code in ["0A000", "22P02", "22003", "42883", "42804", "42P01", "XX000"] {
            assert!(is_of_stale_statements(code), "{code}");
        }
        for code in ["", "23505", "40001", "42601", "42501", "25001", "P0001", "57014"] {
            assert!(!is_of_stale_statements(code), "{code}");
        }
    }
}
