//! The rules by which SQLite refuses actions when it compiles a statement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tenon_sqlite::{Action, Rules};

use super::functions;
use crate::SqlAccess;

/// Pragmas that only read, with any argument.
const READING_PRAGMAS: [&str; 13] = [
    "collation_list",
    "compile_options",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas of a number in the file: read without an argument, written with one.
const NUMBER_PRAGMAS: [&str; 2] = ["application_id", "user_version"];

/// Pragmas that are read without an argument, also with a list of tables: FTS5 and R-Tree do so themselves.
const READABLE_PRAGMAS: [&str; 2] = ["data_version", "page_size"];

/// Endings of the tables in which FTS5 and R-Tree keep a virtual table.
const SHADOWS: [&str; 8] = ["config", "content", "data", "docsize", "idx", "node", "parent", "rowid"];

/// Table-valued functions that read only their arguments.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// Functions that return the state that an earlier statement left in the connection.
const SESSION_FUNCTIONS: [&str; 3] = ["changes", "last_insert_rowid", "total_changes"];

/// The reason for a table that is not listed.
pub(super) const UNLISTED: &str = "a table is not among those that are allowed";

/// The table in which AUTOINCREMENT counts.
pub(super) const COUNTERS: &str = "sqlite_sequence";

/// The reason for a function that is not allowed.
pub(super) const FUNCTION: &str = "a function is not among those that are allowed";

/// The table of ANALYZE, which R-Tree reads when it opens a table.
const STATISTICS: &str = "sqlite_stat1";

/// SQLite's `temp` schema; it shadows the file's.
const TEMPORARY: &str = "temp";

/// Shared state of the authorizer and the pool about one connection.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    /// Set while the sidecar runs its own statements.
    pub(crate) own: Arc<AtomicBool>,
    /// Set while a VACUUM runs, which has statements of its own.
    pub(crate) vacuuming: Arc<AtomicBool>,
    /// The reason for a refusal, which SQLite does not report.
    pub(crate) reason: Reason,
    /// Set once a statement names the temporary schema: the connection is not reused then.
    pub(crate) temporary: Arc<AtomicBool>,
    /// Set while foreign keys are off, as for the rebuild of a table.
    pub(crate) rebuilds: Arc<AtomicBool>,
    /// Set once the connection has served a request.
    pub(crate) used: Arc<AtomicBool>,
    /// Set when a statement that reads the request's own state is compiled: another request must not find it compiled.
    pub(crate) of_session: Arc<AtomicBool>,
    /// Set when a statement is refused because it would read an earlier request's state.
    pub(crate) wants_fresh: Arc<AtomicBool>,
}

/// Decides which statements are allowed.
#[derive(Clone)]
pub(crate) struct Authorizer {
    access: SqlAccess,
    notes: Notes,
}

/// A slot for a reason.
pub(crate) type Reason = Arc<Mutex<Option<&'static str>>>;

impl Authorizer {
    pub(crate) fn new(access: SqlAccess, notes: Notes) -> Self {
        Self { access, notes }
    }

    fn refuses(&self, action: Action<'_>) -> Option<&'static str> {
        use Action as A;
        let read_only = self.access.read_only.then_some("only statements that read are allowed");
        let unlisted = |table| (!self.may_name(table)).then_some(UNLISTED);
        let listed = self.access.is_listed().then_some("only statements that read or change rows are allowed");
        match action {
            // Also in a trigger, because SQLite names a trigger, a view and a part of a `WITH` alike.
            A::Function(name) if is_of_session(name) => {
                if self.notes.used.load(Ordering::Relaxed) {
                    self.notes.wants_fresh.store(true, Ordering::Relaxed);
                    Some("a fresh connection is needed")
                } else {
                    self.notes.of_session.store(true, Ordering::Relaxed);
                    None
                }
            }
            A::Function(name) => (!functions::is_allowed(name)).then_some(FUNCTION),
            A::Select | A::Recursive => None,
            A::Read(table) => unlisted(table),
            A::Insert(table) | A::Delete(table) | A::Update(table) => read_only.or_else(|| unlisted(table)),
            // VACUUM writes to a new database without a name, and begins a transaction.
            A::Attach("") | A::Transaction(_) if self.notes.vacuuming.load(Ordering::Relaxed) => read_only.or(listed),
            // A client's own transaction would stay open on a shared connection; batches are transactions.
            A::Transaction(_) | A::Savepoint => Some("a transaction is a /sql/batch"),
            // Statements may not open other files. VACUUM INTO attaches one, too.
            A::Attach(_) | A::Detach | A::Unknown => Some("other databases cannot be attached"),
            A::Pragma(name, value) => {
                let readable = READABLE_PRAGMAS.contains(&name) && value.is_none();
                let number = NUMBER_PRAGMAS.contains(&name) && (value.is_none() || read_only.is_none());
                // How ALTER TABLE treats views and triggers that name the table.
                let renames = name == "legacy_alter_table" && self.notes.rebuilds.load(Ordering::Relaxed);
                let known = readable || number || renames || READING_PRAGMAS.contains(&name);
                listed.filter(|_| !readable).or((!known).then_some("this pragma is not allowed"))
            }
            A::Schema => read_only.or(listed),
        }
    }

    /// Reports whether a statement may name a table. Every table has to be listed, even behind a view or trigger: SQLite
    /// reports the name of a view or trigger, but also that of a part of the client's own `WITH`. The tables that keep a
    /// listed virtual table, and the statistics, are read by SQLite's own statements; for the client's, [`may_open`] decides.
    fn may_name(&self, table: &str) -> bool {
        let kept = table.rsplit_once('_').filter(|(_, ending)| SHADOWS.contains(ending)).map(|(name, _)| name);
        self.access.allows_in_any_case(table)
            || (self.access.is_listed()
                && (TABLE_FUNCTIONS.contains(&table)
                    || table == STATISTICS
                    || kept.is_some_and(|name| self.access.allows_in_any_case(name))))
    }
}

/// Reports whether a function reads the state of the connection.
fn is_of_session(function: &str) -> bool {
    SESSION_FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function))
}

impl Rules for Authorizer {
    fn allow(&mut self, action: Action<'_>, schema: Option<&str>, _: Option<&str>) -> bool {
        if self.notes.own.load(Ordering::Relaxed) {
            return true;
        }
        if schema.is_some_and(|name| name.eq_ignore_ascii_case(TEMPORARY)) {
            self.notes.temporary.store(true, Ordering::Relaxed);
        }
        match self.refuses(action) {
            None => true,
            Some(why) => {
                *self.notes.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                false
            }
        }
    }
}

/// Reports whether the rights allow a statement to open a table. SQLite names the table itself here, and not a part of a
/// `WITH`, a view or an alias. `shadowed` is the virtual table that the table keeps, if it keeps one. A function has no schema.
pub(super) fn may_open(access: &SqlAccess, schema: &str, table: &str, shadowed: Option<&str>) -> bool {
    access.allows_in_any_case(table)
        || (schema.is_empty() && TABLE_FUNCTIONS.contains(&table))
        || shadowed.is_some_and(|name| access.allows_in_any_case(name))
}
