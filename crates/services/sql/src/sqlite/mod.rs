//! SQL on a SQLite file, for development and for services without a server.
//!
//! Write-ahead log, synchronized on every commit, so that acknowledged changes are on the disk. Statements run on
//! blocking threads, each on a connection from a pool. A connection is an instance of SQLite in WebAssembly, which bounds
//! its memory and time: see `tenon_sqlite`.

mod authorizer;
mod errors;
mod foreign_keys;
pub(crate) mod functions;
mod keys;
mod pool;
mod transaction;
mod values;

use std::path::Path;
use std::time::Instant;

use tenon_service::http::charge::Charge;
use tenon_service::store_error::StoreFailure;
use tenon_service::{Limits, ServicesError, sqlite_file};
use tenon_sqlite::{Connection, Prepared, ValueRef};

use super::{
    Failed, Isolation, Mode, Outcome, ResultWriter, RowForm, SqlAccess, SqlAnswer, SqlError, SqlRequest, SqlStore,
    Statement,
};
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
    /// Opens a file, or a database in memory for the path `:memory:`. The machine code of SQLite is stored in `cache`.
    pub(crate) fn open(
        path: &Path,
        access: SqlAccess,
        limits: Limits,
        cache: Option<&Path>,
    ) -> Result<Self, ServicesError> {
        Ok(Self { pool: Pool::open(path, access, &limits, sqlite_file::library(cache)?)?, limits })
    }
}

impl SqlStore for SqliteSql {
    /// SQLite's default limit (`SQLITE_MAX_VARIABLE_NUMBER`).
    const MAX_PARAMS: usize = 32_766;

    async fn run(&self, request: SqlRequest) -> Result<SqlAnswer, Failed> {
        let mut connection = self.pool.acquire().await.map_err(Failed::before)?;
        let limits = self.limits.clone();
        let interrupter = connection.interrupter();
        let work = move || {
            let result = run(&mut connection, &request, &limits);
            connection.settle();
            result
        };
        let done = tokio::task::spawn_blocking(work).await;
        interrupter.defuse();
        done.map_err(|error| Failed::before(SqlError::Internal(error.to_string())))?
    }

    type Transaction = Transaction;

    fn max_transactions(&self) -> usize {
        if self.pool.is_read_only() { self.limits.max_transactions() } else { 1 }
    }

    async fn begin(&self, _: Option<Isolation>, foreign_keys: bool) -> Result<Transaction, SqlError> {
        Transaction::begin(self.pool.acquire().await?, foreign_keys).await
    }

    async fn run_in(
        &self,
        transaction: Transaction,
        request: SqlRequest,
        deadline: tokio::time::Instant,
    ) -> Result<(SqlAnswer, Transaction), Failed> {
        transaction.run(request, self.limits.clone(), deadline.into_std()).await
    }

    async fn commit(&self, transaction: Transaction) -> Result<(), SqlError> {
        transaction.commit(Instant::now() + self.limits.statement_timeout).await
    }

    async fn roll_back(&self, transaction: Transaction) {
        transaction.roll_back().await;
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        let pool = self.pool.clone();
        tokio::task::spawn_blocking(move || pool.ping()).await.map_err(StoreFailure::new)?
    }
}

fn run(pooled: &mut Pooled, request: &SqlRequest, limits: &Limits) -> Result<SqlAnswer, Failed> {
    let result = run_on(pooled, request, limits);
    if result.is_err() && pooled.wants_fresh() {
        // Nothing has happened: statements before the refused one were rolled back with it.
        pooled.refresh().map_err(|error| Failed::before(sql_error(error)))?;
        return run_on(pooled, request, limits);
    }
    result
}

fn run_on(pooled: &mut Pooled, request: &SqlRequest, limits: &Limits) -> Result<SqlAnswer, Failed> {
    pooled.set_deadline(Instant::now() + limits.statement_timeout);
    pooled.refusal();
    let transaction = needs_transaction(pooled, request)?;
    if !request.foreign_keys {
        foreign_keys::turn_off(pooled).map_err(Failed::before)?;
    }
    if transaction {
        // Begins as a writer, because a reader that later fails to become one would have to start over.
        let begin = if pooled.access().read_only { "BEGIN" } else { "BEGIN IMMEDIATE" };
        pooled.control(begin).map_err(|error| Failed::before(sql_error(error)))?;
    }
    let before = match request.foreign_keys {
        true => Ok(None),
        false => foreign_keys::violations(pooled).map(Some).map_err(Failed::before),
    };
    pooled.set_vacuuming(!transaction && is_vacuum(&request.statements[0].sql));
    let result = before.and_then(|before| Ok((run_all(pooled, request, limits)?, before)));
    pooled.set_vacuuming(false);
    let result = result.and_then(|(answer, before)| {
        if !transaction {
            return Ok(answer);
        }
        if let Some(before) = &before {
            foreign_keys::require_no_more(pooled, before).map_err(Failed::before)?;
        }
        let last = request.statements.len().saturating_sub(1);
        pooled.commit().map_err(|error| Failed::of(last, error))?;
        Ok(answer)
    });
    if result.is_err() {
        pooled.roll_back();
    }
    result
}

/// Reports whether the request runs in a transaction, so that it is committed only when there is an answer.
fn needs_transaction(pooled: &mut Pooled, request: &SqlRequest) -> Result<bool, Failed> {
    if request.mode == Mode::Transaction || request.keyed.is_some() {
        return Ok(true);
    }
    let sql = &request.statements[0].sql;
    // VACUUM is the one statement that a transaction refuses, and it has no result.
    if is_vacuum(sql) {
        return Ok(false);
    }
    let connection = pooled.connection();
    let reads = connection.prepare(sql).and_then(|prepared| {
        let reads = connection.is_read_only(prepared)?;
        connection.finish(prepared)?;
        Ok(reads)
    });
    match reads {
        Ok(reads) => Ok(!reads),
        Err(error) => Err(Failed::before(explained(pooled, sql_error(error)))),
    }
}

/// Reports whether a statement is a VACUUM: its first word after blanks and comments.
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

fn run_all(pooled: &mut Pooled, request: &SqlRequest, limits: &Limits) -> Result<SqlAnswer, Failed> {
    // A read-only request changes nothing, so it needs no key.
    let keyed = request.keyed.as_ref().filter(|_| !pooled.access().read_only);
    if let Some(keyed) = keyed {
        let found = pooled.own(|db| keys::find(db, &keyed.key)).map_err(|error| Failed::before(sql_error(error)))?;
        match found {
            Some(found) if found.request == keyed.request => {
                return Ok(SqlAnswer { body: found.answer, replayed: true });
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
        let room = Room { limits, charge: &request.charge, taken };
        let ran = run_one(pooled, statement, &room).and_then(|outcome| {
            statement.check(&outcome)?;
            Ok(outcome)
        });
        let outcome = ran.map_err(|error| Failed::of(index, explained(pooled, error)))?;
        taken += outcome.rows.len();
        outcomes.push(outcome);
    }
    let body = request.answer_of(&outcomes).map_err(Failed::before)?;
    if let Some(keyed) = keyed {
        pooled.own(|db| keys::keep(db, keyed, &body)).map_err(|error| Failed::before(sql_error(error)))?;
    }
    Ok(SqlAnswer { body, replayed: false })
}

/// Gives the reason of a refusal in place of SQLite's text, which names tables and columns, or nothing at all.
fn explained(pooled: &Pooled, error: SqlError) -> SqlError {
    match (error, pooled.refusal()) {
        (SqlError::Forbidden(_), Some(reason)) => SqlError::Forbidden(reason.to_owned()),
        // SQLite reports a refused function as an error of the statement.
        (SqlError::Database(_), Some(reason @ authorizer::FUNCTION)) => SqlError::Forbidden(reason.to_owned()),
        (error, _) => error,
    }
}

/// The bounds of a result.
struct Room<'a> {
    limits: &'a Limits,
    charge: &'a Charge,
    /// Bytes of the earlier results in the same answer.
    taken: usize,
}

fn run_one(pooled: &mut Pooled, statement: &Statement, room: &Room<'_>) -> Result<Outcome, SqlError> {
    let connection = pooled.connection();
    let before = connection.total_changes().map_err(sql_error)?;
    let prepared = connection.prepare(&statement.sql).map_err(sql_error)?;
    let ran = run_prepared(pooled, prepared, statement, room);
    let connection = pooled.connection();
    if connection.ended().is_none() {
        connection.finish(prepared).map_err(sql_error)?;
    }
    let writer = ran?;
    // `changes` keeps the count of an earlier statement when this one changed nothing.
    let is_same = connection.total_changes().map_err(sql_error)? == before;
    Ok(writer.finish(if is_same { 0 } else { connection.changes().map_err(sql_error)? }))
}

fn run_prepared(
    pooled: &mut Pooled,
    prepared: Prepared,
    statement: &Statement,
    room: &Room<'_>,
) -> Result<ResultWriter, SqlError> {
    bind(pooled.connection(), prepared, statement)?;
    require_listed(pooled, prepared, &statement.sql)?;
    let before = pooled.connection().renewals(prepared).map_err(sql_error)?;
    let mut is_row = pooled.connection().step(prepared).map_err(sql_error)?;
    // A statement whose table has changed is compiled again by its first step, and may open others and have other columns
    // then.
    if pooled.connection().renewals(prepared).map_err(sql_error)? != before {
        require_listed(pooled, prepared, &statement.sql)?;
    }
    let mut shape = Shape::of(pooled.connection(), prepared, statement.row_form, room)?;
    while is_row {
        let row = pooled.connection().row();
        shape.writer.push(|index| {
            let value: ValueRef<'_> = row.get(index).map_err(sql_error)?;
            ResultWriter::require_room(values::length(value), room.limits)?;
            values::to_cell(value, shape.booleans[index]).ok_or_else(|| values::no_utf8(&shape.names[index]))
        })?;
        is_row = pooled.connection().step(prepared).map_err(sql_error)?;
    }
    Ok(shape.writer)
}

/// Checks the tables that the compiled statement opens, because SQLite's authorizer does not see all of them.
fn require_listed(pooled: &mut Pooled, prepared: Prepared, sql: &str) -> Result<(), SqlError> {
    if !pooled.access().is_listed() {
        return Ok(());
    }
    for (schema, table) in pooled.connection().opened(prepared).map_err(sql_error)? {
        // An INSERT reads and writes the counter of its own table. Only a statement with the name can open others' counters.
        if table == authorizer::COUNTERS && !sql.to_ascii_lowercase().contains(authorizer::COUNTERS) {
            continue;
        }
        let shadowed = pooled.connection().shadowed(&table).map_err(sql_error)?;
        if !authorizer::may_open(pooled.access(), &schema, &table, shadowed) {
            return Err(SqlError::Forbidden(authorizer::UNLISTED.to_owned()));
        }
    }
    Ok(())
}

/// The columns of a result.
struct Shape {
    writer: ResultWriter,
    names: Vec<String>,
    /// SQLite has no booleans; these columns are declared as such.
    booleans: Vec<bool>,
}

impl Shape {
    fn of(connection: &mut Connection, prepared: Prepared, form: RowForm, room: &Room<'_>) -> Result<Self, SqlError> {
        let columns = connection.columns(prepared).map_err(sql_error)?;
        let booleans = columns.iter().map(|column| values::is_boolean(column.declared.as_deref())).collect();
        let names: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        // The writer keeps each name three times: as it is, for the answer, and as a key in JSON.
        room.charge.take(names.iter().map(|name| 10 * name.len() + 100).sum())?;
        let writer = ResultWriter::new(&names, form, room.limits, room.taken).charged(room.charge.clone());
        Ok(Self { writer, names, booleans })
    }
}

/// Binds by position, and `$1` as `?1`, so that statements for PostgreSQL work here.
fn bind(connection: &mut Connection, prepared: Prepared, statement: &Statement) -> Result<(), SqlError> {
    let wrong = |text: String| Err(SqlError::Statement(text));
    let mut used = 0;
    for (index, name) in connection.parameters(prepared).map_err(sql_error)?.into_iter().enumerate() {
        let index = index + 1;
        let position = match &name {
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
        connection.bind(prepared, index, &bound).map_err(sql_error)?;
    }
    if used < statement.params.len() {
        return wrong(format!("{} parameters were given for {used} placeholders", statement.params.len()));
    }
    Ok(())
}
