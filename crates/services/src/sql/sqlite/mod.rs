//! SQL on a SQLite file, for development and for what needs no server.
//!
//! Write-ahead log, synchronized on every commit: what was acknowledged is on the disk. Statements run on threads that may
//! block, each on a connection of its own out of a pool.

mod authorizer;
mod pool;
mod values;

use std::path::Path;
use std::time::Instant;

use rusqlite::{CachedStatement, Connection, ErrorCode};

use super::{Failed, Mode, NO_STATEMENT, Outcome, ResultWriter, SqlAccess, SqlError, SqlStore, Statement};
use crate::{Limits, ServicesError};
use pool::{Pool, Pooled};

/// A SQLite file.
#[derive(Clone)]
pub(crate) struct SqliteSql {
    pool: Pool,
    limits: Limits,
}

impl SqliteSql {
    pub(crate) fn open(path: &Path, access: SqlAccess, limits: Limits) -> Result<Self, ServicesError> {
        Ok(Self { pool: Pool::open(path, access, &limits)?, limits })
    }
}

impl SqlStore for SqliteSql {
    async fn run(&self, statements: Vec<Statement>, mode: Mode) -> Result<Vec<Outcome>, Failed> {
        let connection = self.pool.acquire().await.map_err(Failed::before)?;
        let limits = self.limits.clone();
        let work = move || run(connection, &statements, mode, &limits);
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| Failed::before(SqlError::Internal(error.to_string())))?
    }

    async fn ping(&self) -> Result<(), String> {
        let statement = Statement { sql: "SELECT 1".into(), params: Vec::new() };
        self.run(vec![statement], Mode::Single).await.map(drop).map_err(|failed| format!("{:?}", failed.error))
    }
}

fn run(mut pooled: Pooled, statements: &[Statement], mode: Mode, limits: &Limits) -> Result<Vec<Outcome>, Failed> {
    let result = run_on(&mut pooled, statements, mode, limits);
    if result.is_err() && pooled.wants_fresh() {
        // Nothing has happened: what ran before the refused statement was rolled back with it.
        pooled.refresh().map_err(|error| Failed::before(SqlError::Internal(error.to_string())))?;
        return run_on(&mut pooled, statements, mode, limits);
    }
    result
}

fn run_on(pooled: &mut Pooled, statements: &[Statement], mode: Mode, limits: &Limits) -> Result<Vec<Outcome>, Failed> {
    pooled.set_deadline(Instant::now() + limits.statement_timeout);
    if mode == Mode::Transaction {
        // At once a writer: one that reads first and then cannot write would have to start over.
        let begin = if pooled.is_read_only() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        pooled.control(begin).map_err(|error| Failed::before(sql_error(error)))?;
    }
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(statements.len());
    let mut taken = 0;
    for (index, statement) in statements.iter().enumerate() {
        match run_one(pooled.connection(), statement, limits, taken) {
            Ok(outcome) => {
                taken += outcome.rows.len();
                outcomes.push(outcome);
            }
            Err(error) => {
                let error = match error {
                    SqlError::Forbidden(text) if text == "not authorized" => {
                        SqlError::Forbidden(pooled.refusal().to_owned())
                    }
                    other => other,
                };
                pooled.roll_back();
                return Err(Failed { statement: index, error });
            }
        }
    }
    if mode == Mode::Transaction {
        let last = statements.len().saturating_sub(1);
        if let Err(error) = pooled.control("COMMIT") {
            pooled.roll_back();
            return Err(Failed { statement: last, error: sql_error(error) });
        }
    }
    Ok(outcomes)
}

fn run_one(connection: &Connection, statement: &Statement, limits: &Limits, taken: usize) -> Result<Outcome, SqlError> {
    let before = connection.total_changes();
    let mut prepared = connection.prepare_cached(&statement.sql).map_err(sql_error)?;
    bind(&mut prepared, statement)?;
    // A statement whose table has changed since is compiled anew by its first step, and has other columns then.
    let mut shape: Option<(ResultWriter, Vec<bool>)> = None;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(sql_error)? {
        let (writer, booleans) = shape.get_or_insert_with(|| shape_of(row.as_ref(), limits, taken));
        writer.push(|index| {
            let value = row.get_ref(index).map_err(sql_error)?;
            ResultWriter::require_room(values::length(value), limits)?;
            Ok(values::to_cell(value, booleans[index]))
        })?;
    }
    drop(rows);
    let (writer, _) = shape.unwrap_or_else(|| shape_of(&prepared, limits, taken));
    // `changes` keeps the count of an earlier statement when this one changed nothing.
    let changed = if connection.total_changes() == before { 0 } else { connection.changes() };
    Ok(writer.finish(changed))
}

/// The columns of a result, and which of them are booleans.
fn shape_of(statement: &rusqlite::Statement<'_>, limits: &Limits, taken: usize) -> (ResultWriter, Vec<bool>) {
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let booleans = statement.columns().map(|column| values::is_boolean(column.decl_type())).collect();
    (ResultWriter::new(&names, limits, taken), booleans)
}

/// Binds by position, and `$1` as `?1`: what is written for PostgreSQL means the same here.
fn bind(prepared: &mut CachedStatement<'_>, statement: &Statement) -> Result<(), SqlError> {
    let wrong = |text: String| Err(SqlError::Statement(text));
    let mut used = 0;
    for index in 1..=prepared.parameter_count() {
        let position = match prepared.parameter_name(index) {
            None => index,
            Some(name) => match name.get(1..).map(str::parse::<usize>) {
                Some(Ok(position)) if name.starts_with(['?', '$']) && position > 0 => position,
                _ => return wrong(format!("the placeholder {name} has no number: write ?1 or $1")),
            },
        };
        used = used.max(position);
        let Some(value) = statement.params.get(position - 1) else {
            return wrong(format!("there is no parameter {position}: {} were given", statement.params.len()));
        };
        prepared.raw_bind_parameter(index, values::from_json(value)).map_err(sql_error)?;
    }
    if used < statement.params.len() {
        return wrong(format!("{} parameters were given for {used} placeholders", statement.params.len()));
    }
    Ok(())
}

/// What the database says is the client's, unless the database itself is not well.
fn sql_error(error: rusqlite::Error) -> SqlError {
    let message = match &error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        rusqlite::Error::MultipleStatement => "one statement at a time; use /sql/batch for several".to_string(),
        other => other.to_string(),
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => SqlError::TimedOut,
        // What SQLite says when it is asked to run the nothing that it has made of blanks and comments.
        Some(ErrorCode::ApiMisuse) => SqlError::Statement(NO_STATEMENT.to_owned()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlError::Busy,
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => SqlError::Forbidden(message),
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::InternalMalfunction,
        ) => SqlError::Internal(format!("SQLite: {message}")),
        _ => SqlError::Statement(message),
    }
}
