//! Jobs and what became of them, in a SQLite file.

use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::job::Job;
use crate::ServicesError;
use crate::sqlite_file::SqliteFile;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS jobs (
        name TEXT PRIMARY KEY, schedule TEXT NOT NULL, module TEXT NOT NULL, path TEXT NOT NULL, method TEXT NOT NULL,
        enabled INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS runs (
        id INTEGER PRIMARY KEY, job TEXT NOT NULL, cause TEXT NOT NULL, started TEXT NOT NULL, duration_ms INTEGER NOT NULL,
        status INTEGER, error TEXT
    );
    CREATE INDEX IF NOT EXISTS runs_by_job ON runs (job, id);";

const COLUMNS: &str = "name, schedule, module, path, method, enabled";

/// How many runs of a job are remembered.
pub(crate) const REMEMBERED_RUNS: usize = 100;

/// One call of a job's route.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    /// `schedule` or `manual`.
    pub(crate) cause: String,
    pub(crate) started: String,
    pub(crate) duration_ms: i64,
    /// What the module answered; none when there was no answer.
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<String>,
}

/// The jobs and their runs.
#[derive(Clone)]
pub(crate) struct Book(SqliteFile);

type Stored<T> = Result<T, String>;

impl Book {
    pub(crate) fn open(path: &Path) -> Result<Self, ServicesError> {
        SqliteFile::open(path, SCHEMA).map(Self)
    }

    pub(crate) async fn jobs(&self) -> Stored<Vec<Job>> {
        let jobs = self.0.call(|db| {
            let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} FROM jobs ORDER BY name"))?;
            statement.query_map([], job)?.collect()
        });
        jobs.await
    }

    pub(crate) async fn job(&self, name: &str) -> Stored<Option<Job>> {
        let name = name.to_owned();
        let found = self.0.call(move |db| {
            let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} FROM jobs WHERE name = ?"))?;
            statement.query_row([name], job).optional()
        });
        found.await
    }

    /// Adds a job, unless there is one of its name.
    pub(crate) async fn add(&self, job: Job) -> Stored<bool> {
        self.store("INSERT OR IGNORE", job).await
    }

    pub(crate) async fn replace(&self, job: Job) -> Stored<bool> {
        self.store("INSERT OR REPLACE", job).await
    }

    async fn store(&self, verb: &'static str, job: Job) -> Stored<bool> {
        let store = self.0.call(move |db| {
            let sql = format!("{verb} INTO jobs ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)");
            let values = params![job.name, job.schedule, job.module, job.path, job.method, job.enabled];
            Ok(db.prepare_cached(&sql)?.execute(values)? == 1)
        });
        store.await
    }

    /// Removes a job with its history.
    pub(crate) async fn remove(&self, name: &str) -> Stored<bool> {
        let name = name.to_owned();
        let remove = self.0.call(move |db| {
            let transaction = db.transaction()?;
            let removed = transaction.execute("DELETE FROM jobs WHERE name = ?", [&name])? == 1;
            transaction.execute("DELETE FROM runs WHERE job = ?", [&name])?;
            transaction.commit()?;
            Ok(removed)
        });
        remove.await
    }

    /// Remembers a run, and forgets the oldest.
    pub(crate) async fn note(&self, name: &str, run: Run) -> Stored<()> {
        let name = name.to_owned();
        let note = self.0.call(move |db| {
            let transaction = db.transaction()?;
            transaction.execute(
                "INSERT INTO runs (job, cause, started, duration_ms, status, error)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM jobs WHERE name = ?1)",
                params![name, run.cause, run.started, run.duration_ms, run.status, run.error],
            )?;
            transaction.execute(
                "DELETE FROM runs WHERE job = ?1 AND id <= (SELECT id FROM runs WHERE job = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
                params![name, i64::try_from(REMEMBERED_RUNS).unwrap_or(i64::MAX)],
            )?;
            transaction.commit()
        });
        note.await
    }

    /// The runs of a job, newest first.
    pub(crate) async fn runs(&self, name: &str, limit: usize) -> Stored<Vec<Run>> {
        let name = name.to_owned();
        let runs = self.0.call(move |db| {
            let sql =
                "SELECT cause, started, duration_ms, status, error FROM runs WHERE job = ? ORDER BY id DESC LIMIT ?";
            let mut statement = db.prepare_cached(sql)?;
            let rows = statement.query_map(params![name, i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(Run {
                    cause: row.get(0)?,
                    started: row.get(1)?,
                    duration_ms: row.get(2)?,
                    status: row.get(3)?,
                    error: row.get(4)?,
                })
            })?;
            rows.collect()
        });
        runs.await
    }
}

fn job(row: &Row<'_>) -> rusqlite::Result<Job> {
    Ok(Job {
        name: row.get(0)?,
        schedule: row.get(1)?,
        module: row.get(2)?,
        path: row.get(3)?,
        method: row.get(4)?,
        enabled: row.get(5)?,
    })
}

/// A time as it is shown and stored.
pub(crate) fn iso(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}
