//! SQL on PostgreSQL.
//!
//! Statements are prepared, so that the database says of which types their parameters are and JSON values can be bound as
//! those. Values travel in PostgreSQL's binary format, in `encode` and `decode`.

mod access;
mod decode;
mod encode;
mod errors;
mod keys;
mod numeric;
mod pool;
mod session;
mod time;
mod transaction;

use std::time::Duration;

use futures::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgStatement};
use sqlx::{AssertSqlSafe, Column, Connection, Either, Executor, Row, SqlSafeStr, Statement as _, ValueRef};
use tokio::time::{Instant, timeout_at};

use super::{
    Answer, Cell, Failed, Isolation, Mode, Outcome, ResultWriter, SqlAccess, SqlError, SqlRequest, SqlStore, Statement,
};
use crate::{Limits, ServicesError, SqlParser};
use access::{Decisions, Run};
use errors::{Trouble, sql_error};
use pool::Pool;
use session::Session;
use transaction::Transaction;

/// How much longer than the database's own time-out is waited before the connection is given up.
const GRACE: Duration = Duration::from_secs(2);

/// How often an idempotency key is claimed anew that another request is just using.
const CLAIMS: u32 = 3;

/// How often a request is run once more because the schema has changed.
const RENEWALS: u32 = 3;

/// A PostgreSQL database.
#[derive(Clone)]
pub(crate) struct PostgresSql {
    pool: Pool,
    access: SqlAccess,
    decisions: Decisions,
    limits: Limits,
}

impl PostgresSql {
    /// Connects once, so that a wrong address, password or role is known at the start.
    pub(crate) async fn connect(
        url: &str,
        access: SqlAccess,
        parser: &SqlParser,
        limits: Limits,
    ) -> Result<Self, ServicesError> {
        let fail = |reason: String| ServicesError::Backend { what: "PostgreSQL", reason };
        // What a URL that does not parse has in it is not to be shown.
        let options: PgConnectOptions = url.parse().map_err(|_| fail("this is no URL of a database".into()))?;
        let grammar = access::load(parser).await?;
        let decisions = Decisions::new(grammar, access.clone());
        let read_only = if access.read_only { "on" } else { "off" };
        let mut options = options.application_name("tenon-sidecar").options([
            ("statement_timeout", limits.statement_timeout.as_millis().to_string().as_str()),
            ("default_transaction_read_only", read_only),
            // The texts of statements mean what the parser read in them.
            ("standard_conforming_strings", "on"),
            ("TimeZone", "UTC"),
        ]);
        if let Some(role) = &access.role {
            // A setting of the start: RESET comes back to it, too.
            options = options.options([("role", role)]);
        }
        match Pool::connect(options, decisions.clone(), &limits).await {
            Ok(pool) => Ok(Self { pool, access, decisions, limits }),
            Err(sqlx::Error::PoolTimedOut) => {
                Err(fail(format!("no connection within {} s", limits.queue_timeout.as_secs())))
            }
            Err(error) => Err(fail(error.to_string())),
        }
    }

    /// Runs a request once.
    async fn attempt(
        &self,
        session: &mut Session,
        request: &SqlRequest,
        runs: &[Run],
        transaction: bool,
        at: &mut At,
    ) -> Result<Answer, Trouble> {
        *at = At { statement: 0, stage: Stage::Begin };
        if transaction {
            session.execute(AssertSqlSafe(self.begin_sql(request.isolation)).into_sql_str()).await?;
        }
        // Nothing is applied where nothing can be written.
        let keyed = request.keyed.as_ref().filter(|_| !self.access.read_only);
        if let Some(keyed) = keyed
            && let Some(answer) = keys::claim(session, keyed).await?
        {
            session.execute("ROLLBACK").await?;
            return Ok(answer);
        }
        at.stage = Stage::Run;
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(request.statements.len());
        let mut taken = 0;
        for (index, (statement, run)) in request.statements.iter().zip(runs).enumerate() {
            at.statement = index;
            let outcome = self.run_one(session, statement, *run, taken).await?;
            statement.check(&outcome)?;
            taken += outcome.rows.len();
            outcomes.push(outcome);
        }
        let body = (request.answer)(&outcomes);
        if let Some(keyed) = keyed {
            keys::keep(session, keyed, &body).await?;
        }
        if transaction {
            at.stage = Stage::Commit;
            session.execute("COMMIT").await?;
        }
        Ok(Answer { body, replayed: false })
    }

    fn begin_sql(&self, isolation: Option<Isolation>) -> String {
        let isolation = isolation.map_or_else(String::new, |level| format!(" ISOLATION LEVEL {}", level.sql()));
        let read_only = if self.access.read_only { " READ ONLY" } else { "" };
        format!("BEGIN{isolation}{read_only}")
    }

    /// Whether the request runs in a transaction: all that may write does, so that it is committed only when there is an answer.
    fn needs_transaction(&self, request: &SqlRequest, runs: &[Run]) -> bool {
        // With a list or a role, settings that a statement makes end with the transaction.
        let guarded = self.access.read_only || self.access.is_guarded();
        let writes = runs.iter().any(|run| run.writes());
        guarded || writes || request.mode == Mode::Transaction || request.keyed.is_some()
    }

    async fn session(&self, runs: &[Run]) -> Result<Session, SqlError> {
        Session::of(self.pool.acquire().await?, runs).await.map_err(|error| sql_error(&error))
    }

    /// Whether a statement that no transaction takes, such as `VACUUM`, may run without one. It has no result to be refused.
    fn may_leave_transaction(&self, request: &SqlRequest) -> bool {
        let guarded = self.access.read_only || self.access.is_guarded();
        !guarded && request.mode == Mode::Single && request.keyed.is_none()
    }

    async fn run_one(
        &self,
        connection: &mut PgConnection,
        statement: &Statement,
        run: Run,
        taken: usize,
    ) -> Result<Outcome, Trouble> {
        let known = connection.cached_statements_size();
        let sql = AssertSqlSafe(statement.sql.as_str()).into_sql_str();
        let prepared = connection.prepare(sql).await?;
        let was_prepared = connection.cached_statements_size() == known;
        let ran = self.run_prepared(connection, &prepared, statement, run, taken).await;
        ran.map_err(|trouble| {
            // The names and types of one that was prepared a moment ago were right then, so they have changed since.
            let may_be_stale = trouble.may_be_stale && (was_prepared || trouble.is_of_names_and_types());
            Trouble { may_be_stale, ..trouble }
        })
    }

    async fn run_prepared(
        &self,
        connection: &mut PgConnection,
        prepared: &PgStatement,
        statement: &Statement,
        run: Run,
        taken: usize,
    ) -> Result<Outcome, Trouble> {
        let types = match prepared.parameters() {
            Some(Either::Left(types)) => types,
            _ => &[],
        };
        let arguments = encode::arguments(statement, types)
            .map_err(|error| Trouble { may_be_stale: true, ..Trouble::from(error) })?;
        let names: Vec<String> = prepared.columns().iter().map(|column| column.name().to_owned()).collect();
        let mut writer = ResultWriter::new(&names, &self.limits, taken);
        let mut affected = 0;
        let mut rows = connection.fetch_many(prepared.query_with(arguments));
        while let Some(step) = rows.try_next().await? {
            match step {
                Either::Left(done) => affected += done.rows_affected(),
                Either::Right(row) => writer.push(|index| cell(&row, index, &self.limits))?,
            }
        }
        drop(rows);
        // The count of a SELECT is that of its rows, which were not affected.
        let reads = !names.is_empty() && !run.changes_rows;
        Ok(writer.finish(if reads { 0 } else { affected }))
    }

    /// How each statement runs; the first that may not is an error.
    async fn decide(&self, statements: &[Statement]) -> Result<Vec<Run>, Failed> {
        let mut runs = Vec::with_capacity(statements.len());
        for (index, statement) in statements.iter().enumerate() {
            let decided = self.decisions.decide(&statement.sql).await;
            runs.push(decided.map_err(|error| Failed { statement: index, error })?);
        }
        Ok(runs)
    }
}

impl SqlStore for PostgresSql {
    /// The protocol counts them in 16 bits (`Bind`).
    const MAX_PARAMS: usize = 65_535;

    async fn run(&self, request: SqlRequest) -> Result<Answer, Failed> {
        let runs = self.decide(&request.statements).await?;
        let mut session = self.session(&runs).await.map_err(Failed::before)?;
        // The database stops a single statement by itself, and the connection can be kept.
        let grace = if request.mode == Mode::Single { GRACE } else { Duration::ZERO };
        let deadline = Instant::now() + self.limits.statement_timeout + grace;
        let mut transaction = self.needs_transaction(&request, &runs);
        let (mut renewals, mut reconnected, mut keys_made, mut claims) = (0, false, false, 0);
        loop {
            let mut at = At { statement: 0, stage: Stage::Begin };
            let attempt = self.attempt(&mut session, &request, &runs, transaction, &mut at);
            let trouble = match timeout_at(deadline, attempt).await {
                Ok(Ok(answer)) => {
                    if runs.iter().any(|run| run.changes_schema) {
                        self.pool.distrust();
                    }
                    session.give_back();
                    return Ok(answer);
                }
                Ok(Err(trouble)) => trouble,
                Err(_) => SqlError::TimedOut.into(),
            };
            let failed = |error| Err(Failed { statement: at.statement, error });
            if matches!(trouble.error, SqlError::Lost) {
                let reads = !transaction && at.stage == Stage::Run;
                self.pool.distrust();
                if at.stage == Stage::Commit {
                    return failed(SqlError::Unknown { keyed: request.keyed.is_some() });
                }
                // Nothing has happened yet: the server may have been started anew since the connection was used.
                if reconnected || !(reads || at.stage == Stage::Begin) {
                    return failed(SqlError::Lost);
                }
                reconnected = true;
                session = self.session(&runs).await.map_err(Failed::before)?;
                continue;
            }
            let renews = trouble.may_be_stale && renewals < RENEWALS;
            // There may be rows that nobody has read; the connection is closed, and what it did is rolled back.
            let unknown =
                matches!(trouble.error, SqlError::TooMuch(_) | SqlError::TimedOut | SqlError::Internal(_)) && !renews;
            if unknown || (transaction && session.execute("ROLLBACK").await.is_err()) {
                return failed(trouble.error);
            }
            if renews {
                // A table may have changed under a statement that was prepared before.
                renewals += 1;
                session.clear_cached_statements().await.map_err(|error| Failed::before(sql_error(&error)))?;
            } else if trouble.misses_keys && !keys_made {
                keys_made = true;
                keys::create(&mut session).await.map_err(Failed::before)?;
            } else if trouble.is_conflict() && at.stage == Stage::Begin && claims < CLAIMS {
                // Another request of the same key has just been committed: a transaction that begins now sees its answer.
                claims += 1;
            } else if trouble.refuses_transaction && transaction && self.may_leave_transaction(&request) {
                transaction = false;
            } else {
                session.give_back();
                return failed(trouble.error);
            }
        }
    }

    type Transaction = Transaction;

    fn max_transactions(&self) -> usize {
        self.limits.max_transactions()
    }

    async fn begin(&self, isolation: Option<Isolation>) -> Result<Transaction, SqlError> {
        Transaction::begin(self, isolation).await
    }

    async fn run_in(
        &self,
        transaction: Transaction,
        request: SqlRequest,
        deadline: Instant,
    ) -> Result<(Answer, Transaction), Failed> {
        transaction.run(self, request, deadline).await
    }

    async fn commit(&self, transaction: Transaction) -> Result<(), SqlError> {
        transaction.commit(self).await
    }

    async fn roll_back(&self, transaction: Transaction) {
        transaction.roll_back().await;
    }

    async fn ping(&self) -> Result<(), String> {
        match self.pool.is_replica().await {
            Ok(true) if !self.access.read_only => {
                Err("PostgreSQL: it is a replica, which takes no writes: name the primary, or give --read-only"
                    .to_owned())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(format!("PostgreSQL: {error}")),
        }
    }
}

/// How far an attempt has come.
struct At {
    statement: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No statement of the request has run.
    Begin,
    /// Statements run.
    Run,
    /// The commit is on its way.
    Commit,
}

fn cell(row: &sqlx::postgres::PgRow, index: usize, limits: &Limits) -> Result<Cell, SqlError> {
    let raw = row.try_get_raw(index).map_err(|error| sql_error(&error))?;
    if raw.is_null() {
        return Ok(Cell::null());
    }
    let info = raw.type_info().into_owned();
    let bytes = raw.as_bytes().map_err(|error| SqlError::Internal(error.to_string()))?;
    let read = decode::cell(bytes, &info, limits.max_result_bytes);
    read.map_err(|error| error.of_column(row.column(index).name(), &info))
}
