//! The statements that a sidecar allows: its options.

use std::collections::BTreeSet;

use serde::Deserialize;

/// The allowed statements. By default, all that the database's user may run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct SqlAccess {
    /// The database refuses statements that write. On PostgreSQL, functions that are not known to only compute or read
    /// are refused as well, because a read-only transaction does not stop all of them.
    pub(crate) read_only: bool,
    /// The tables and views that statements may name; none allows all. With a list, statements can only read and change
    /// rows, and cannot change the schema.
    pub(crate) tables: Option<BTreeSet<String>>,
    /// PostgreSQL: the role of every connection, which replaces the rights of the login. Statements that could change
    /// the role are refused.
    pub(crate) role: Option<String>,
}

impl SqlAccess {
    /// Reports whether a table may be named, ignoring case.
    pub(crate) fn allows_in_any_case(&self, table: &str) -> bool {
        self.tables.as_ref().is_none_or(|tables| tables.iter().any(|each| each.eq_ignore_ascii_case(table)))
    }

    /// Reports whether statements that are not fully understood are refused.
    pub(crate) fn is_guarded(&self) -> bool {
        self.is_listed() || self.role.is_some() || self.read_only
    }

    /// Reports whether statements may only read and change rows of listed tables.
    pub(crate) fn is_listed(&self) -> bool {
        self.tables.is_some()
    }
}
