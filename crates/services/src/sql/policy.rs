//! What statements a sidecar lets through.

use std::collections::BTreeSet;

/// What statements may do. The default is everything that the database lets its user do.
#[derive(Clone, Debug, Default)]
pub struct SqlAccess {
    /// Statements that write are refused, by the database itself.
    pub read_only: bool,
    /// The tables and views that statements may name; none allows all. With a list, statements can read and change rows and
    /// nothing else: no statement changes the schema.
    pub tables: Option<BTreeSet<String>>,
}

impl SqlAccess {
    /// Whether a table may be named, exactly so.
    pub(crate) fn allows(&self, table: &str) -> bool {
        self.tables.as_ref().is_none_or(|tables| tables.contains(table))
    }

    /// Whether a table may be named where case makes no difference.
    pub(crate) fn allows_in_any_case(&self, table: &str) -> bool {
        self.tables.as_ref().is_none_or(|tables| tables.iter().any(|each| each.eq_ignore_ascii_case(table)))
    }

    /// Only reading and changing rows of listed tables.
    pub(crate) fn is_listed(&self) -> bool {
        self.tables.is_some()
    }
}
