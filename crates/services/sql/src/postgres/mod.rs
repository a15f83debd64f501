//! SQL on PostgreSQL.
//!
//! Statements are prepared, so that the database reports the types of their parameters and JSON values are bound with
//! these types. Values are sent in PostgreSQL's binary format, in `encode` and `decode`.

mod access;
mod decode;
mod encode;
mod errors;
mod keys;
mod meter;
mod numeric;
mod pool;
mod session;
mod time;
mod transaction;

use std::time::Duration;

use futures::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgStatement};
use sqlx::{AssertSqlSafe, Column, Connection, Either, Executor, Row, SqlSafeStr, Statement as _, ValueRef};
use tenon_service::postgres_reason::{address_of, reason, reason_at};
use tenon_service::store_error::StoreFailure;
use tenon_service::{Limits, ServicesError, SidecarFiles};
use tokio::time::{Instant, timeout_at};

use super::{
    Cell, Failed, Isolation, Mode, Outcome, ResultWriter, SqlAccess, SqlAnswer, SqlError, SqlRequest, SqlStore,
    Statement,
};
use access::{Decisions, Run};
use errors::{Trouble, sql_error};
use pool::Pool;
use session::Session;
use transaction::Transaction;

/// Time beyond the database's own timeout after which the connection is abandoned.
const GRACE: Duration = Duration::from_millis(500);

/// Bytes that PostgreSQL may send for a statement besides its rows: names, types, notices.
const BESIDES_ROWS: usize = 1 << 20;

/// Limit in bytes of a statement that stays prepared. Each connection keeps a hundred of them.
const PREPARED: usize = 16 << 10;

/// Number of attempts to claim an idempotency key that another request is using.
const CLAIMS: u32 = 3;

/// Number of reruns of a request because the schema has changed.
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
    /// Connects once, so that a wrong address, password or role is reported at the start.
    pub(crate) async fn connect(
        url: &str,
        access: SqlAccess,
        files: &SidecarFiles,
        limits: Limits,
    ) -> Result<Self, ServicesError> {
        let fail = |reason: String| ServicesError::Backend { what: "PostgreSQL", reason };
        // The parse error may repeat the URL, so it is dropped.
        let options: PgConnectOptions = url.parse().map_err(|_| fail("this is not a URL of a database".into()))?;
        let address = address_of(&options);
        let grammar = access::load(files).await?;
        let decisions = Decisions::new(grammar, access.clone(), &limits);
        let read_only = if access.read_only { "on" } else { "off" };
        let mut options = options.application_name("tenon-sidecar").options([
            ("statement_timeout", limits.statement_timeout.as_millis().to_string().as_str()),
            ("default_transaction_read_only", read_only),
            // The parser assumes these settings when it reads texts.
            ("standard_conforming_strings", "on"),
            ("TimeZone", "UTC"),
        ]);
        if let Some(role) = &access.role {
            // A startup setting, which RESET restores.
            options = options.options([("role", role)]);
        }
        match Pool::connect(options, decisions.clone(), &limits).await {
            Ok(pool) => Ok(Self { pool, access, decisions, limits }),
            Err(sqlx::Error::PoolTimedOut) => {
                Err(fail(format!("no connection to {address} within {} s", limits.queue_timeout.as_secs())))
            }
            Err(error) => Err(fail(reason_at(&address, &error))),
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
    ) -> Result<SqlAnswer, Trouble> {
        *at = At { statement: 0, stage: Stage::Begin };
        if transaction {
            session.execute(AssertSqlSafe(self.begin_sql(request.isolation)).into_sql_str()).await?;
        }
        // A read-only request changes nothing, so it needs no key.
        let keyed = request.keyed.as_ref().filter(|_| !self.access.read_only);
        if let Some(keyed) = keyed
            && let Some(answer) = keys::claim(session, keyed, &request.charge).await?
        {
            session.execute("ROLLBACK").await?;
            return Ok(answer);
        }
        at.stage = Stage::Run;
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(request.statements.len());
        let mut taken = 0;
        for (index, (statement, run)) in request.statements.iter().zip(runs).enumerate() {
            at.statement = index;
            let outcome = self.run_one(session, request, statement, *run, taken).await?;
            statement.check(&outcome)?;
            taken += outcome.rows.len();
            outcomes.push(outcome);
        }
        let body = request.answer_of(&outcomes)?;
        if let Some(keyed) = keyed {
            keys::keep(session, keyed, &body, &request.charge).await?;
        }
        if transaction {
            at.stage = Stage::Commit;
            session.execute("COMMIT").await?;
        }
        Ok(SqlAnswer { body, replayed: false })
    }

    fn begin_sql(&self, isolation: Option<Isolation>) -> String {
        let isolation = isolation.map_or_else(String::new, |level| format!(" ISOLATION LEVEL {}", level.sql()));
        let read_only = if self.access.read_only { " READ ONLY" } else { "" };
        format!("BEGIN{isolation}{read_only}")
    }

    /// Reports whether the request runs in a transaction. Every request that may write does, so that it is committed
    /// only when there is an answer.
    fn needs_transaction(&self, request: &SqlRequest, runs: &[Run]) -> bool {
        // With a list or a role, settings that a statement changes end with the transaction.
        let guarded = self.access.is_guarded();
        let writes = runs.iter().any(|run| run.writes());
        guarded || writes || request.mode == Mode::Transaction || request.keyed.is_some()
    }

    async fn session(&self, runs: &[Run]) -> Result<Session, SqlError> {
        Session::of(self.pool.acquire().await?, runs).await.map_err(|error| sql_error(&error))
    }

    /// Reports whether a statement that transactions refuse, such as `VACUUM`, may run without one. It has no result
    /// that could be refused.
    fn may_leave_transaction(&self, request: &SqlRequest) -> bool {
        let guarded = self.access.is_guarded();
        !guarded && request.mode == Mode::Single && request.keyed.is_none()
    }

    /// Runs a statement. `taken` is the number of bytes of the earlier results in the same answer.
    async fn run_one(
        &self,
        session: &mut Session,
        request: &SqlRequest,
        statement: &Statement,
        run: Run,
        taken: usize,
    ) -> Result<Outcome, Trouble> {
        let left = self.limits.max_result_bytes.saturating_sub(taken);
        // Binary forms may be larger than their JSON, and some columns are not shown.
        session.meter().allow(left.saturating_mul(2).saturating_add(BESIDES_ROWS), request.charge.apart());
        let ran = self.prepare_and_run(session, request, statement, run, taken).await;
        if let Some(error) = session.meter().error() {
            return Err(error.into());
        }
        session.meter().end();
        if statement.sql.len() > PREPARED {
            match &ran {
                Ok(_) => session.clear_cached_statements().await?,
                Err(_) => session.close_later(),
            }
        }
        ran
    }

    async fn prepare_and_run(
        &self,
        connection: &mut PgConnection,
        request: &SqlRequest,
        statement: &Statement,
        run: Run,
        taken: usize,
    ) -> Result<Outcome, Trouble> {
        let known = connection.cached_statements_size();
        let sql = AssertSqlSafe(statement.sql.as_str()).into_sql_str();
        let prepared = connection.prepare(sql).await?;
        let was_prepared = connection.cached_statements_size() == known;
        let ran = self.run_prepared(connection, &prepared, request, statement, run, taken).await;
        ran.map_err(|trouble| {
            // A statement that was just prepared had the right names and types then, so the schema has changed since.
            let may_be_stale = trouble.may_be_stale && (was_prepared || trouble.is_of_names_and_types());
            Trouble { may_be_stale, ..trouble }
        })
    }

    async fn run_prepared(
        &self,
        connection: &mut PgConnection,
        prepared: &PgStatement,
        request: &SqlRequest,
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
        let writer = ResultWriter::new(&names, statement.row_form, &self.limits, taken);
        let mut writer = writer.charged(request.charge.clone());
        let mut affected = 0;
        let mut rows = connection.fetch_many(prepared.query_with(arguments));
        while let Some(step) = rows.try_next().await? {
            match step {
                Either::Left(done) => affected += done.rows_affected(),
                Either::Right(row) => writer.push(|index| cell(&row, index, &self.limits))?,
            }
        }
        drop(rows);
        // A SELECT's count is that of its rows, which it did not affect.
        let reads = !names.is_empty() && !run.changes_rows;
        Ok(writer.finish(if reads { 0 } else { affected }))
    }

    /// Decides how each statement runs; the first refused one is an error.
    async fn decide(&self, statements: &[Statement], deadline: Instant) -> Result<Vec<Run>, Failed> {
        let mut runs = Vec::with_capacity(statements.len());
        for (index, statement) in statements.iter().enumerate() {
            let decided = self.decisions.decide(&statement.sql, deadline).await;
            runs.push(decided.map_err(|error| Failed::of(index, error))?);
        }
        Ok(runs)
    }
}

impl SqlStore for PostgresSql {
    /// The protocol counts them in 16 bits (`Bind`).
    const MAX_PARAMS: usize = 65_535;

    async fn run(&self, request: SqlRequest) -> Result<SqlAnswer, Failed> {
        require_foreign_keys(request.foreign_keys).map_err(Failed::before)?;
        let begun = Instant::now();
        let runs = self.decide(&request.statements, begun + self.limits.statement_timeout).await?;
        let deciding = begun.elapsed();
        let mut session = self.session(&runs).await.map_err(Failed::before)?;
        // The database stops a single statement by itself, and the connection can be kept.
        let grace = if request.mode == Mode::Single { GRACE } else { Duration::ZERO };
        let deadline = Instant::now() + (self.limits.statement_timeout + grace).saturating_sub(deciding);
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
            let failed = |error| {
                let is_of_statement = at.stage != Stage::Begin;
                Err(Failed { statement: is_of_statement.then_some(at.statement), error })
            };
            if matches!(trouble.error, SqlError::Lost) {
                let reads = !transaction && at.stage == Stage::Run;
                self.pool.distrust();
                if at.stage == Stage::Commit {
                    return failed(SqlError::Unknown { keyed: request.keyed.is_some() });
                }
                // Nothing has happened yet: the server may have restarted since the connection's last use.
                if reconnected || !(reads || at.stage == Stage::Begin) {
                    return failed(SqlError::Lost);
                }
                reconnected = true;
                session = self.session(&runs).await.map_err(Failed::before)?;
                continue;
            }
            let renews = trouble.may_be_stale && renewals < RENEWALS;
            // There may be unread rows, so the connection is closed, and its changes are rolled back.
            let unknown = matches!(
                trouble.error,
                SqlError::TooMuch(_) | SqlError::TimedOut | SqlError::Internal(_) | SqlError::Busy
            ) && !renews;
            if unknown || (transaction && session.execute("ROLLBACK").await.is_err()) {
                return failed(trouble.error);
            }
            if renews {
                // The schema may have changed after a statement was prepared.
                renewals += 1;
                session.clear_cached_statements().await.map_err(|error| Failed::before(sql_error(&error)))?;
            } else if trouble.misses_keys && !keys_made {
                keys_made = true;
                keys::create(&mut session).await.map_err(Failed::before)?;
            } else if trouble.is_conflict() && at.stage == Stage::Begin && claims < CLAIMS {
                // Another request with the same key has just committed: a transaction that begins now sees its answer.
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

    async fn begin(&self, isolation: Option<Isolation>, foreign_keys: bool) -> Result<Transaction, SqlError> {
        require_foreign_keys(foreign_keys)?;
        Transaction::begin(self, isolation).await
    }

    async fn run_in(
        &self,
        transaction: Transaction,
        request: SqlRequest,
        deadline: Instant,
    ) -> Result<(SqlAnswer, Transaction), Failed> {
        transaction.run(self, request, deadline).await
    }

    async fn commit(&self, transaction: Transaction) -> Result<(), SqlError> {
        transaction.commit(self).await
    }

    async fn roll_back(&self, transaction: Transaction) {
        transaction.roll_back().await;
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        match self.pool.is_replica().await {
            Ok(true) if !self.access.read_only => {
                let why = "PostgreSQL: it is a replica, which accepts no writes: name the primary, or give --read-only";
                Err(StoreFailure::new(why))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(StoreFailure::new(format_args!("PostgreSQL: {}", reason(&error)))),
        }
    }
}

/// The progress of an attempt.
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
    /// The commit was sent.
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

/// Refuses a request without foreign keys, which PostgreSQL always enforces.
fn require_foreign_keys(enforced: bool) -> Result<(), SqlError> {
    let text = "`foreign_keys` is for SQLite: in PostgreSQL, drop the constraint and add it again";
    if enforced { Ok(()) } else { Err(SqlError::Statement(text.to_owned())) }
}
