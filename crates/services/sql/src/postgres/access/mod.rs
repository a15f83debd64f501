//! Decides from PostgreSQL's own parse tree whether a statement is allowed, and sends its text unchanged.
//!
//! ```text
//!  text ─► cache of verdicts ─► tenon_pg_grammar ─► tree ─► command: refused, or in a session of its own
//!                                                      └─► walk: is every node understood?
//! ```
//!
//! One walk over the tree answers three questions, because all three need the same property: that the statement does
//! nothing but compute, and read and change rows. With `--tables`, `--role` and `--read-only` a statement without that
//! property is refused. With none, it runs in a session that no other request had before or gets afterwards.

mod catalog;
mod functions;
mod nodes;
mod parsers;
mod walk;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hashlink::LinkedHashMap;
use sqlx::PgConnection;
use tenon_pg_grammar::Interrupt;
use tenon_pg_grammar::{Grammar, Tree};
use tenon_service::{Limits, ServicesError, SidecarFiles};
use tokio::time::Instant as Deadline;

use crate::{NO_STATEMENT, SqlAccess, SqlError};
use catalog::Catalog;
use parsers::Parsers;
use walk::Walk;

/// Limit in bytes of the statements whose verdicts are cached, and of the longest of them. Handlers repeat their
/// statements.
const KEPT_BYTES: usize = 16 << 20;
const KEPT_STATEMENT: usize = 1 << 20;

/// Limit in bytes of a cache entry besides its text: mostly the reason of a refusal.
const ENTRY: usize = 2048;

/// The age up to which a new connection reuses the catalog.
const CATALOG_AGE: Duration = Duration::from_secs(1);

const ONE_AT_A_TIME: &str = "one statement at a time; use /sql/batch for several";
const OF_THE_SESSION: &str = "a transaction is a /sql/batch, and commands that concern the session are not allowed";
const ROWS_ONLY: &str = "only statements that read or change rows are allowed";

/// Commands that begin or end transactions, or affect the session of the next request.
const REFUSED: [&str; 19] = [
    "CheckPointStmt",
    "ClosePortalStmt",
    "ConstraintsSetStmt",
    "CopyStmt",
    "DeallocateStmt",
    "DeclareCursorStmt",
    "DiscardStmt",
    "ExecuteStmt",
    "FetchStmt",
    "ListenStmt",
    "LoadStmt",
    "LockStmt",
    "NotifyStmt",
    "PrepareStmt",
    "TransactionStmt",
    "UnlistenStmt",
    "VariableSetStmt",
    "AlterSystemStmt",
    "ReturnStmt",
];

/// Commands, besides changes of rows, that do not change the schema.
const KEEPS_SCHEMA: [&str; 5] = ["SelectStmt", "ExplainStmt", "CallStmt", "VacuumStmt", "VariableShowStmt"];

/// The way in which a statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Its result has the rows that it changed.
    pub(super) changes_rows: bool,
    /// It leaves nothing in its session, and reads nothing that another statement left there.
    pub(super) shares_session: bool,
    /// It may change the schema, so that statements prepared elsewhere become stale.
    pub(super) changes_schema: bool,
}

impl Run {
    /// Reports whether it may write data within a transaction.
    pub(super) fn writes(self) -> bool {
        self.changes_rows || !self.shares_session
    }
}

/// The decision about a statement.
#[derive(Clone, Debug)]
enum Verdict {
    Runs(Run),
    Forbidden(String),
    Wrong(String),
}

/// The decisions of one sidecar. Cloning shares them.
#[derive(Clone)]
pub(super) struct Decisions(Arc<Inner>);

struct Inner {
    access: SqlAccess,
    parsers: Parsers,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    catalog: Arc<Catalog>,
    read: Option<Instant>,
    verdicts: LinkedHashMap<String, Verdict>,
    bytes: usize,
}

impl Decisions {
    pub(super) fn new(grammar: Grammar, access: SqlAccess, limits: &Limits) -> Self {
        let parsers = Parsers::new(grammar, limits.queue_timeout);
        Self(Arc::new(Inner { access, parsers, known: Mutex::default() }))
    }

    /// Prepares a new connection: checks its role, and reads the catalog, unless another connection has done so a
    /// moment ago. A changed catalog invalidates all verdicts.
    ///
    /// # Errors
    ///
    /// The database's error, and a role or a `search_path` on which decisions cannot rely.
    pub(super) async fn connected(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        if let Some(role) = &self.0.access.role {
            catalog::check_role(connection, role).await?;
        }
        if self.0.access.is_guarded() {
            catalog::check_search_path(connection).await?;
        }
        if self.known().read.is_some_and(|read| read.elapsed() < CATALOG_AGE) {
            return Ok(());
        }
        let catalog = Catalog::read(connection).await?;
        let mut known = self.known();
        if *known.catalog != catalog {
            *known = Known { catalog: Arc::new(catalog), ..Known::default() };
        }
        known.read = Some(Instant::now());
        Ok(())
    }

    /// Decides about a statement, before `deadline`.
    pub(super) async fn decide(&self, sql: &str, deadline: Deadline) -> Result<Run, SqlError> {
        let kept = self.known().get(sql);
        let verdict = match kept {
            Some(verdict) => verdict,
            None => self.parse(sql, deadline).await?,
        };
        match verdict {
            Verdict::Runs(run) => Ok(run),
            Verdict::Forbidden(why) => Err(SqlError::Forbidden(why)),
            Verdict::Wrong(why) => Err(SqlError::Statement(why)),
        }
    }

    async fn parse(&self, sql: &str, deadline: Deadline) -> Result<Verdict, SqlError> {
        let inner = &self.0;
        let catalog = Arc::clone(&self.known().catalog);
        let (access, judged_by) = (inner.access.clone(), Arc::clone(&catalog));
        let judge =
            move |statements: &[&Tree<'_>], interrupt: &Interrupt| judge(statements, &access, &judged_by, interrupt);
        let verdict = inner.parsers.parse(sql, deadline, judge).await?.unwrap_or_else(Verdict::Wrong);
        let mut known = self.known();
        if Arc::ptr_eq(&known.catalog, &catalog) {
            known.keep(sql, &verdict);
        }
        Ok(verdict)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn get(&mut self, sql: &str) -> Option<Verdict> {
        self.verdicts.to_back(sql).cloned()
    }

    fn keep(&mut self, sql: &str, verdict: &Verdict) {
        if sql.len() > KEPT_STATEMENT {
            return;
        }
        if self.verdicts.insert(sql.to_owned(), verdict.clone()).is_none() {
            self.bytes += sql.len() + ENTRY;
        }
        while self.bytes > KEPT_BYTES {
            let Some((oldest, _)) = self.verdicts.pop_front() else { break };
            self.bytes -= oldest.len() + ENTRY;
        }
    }
}

/// Decides about a parsed text.
fn judge(statements: &[&Tree<'_>], access: &SqlAccess, catalog: &Catalog, interrupt: &Interrupt) -> Verdict {
    let [statement] = statements else {
        let why = if statements.is_empty() { NO_STATEMENT } else { ONE_AT_A_TIME };
        return Verdict::Wrong(why.to_owned());
    };
    let Some((command, _)) = nodes::tagged(statement) else { return Verdict::Forbidden(ROWS_ONLY.to_owned()) };
    if REFUSED.contains(&command) {
        return Verdict::Forbidden(OF_THE_SESSION.to_owned());
    }
    let mut walk = Walk::new(access.tables.as_ref(), catalog, statement, interrupt);
    let (understood, changes_rows) = (walk.statement(statement), walk.changes_rows());
    match understood {
        Ok(()) => Verdict::Runs(Run { changes_rows, shares_session: true, changes_schema: false }),
        Err(why) if access.is_guarded() => Verdict::Forbidden(why),
        Err(_) => Verdict::Runs(Run {
            changes_rows: nodes::changes_rows(statement),
            shares_session: false,
            changes_schema: !nodes::is_change(command) && !KEEPS_SCHEMA.contains(&command),
        }),
    }
}

/// Loads the parser, on a blocking thread, because compiling takes about a second.
pub(super) async fn load(files: &SidecarFiles) -> Result<Grammar, ServicesError> {
    let wrong = |reason: String| ServicesError::Config(format!("PostgreSQL needs its grammar: {reason}"));
    let SidecarFiles { grammar: Some(file), cache } = files.clone() else {
        return Err(wrong("no file is given that has it".to_owned()));
    };
    let load = move || Grammar::load(&file, cache.as_deref());
    let loaded = tokio::task::spawn_blocking(load).await.map_err(|error| wrong(error.to_string()))?;
    loaded.map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests;
