//! What statements a sidecar lets through.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where PostgreSQL's grammar comes from. A sidecar of PostgreSQL needs it; other stores do not.
#[derive(Clone, Debug, Default)]
pub struct SqlParser {
    /// `libpg-query.wasm` of the npm package `libpg-query`.
    pub file: Option<PathBuf>,
    /// The folder that its machine code is kept in.
    pub cache: Option<PathBuf>,
}

/// What statements may do. The default is everything that the database lets its user do.
#[derive(Clone, Debug, Default)]
pub struct SqlAccess {
    /// Statements that write are refused, by the database itself.
    pub read_only: bool,
    /// The tables and views that statements may name; none allows all. With a list, statements can read and change rows and
    /// nothing else: no statement changes the schema.
    pub tables: Option<BTreeSet<String>>,
    /// PostgreSQL: the role that every connection takes, in place of the rights of the user that it logs in as. Statements
    /// that could take another role are refused.
    pub role: Option<String>,
}

impl SqlAccess {
    /// Whether a table may be named where case makes no difference.
    pub(crate) fn allows_in_any_case(&self, table: &str) -> bool {
        self.tables.as_ref().is_none_or(|tables| tables.iter().any(|each| each.eq_ignore_ascii_case(table)))
    }

    /// Whether statements that are not understood to the last part are refused.
    pub(crate) fn is_guarded(&self) -> bool {
        self.is_listed() || self.role.is_some()
    }

    /// Only reading and changing rows of listed tables.
    pub(crate) fn is_listed(&self) -> bool {
        self.tables.is_some()
    }
}
