//! SQL on a SQLite file, for development and for services without a server.
//!
//! Write-ahead log, synchronized on every commit, so that acknowledged changes are on the disk. Statements run on
//! blocking threads, each on a connection from a pool.

mod authorizer;
mod errors;
mod keys;
mod pool;
mod transaction;
mod values;

use std::path::Path;
use std::time::Instant;

use rusqlite::{CachedStatement, Connection};

use super::{
    Answer, Failed, Isolation, Mode, Outcome, ResultWriter, SqlAccess, SqlError, SqlRequest, SqlStore, Statement,
};
use crate::{Limits, ServicesError};
use errors::sql_error;
use pool::{Pool, Pooled};
use transaction::Transaction;

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
    /// SQLite's default limit (`SQLITE_MAX_VARIABLE_NUMBER`).
    const MAX_PARAMS: usize = 32_766;

    async fn run(&self, request: SqlRequest) -> Result<Answer, Failed> {
        let connection = self.pool.acquire().await.map_err(Failed::before)?;
        let limits = self.limits.clone();
        let interrupter = connection.interrupter();
        let work = move || run(connection, &request, &limits);
        let done = tokio::task::spawn_blocking(work).await;
        interrupter.defuse();
        done.map_err(|error| Failed::before(SqlError::Internal(error.to_string())))?
    }

    type Transaction = Transaction;

    fn max_transactions(&self) -> usize {
        if self.pool.is_read_only() { self.limits.max_transactions() } else { 1 }
    }

    async fn begin(&self, _: Option<Isolation>) -> Result<Transaction, SqlError> {
        Transaction::begin(self.pool.acquire().await?).await
    }

    async fn run_in(
        &self,
        transaction: Transaction,
        request: SqlRequest,
        deadline: tokio::time::Instant,
    ) -> Result<(Answer, Transaction), Failed> {
        transaction.run(request, self.limits.clone(), deadline.into_std()).await
    }

    async fn commit(&self, transaction: Transaction) -> Result<(), SqlError> {
        transaction.commit(Instant::now() + self.limits.statement_timeout).await
    }

    async fn roll_back(&self, transaction: Transaction) {
        transaction.roll_back().await;
    }

    async fn ping(&self) -> Result<(), String> {
        let pool = self.pool.clone();
        tokio::task::spawn_blocking(move || pool.ping()).await.map_err(|error| error.to_string())?
    }
}

fn run(mut pooled: Pooled, request: &SqlRequest, limits: &Limits) -> Result<Answer, Failed> {
    let result = run_on(&mut pooled, request, limits);
    if result.is_err() && pooled.wants_fresh() {
        // Nothing has happened: statements before the refused one were rolled back with it.
        pooled.refresh().map_err(|error| Failed::before(SqlError::Internal(error.to_string())))?;
        return run_on(&mut pooled, request, limits);
    }
    result
}

fn run_on(pooled: &mut Pooled, request: &SqlRequest, limits: &Limits) -> Result<Answer, Failed> {
    pooled.set_deadline(Instant::now() + limits.statement_timeout);
    let transaction = needs_transaction(pooled, request)?;
    if transaction {
        // Begins as a writer, because a reader that later fails to become one would have to start over.
        let begin = if pooled.is_read_only() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        pooled.control(begin).map_err(|error| Failed::before(sql_error(error)))?;
    }
    pooled.set_vacuuming(!transaction && is_vacuum(&request.statements[0].sql));
    let result = run_all(pooled, request, limits);
    pooled.set_vacuuming(false);
    let result = result.and_then(|answer| {
        if !transaction {
            return Ok(answer);
        }
        let last = request.statements.len().saturating_sub(1);
        pooled.control("COMMIT").map_err(|error| Failed::of(last, sql_error(error)))?;
        Ok(answer)
    });
    if result.is_err() {
        pooled.roll_back();
    }
    result
}

/// Reports whether the request runs in a transaction, so that it is committed only when there is an answer.
fn needs_transaction(pooled: &Pooled, request: &SqlRequest) -> Result<bool, Failed> {
    if request.mode == Mode::Transaction || request.keyed.is_some() {
        return Ok(true);
    }
    let sql = &request.statements[0].sql;
    // VACUUM is the one statement that a transaction refuses, and it has no result.
    if is_vacuum(sql) {
        return Ok(false);
    }
    match pooled.connection().prepare_cached(sql) {
        Ok(prepared) => Ok(!prepared.readonly()),
        Err(error) => Err(Failed::before(explained(pooled, sql_error(error)))),
    }
}

/// Reports whether a statement is a VACUUM: its first word behind blanks and comments.
fn is_vacuum(sql: &str) -> bool {
    let mut rest = sql.trim_start();
    loop {
        let behind = match (rest.strip_prefix("--"), rest.strip_prefix("/*")) {
            (Some(line), _) => line.split_once('\n'),
            (_, Some(block)) => block.split_once("*/"),
            (None, None) => break,
        };
        rest = behind.map_or("", |(_, behind)| behind.trim_start());
    }
    rest.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("vacuum"))
}

fn run_all(pooled: &mut Pooled, request: &SqlRequest, limits: &Limits) -> Result<Answer, Failed> {
    // A read-only request changes nothing, so it needs no key.
    let keyed = request.keyed.as_ref().filter(|_| !pooled.is_read_only());
    if let Some(keyed) = keyed {
        let found = pooled.own(|db| keys::find(db, &keyed.key)).map_err(|error| Failed::before(sql_error(error)))?;
        match found {
            Some(found) if found.request == keyed.request => {
                return Ok(Answer { body: found.answer, replayed: true });
            }
            Some(_) => return Err(Failed::before(SqlError::KeyReused)),
            None => {}
        }
    }
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(request.statements.len());
    let mut taken = 0;
    for (index, statement) in request.statements.iter().enumerate() {
        if pooled.is_over() {
            return Err(Failed::of(index, SqlError::TimedOut));
        }
        let ran = run_one(pooled.connection(), statement, limits, taken).and_then(|outcome| {
            statement.check(&outcome)?;
            Ok(outcome)
        });
        let outcome = ran.map_err(|error| Failed::of(index, explained(pooled, error)))?;
        taken += outcome.rows.len();
        outcomes.push(outcome);
    }
    let body = (request.answer)(&outcomes);
    if let Some(keyed) = keyed {
        pooled.own(|db| keys::keep(db, keyed, &body)).map_err(|error| Failed::before(sql_error(error)))?;
    }
    Ok(Answer { body, replayed: false })
}

/// Adds the reason of a refusal to an error, because SQLite does not report it.
fn explained(pooled: &Pooled, error: SqlError) -> SqlError {
    match error {
        // The second text is that of a VACUUM, which runs statements of its own.
        SqlError::Forbidden(text) if matches!(text.as_str(), "not authorized" | "authorization denied") => {
            SqlError::Forbidden(pooled.refusal().to_owned())
        }
        other => other,
    }
}

fn run_one(connection: &Connection, statement: &Statement, limits: &Limits, taken: usize) -> Result<Outcome, SqlError> {
    let before = connection.total_changes();
    let mut prepared = connection.prepare_cached(&statement.sql).map_err(sql_error)?;
    bind(&mut prepared, statement)?;
    // A statement whose table has changed is compiled again by its first step, and may have other columns then.
    let mut shape: Option<(ResultWriter, Vec<bool>)> = None;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(sql_error)? {
        let (writer, booleans) = shape.get_or_insert_with(|| shape_of(row.as_ref(), limits, taken));
        writer.push(|index| {
            let value = row.get_ref(index).map_err(sql_error)?;
            ResultWriter::require_room(values::length(value), limits)?;
            values::to_cell(value, booleans[index]).ok_or_else(|| values::no_utf8(row.as_ref(), index))
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

/// Binds by position, and `$1` as `?1`, so that statements for PostgreSQL work here.
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
        let text = statement.texts.get(position - 1).map(|text| text.get().trim());
        let bound = values::from_json(value, text)
            .map_err(|reason| SqlError::Statement(format!("parameter {position} {reason}")))?;
        prepared.raw_bind_parameter(index, bound).map_err(sql_error)?;
    }
    if used < statement.params.len() {
        return wrong(format!("{} parameters were given for {used} placeholders", statement.params.len()));
    }
    Ok(())
}
