//! Requests without foreign keys: a table can be rebuilt although others refer to it, and the commit requires that no row
//! is newly without the row that it refers to.

use std::collections::BTreeMap;

use tenon_sqlite::{Connection, Error, Value};

use super::errors::sql_error;
use super::pool::Pooled;
use crate::SqlError;

/// The violations of a database: for each table, row (if it has a number) and parent their count.
pub(crate) struct Violations(BTreeMap<(String, Option<i64>, String), u32>);

/// Turns foreign keys off on a connection, which serves no other request afterwards. No transaction may be open.
pub(crate) fn turn_off(pooled: &mut Pooled) -> Result<(), SqlError> {
    if pooled.is_limited() {
        let text = "foreign keys can only be turned off through a sidecar without --read-only and --tables";
        return Err(SqlError::Forbidden(text.to_owned()));
    }
    pooled.keep_for_one_request();
    pooled.control("PRAGMA foreign_keys = OFF").map_err(sql_error)
}

/// Reads the violations in the transaction that has begun.
pub(crate) fn violations(pooled: &mut Pooled) -> Result<Violations, SqlError> {
    pooled.own(read).map_err(sql_error)
}

fn read(connection: &mut Connection) -> Result<Violations, Error> {
    let mut found = BTreeMap::new();
    for row in connection.query("PRAGMA foreign_key_check", &[])? {
        let mut row = row.into_iter();
        let (Some(Value::Text(table)), Some(id), Some(Value::Text(parent))) = (row.next(), row.next(), row.next())
        else {
            continue;
        };
        let id = if let Value::Integer(id) = id { Some(id) } else { None };
        *found.entry((table, id, parent)).or_default() += 1;
    }
    Ok(Violations(found))
}

/// Requires that a transaction has made no violations that were not there `before`.
pub(crate) fn require_no_more(pooled: &mut Pooled, before: &Violations) -> Result<(), SqlError> {
    let after = violations(pooled)?;
    let found = after.0.iter().find(|(key, count)| before.0.get(key).is_none_or(|known| known < count));
    found.map_or(Ok(()), |((table, row, parent), _)| {
        let row = row.map_or_else(String::new, |row| format!(" {row}"));
        Err(SqlError::Unexpected(format!(
            "FOREIGN KEY constraint failed: row{row} of {table} refers to a missing row of {parent}"
        )))
    })
}
