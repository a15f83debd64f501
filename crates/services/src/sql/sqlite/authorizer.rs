//! The rules by which SQLite refuses actions when it compiles a statement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::sql::SqlAccess;

/// Pragmas that only read, with any argument.
const READING_PRAGMAS: [&str; 13] = [
    "collation_list",
    "compile_options",
    "data_version",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Pragmas of a number in the file: read without an argument, written with one.
const NUMBER_PRAGMAS: [&str; 2] = ["application_id", "user_version"];

/// Table-valued functions that read only their arguments.
const TABLE_FUNCTIONS: [&str; 2] = ["json_each", "json_tree"];

/// Functions that return the state that an earlier statement left in the connection.
const SESSION_FUNCTIONS: [&str; 3] = ["changes", "last_insert_rowid", "total_changes"];

/// The schema of the connection alone; its tables hide those of the file.
const TEMPORARY: &str = "temp";

/// Shared state of the authorizer and the pool about one connection.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    /// Set while the sidecar runs its own statements.
    pub(crate) own: Arc<AtomicBool>,
    /// Set while a VACUUM runs, which has statements of its own.
    pub(crate) vacuuming: Arc<AtomicBool>,
    /// The reason for the last refusal, which SQLite does not report.
    pub(crate) reason: Reason,
    /// Set once a statement names the temporary schema: the connection is not reused then.
    pub(crate) temporary: Arc<AtomicBool>,
    /// Set once the connection has served a request.
    pub(crate) used: Arc<AtomicBool>,
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
pub(crate) type Reason = Arc<Mutex<&'static str>>;

impl Authorizer {
    pub(crate) fn new(access: SqlAccess, notes: Notes) -> Self {
        Self { access, notes }
    }

    pub(crate) fn decide(&self, context: &AuthContext<'_>) -> Authorization {
        if self.notes.own.load(Ordering::Relaxed) {
            return Authorization::Allow;
        }
        if context.database_name.is_some_and(|name| name.eq_ignore_ascii_case(TEMPORARY)) {
            self.notes.temporary.store(true, Ordering::Relaxed);
        }
        match self.refuses(context) {
            None => Authorization::Allow,
            Some(why) => {
                *self.notes.reason.lock().unwrap_or_else(PoisonError::into_inner) = why;
                Authorization::Deny
            }
        }
    }

    fn refuses(&self, context: &AuthContext<'_>) -> Option<&'static str> {
        use AuthAction as A;
        let read_only = self.access.read_only.then_some("only statements that read are allowed");
        let unlisted = |table| (!self.names(table)).then_some("a table is not among those that are allowed");
        let listed = self.access.is_listed().then_some("only statements that read or change rows are allowed");
        match context.action {
            // In a trigger it returns the result of the statement itself.
            A::Function { function_name } if context.accessor.is_none() && self.is_of_session(function_name) => {
                self.notes.wants_fresh.store(true, Ordering::Relaxed);
                Some("a fresh connection is needed")
            }
            A::Select | A::Function { .. } | A::Recursive => None,
            A::Read { table_name, .. } => unlisted(table_name),
            A::Insert { table_name } | A::Delete { table_name } | A::Update { table_name, .. } => {
                read_only.or_else(|| unlisted(table_name))
            }
            // VACUUM writes to a new database without a name, and begins a transaction.
            A::Attach { filename: "" } | A::Transaction { .. } if self.notes.vacuuming.load(Ordering::Relaxed) => {
                read_only.or(listed)
            }
            // A client's own transaction would stay open on a shared connection; batches are transactions.
            A::Transaction { .. } | A::Savepoint { .. } => Some("a transaction is a /sql/batch"),
            // Statements may not open other files. VACUUM INTO attaches one, too.
            A::Attach { .. } | A::Detach { .. } | A::Unknown { .. } => Some("other databases cannot be attached"),
            A::Pragma { pragma_name, pragma_value } => {
                let name = pragma_name.to_ascii_lowercase();
                let number = NUMBER_PRAGMAS.contains(&name.as_str()) && (pragma_value.is_none() || read_only.is_none());
                let known = number || READING_PRAGMAS.contains(&name.as_str());
                listed.or((!known).then_some("this pragma is not allowed"))
            }
            // All other actions change the schema.
            _ => read_only.or(listed),
        }
    }

    /// Reports whether a function reads an earlier request's state.
    fn is_of_session(&self, function: &str) -> bool {
        self.notes.used.load(Ordering::Relaxed)
            && SESSION_FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function))
    }

    /// Reports whether a table is listed. Every table has to be, even behind a view or trigger: SQLite reports the name
    /// of a view or trigger, but also that of a part of the client's own `WITH`.
    fn names(&self, table: &str) -> bool {
        self.access.allows_in_any_case(table) || (self.access.is_listed() && TABLE_FUNCTIONS.contains(&table))
    }
}
