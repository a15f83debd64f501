//! The actions of a statement that SQLite asks about while it compiles it (`sqlite3_set_authorizer`).

/// An action. SQLite reports one or more for each part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// A SELECT.
    Select,
    /// A common table expression that refers to itself.
    Recursive,
    /// A call of a function, by its name in lower case.
    Function(&'a str),
    /// Reading a table. Some tables of NATURAL JOIN and USING are not reported: see [`crate::Connection::opened`].
    Read(&'a str),
    /// Adding rows to a table.
    Insert(&'a str),
    /// Deleting rows of a table.
    Delete(&'a str),
    /// Changing rows of a table.
    Update(&'a str),
    /// Opening another file, whose name is the empty text for a temporary one.
    Attach(&'a str),
    /// Closing it.
    Detach,
    /// A pragma, by its name, and its value if it has one, both in lower case.
    Pragma(&'a str, Option<&'a str>),
    /// `BEGIN`, `COMMIT` or `ROLLBACK`.
    Transaction(&'a str),
    /// A savepoint.
    Savepoint,
    /// A change of the schema: CREATE, DROP, ALTER, REINDEX and ANALYZE.
    Schema,
    /// An action that this crate does not know.
    Unknown,
}

impl<'a> Action<'a> {
    /// Reads the codes of `sqlite3.h`.
    pub(crate) fn read(code: i32, first: &'a str, second: Option<&'a str>) -> Self {
        match code {
            // CREATE_INDEX to CREATE_VIEW, DROP_INDEX to DROP_VIEW, ALTER_TABLE, REINDEX, ANALYZE, CREATE_VTABLE, DROP_VTABLE.
            1..=8 | 10..=17 | 26..=30 => Self::Schema,
            9 => Self::Delete(first),
            18 => Self::Insert(first),
            19 => Self::Pragma(first, second),
            20 => Self::Read(first),
            21 => Self::Select,
            22 => Self::Transaction(first),
            23 => Self::Update(first),
            24 => Self::Attach(first),
            25 => Self::Detach,
            31 => Self::Function(second.unwrap_or_default()),
            32 => Self::Savepoint,
            33 => Self::Recursive,
            _ => Self::Unknown,
        }
    }
}

/// Decides which actions are allowed.
pub trait Rules: Send {
    /// Returns whether an action is allowed. `schema` is `main` or `temp` where the action has one. `within` is the trigger
    /// or view that it comes from, if it is not the statement's own.
    fn allow(&mut self, action: Action<'_>, schema: Option<&str>, within: Option<&str>) -> bool;
}
