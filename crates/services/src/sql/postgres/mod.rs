//! SQL on PostgreSQL.
//!
//! Statements are prepared, so that the database says of which types their parameters are and JSON values can be bound as
//! those. Values travel in PostgreSQL's binary format, in `encode` and `decode`.

mod access;
mod decode;
mod encode;
mod numeric;
mod session;
mod time;

use futures::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Column, Connection, Either, Executor, Row, SqlSafeStr, Statement as _, ValueRef};

use super::{Cell, Failed, Mode, Outcome, ResultWriter, SqlAccess, SqlError, SqlStore, Statement};
use crate::{Limits, ServicesError, SqlParser};
use access::{Decisions, Run};
use session::Session;

/// How much longer than the database's own time-out is waited before the connection is given up.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// A PostgreSQL database.
#[derive(Clone)]
pub(crate) struct PostgresSql {
    pool: PgPool,
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
        let connected = decisions.clone();
        let pool = PgPoolOptions::new()
            .max_connections(limits.pool_size)
            .acquire_timeout(limits.queue_timeout)
            .after_connect(move |connection, _| {
                let decisions = connected.clone();
                Box::pin(async move { decisions.connected(connection).await })
            })
            .connect_with(options.clone())
            .await;
        match pool {
            Ok(pool) => Ok(Self { pool, access, decisions, limits }),
            Err(sqlx::Error::PoolTimedOut) => Err(fail(why_unreachable(&options, limits.queue_timeout).await)),
            Err(error) => Err(fail(error.to_string())),
        }
    }

    async fn run_in_time(
        &self,
        connection: &mut PgConnection,
        statements: &[Statement],
        runs: &[Run],
        mode: Mode,
    ) -> Result<Vec<Outcome>, Failed> {
        let run = self.run_on(connection, statements, runs, mode);
        let result = tokio::time::timeout(self.limits.statement_timeout + GRACE, run).await;
        result.unwrap_or(Err(Failed::before(SqlError::TimedOut)))
    }

    async fn run_on(
        &self,
        connection: &mut PgConnection,
        statements: &[Statement],
        runs: &[Run],
        mode: Mode,
    ) -> Result<Vec<Outcome>, Failed> {
        let guarded = self.access.read_only || self.access.is_guarded();
        if mode == Mode::Single && !guarded {
            let outcome = self.run_one(connection, &statements[0], runs[0], 0).await.map_err(Failed::before)?;
            return Ok(vec![outcome]);
        }
        // What a statement sets for itself ends with the transaction, and a read-only one cannot become another.
        let begin = if self.access.read_only { "BEGIN READ ONLY" } else { "BEGIN" };
        let mut transaction = connection.begin_with(begin).await.map_err(|error| Failed::before(sql_error(&error)))?;
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(statements.len());
        let mut taken = 0;
        for (index, (statement, run)) in statements.iter().zip(runs).enumerate() {
            let outcome = self.run_one(&mut transaction, statement, *run, taken).await;
            let outcome = outcome.map_err(|error| Failed { statement: index, error })?;
            taken += outcome.rows.len();
            outcomes.push(outcome);
        }
        let last = statements.len() - 1;
        transaction.commit().await.map_err(|error| Failed { statement: last, error: sql_error(&error) })?;
        Ok(outcomes)
    }

    async fn run_one(
        &self,
        connection: &mut PgConnection,
        statement: &Statement,
        run: Run,
        taken: usize,
    ) -> Result<Outcome, SqlError> {
        let sql = AssertSqlSafe(statement.sql.as_str()).into_sql_str();
        let prepared = connection.prepare(sql).await.map_err(|error| sql_error(&error))?;
        let types = match prepared.parameters() {
            Some(Either::Left(types)) => types,
            _ => &[],
        };
        let arguments = encode::arguments(&statement.params, types)?;
        let names: Vec<String> = prepared.columns().iter().map(|column| column.name().to_owned()).collect();
        let mut writer = ResultWriter::new(&names, &self.limits, taken);
        let mut affected = 0;
        let mut rows = connection.fetch_many(prepared.query_with(arguments));
        while let Some(step) = rows.try_next().await.map_err(|error| sql_error(&error))? {
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
    async fn run(&self, statements: Vec<Statement>, mode: Mode) -> Result<Vec<Outcome>, Failed> {
        let before = |error: sqlx::Error| Failed::before(sql_error(&error));
        let runs = self.decide(&statements).await?;
        let mut session = Session::of(self.pool.acquire().await.map_err(before)?, &runs).await.map_err(before)?;
        let mut result = self.run_in_time(&mut session, &statements, &runs, mode).await;
        let stale = |error: &SqlError| matches!(error, SqlError::Statement(text) if text.starts_with(STALE_PLAN));
        if result.as_ref().is_err_and(|failed| stale(&failed.error)) {
            // A table has changed under a statement that was prepared before. Nothing has happened yet.
            session.clear_cached_statements().await.map_err(before)?;
            result = self.run_in_time(&mut session, &statements, &runs, mode).await;
        }
        // Otherwise there may be rows that nobody has read.
        if !matches!(
            &result,
            Err(Failed { error: SqlError::TooMuch(_) | SqlError::TimedOut | SqlError::Internal(_), .. })
        ) {
            session.give_back();
        }
        result
    }

    async fn ping(&self) -> Result<(), String> {
        let statement = Statement { sql: "SELECT 1".into(), params: Vec::new() };
        self.run(vec![statement], Mode::Single).await.map(drop).map_err(|failed| format!("{:?}", failed.error))
    }
}

/// What PostgreSQL says of a prepared statement whose table has changed.
const STALE_PLAN: &str = "cached plan must not change result type";

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

/// What the database says is the client's, unless it speaks of itself.
fn sql_error(error: &sqlx::Error) -> SqlError {
    match error {
        sqlx::Error::Database(database) => {
            let message = database.message().to_string();
            match database.code().as_deref() {
                Some("57014") => SqlError::TimedOut,
                // No connections left; shutting down; starting up.
                Some("53300" | "57P01" | "57P02" | "57P03") => SqlError::Busy,
                // A deadlock, or rows that another transaction has just changed: the same again may well pass.
                Some("40001" | "40P01" | "55P03") => SqlError::Busy,
                Some("25006" | "42501") => SqlError::Forbidden(message),
                // Connection exceptions, exhausted resources, failures of the system, errors of PostgreSQL itself.
                Some(code) if ["08", "53", "58", "XX", "F0", "28"].iter().any(|class| code.starts_with(class)) => {
                    SqlError::Internal(format!("PostgreSQL: {message}"))
                }
                _ => SqlError::Statement(message),
            }
        }
        sqlx::Error::PoolTimedOut => SqlError::Busy,
        other => SqlError::Internal(format!("PostgreSQL: {other}")),
    }
}

/// What keeps a connection from being made, of which the pool, which tries until its time is up, says nothing. System and
/// database errors have no password in them.
async fn why_unreachable(options: &PgConnectOptions, time: std::time::Duration) -> String {
    match tokio::time::timeout(time, PgConnection::connect_with(options)).await {
        Ok(Err(error)) => error.to_string(),
        _ => format!("no connection within {} s", time.as_secs()),
    }
}
