//! Cron in PostgreSQL. An advisory lock serializes the writing transactions, which are few and short. So the steps that
//! are right in SQLite are right here without further locks.

use sqlx::postgres::PgRow;
use sqlx::{PgTransaction, Row};
use tenon_service::lease::iso;
use tenon_service::postgres_tables::{self, Tables, store_error};
use tenon_service::store_error::StoreFailure;
use tenon_service::{Limits, ServicesError};

use super::invalid_job::InvalidJob;
use super::job::{Given, Job, MAX_JOBS, next_time, stored};
use super::run::{self, Ask, Attempted, Call, Outcome, Ready, Run, SCHEDULED, Stored, plan};
use super::statements::{
    ADD, ALL, ATTEMPTED, COUNT, DUE, END, FORGET, GIVE_UP, JOB, JOBS, MAKE, NEXT, ONE, PUT, READY, REMOVE, REMOVE_RUNS,
    RUN, RUNS, TAKE, WAKE, schema,
};
use super::store::{CronStore, Described, REMEMBERED_RUNS};

const SCHEMA: &str = schema!("bigserial PRIMARY KEY");

/// The number identifies these tables among advisory locks.
const LOCK: &str = "SELECT pg_advisory_xact_lock(5283920441720)";

/// Jobs and runs in a PostgreSQL database.
#[derive(Clone)]
pub(crate) struct PostgresCron(Tables);

impl PostgresCron {
    /// Connects, and makes the tables.
    pub(crate) async fn connect(url: &str, limits: &Limits) -> Result<Self, ServicesError> {
        let tables = "the tables tenon_cron_jobs and tenon_cron_runs";
        postgres_tables::open(url, limits, SCHEMA, tables).await.map(Self)
    }

    async fn begin(&self) -> Result<PgTransaction<'static>, StoreFailure> {
        let mut transaction = self.0.pool.begin().await.map_err(store_error)?;
        sqlx::query(LOCK).execute(&mut *transaction).await.map_err(store_error)?;
        Ok(transaction)
    }
}

fn get<'r, T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>>(
    row: &'r PgRow,
    at: usize,
) -> Result<T, StoreFailure> {
    row.try_get(at).map_err(store_error)
}

fn run_at(row: &PgRow, first: usize) -> Result<Run, StoreFailure> {
    let stored = Stored {
        id: get(row, first)?,
        cause: get(row, first + 1)?,
        due_ms: get(row, first + 2)?,
        started_ms: get(row, first + 3)?,
        duration_ms: get(row, first + 4)?,
        attempts: get(row, first + 5)?,
        is_leased: get::<Option<String>>(row, first + 6)?.is_some(),
        is_finished: get::<i32>(row, first + 7)? != 0,
        status: get(row, first + 8)?,
        error: get(row, first + 9)?,
    };
    Ok(stored.into())
}

fn job_at(row: &PgRow, at: usize) -> Result<Option<Job>, StoreFailure> {
    Ok(stored(get(row, at)?))
}

fn described(row: &PgRow) -> Result<Option<Described>, StoreFailure> {
    let Some(job) = job_at(row, 0)? else { return Ok(None) };
    let last = get::<Option<i64>>(row, 2)?.map(|_| run_at(row, 2)).transpose()?;
    Ok(Some(Described { job, next: get::<Option<i64>>(row, 1)?.map(iso), last }))
}

fn job_and_next(row: &PgRow) -> Result<Option<(Job, Option<i64>)>, StoreFailure> {
    let next = get(row, 1)?;
    Ok(job_at(row, 0)?.map(|job| (job, next)))
}

/// Reads rows, and skips those whose job is unreadable.
fn collect<T>(
    rows: &[PgRow],
    read: impl FnMut(&PgRow) -> Result<Option<T>, StoreFailure>,
) -> Result<Vec<T>, StoreFailure> {
    rows.iter().map(read).filter_map(Result::transpose).collect()
}

async fn put(db: &mut PgTransaction<'_>, job: &Job, next: Option<i64>) -> Result<(), StoreFailure> {
    let put = sqlx::query(PUT).bind(&job.name).bind(job.to_text()).bind(next);
    put.execute(&mut **db).await.map(drop).map_err(store_error)
}

async fn jobs_and_next(db: &mut PgTransaction<'_>) -> Result<Vec<(Job, Option<i64>)>, StoreFailure> {
    collect(&sqlx::query(ALL).fetch_all(&mut **db).await.map_err(store_error)?, job_and_next)
}

async fn remove(db: &mut PgTransaction<'_>, name: &str) -> Result<bool, StoreFailure> {
    sqlx::query(REMOVE_RUNS).bind(name).execute(&mut **db).await.map_err(store_error)?;
    let removed = sqlx::query(REMOVE).bind(name).execute(&mut **db).await.map_err(store_error)?;
    Ok(removed.rows_affected() == 1)
}

/// Makes a run. None when the time has a run already.
async fn make(
    db: &mut PgTransaction<'_>,
    job: &str,
    cause: &str,
    due: i64,
    now: i64,
) -> Result<Option<i64>, StoreFailure> {
    let make = sqlx::query_scalar(MAKE).bind(job).bind(cause).bind(due).bind(now);
    let id = make.fetch_optional(&mut **db).await.map_err(store_error)?;
    let forget = sqlx::query(FORGET).bind(job).bind(i64::try_from(REMEMBERED_RUNS).unwrap_or(i64::MAX));
    forget.execute(&mut **db).await.map_err(store_error)?;
    Ok(id)
}

impl CronStore for PostgresCron {
    async fn jobs(&self) -> Result<Vec<Described>, StoreFailure> {
        collect(&sqlx::query(JOBS).fetch_all(&self.0.pool).await.map_err(store_error)?, described)
    }

    async fn job(&self, name: String) -> Result<Option<Described>, StoreFailure> {
        let rows = sqlx::query(JOB).bind(name).fetch_all(&self.0.pool).await.map_err(store_error)?;
        Ok(collect(&rows, described)?.pop())
    }

    async fn add(&self, job: Job, now: i64) -> Result<bool, StoreFailure> {
        let mut db = self.begin().await?;
        let count: i64 = sqlx::query_scalar(COUNT).fetch_one(&mut *db).await.map_err(store_error)?;
        if usize::try_from(count).unwrap_or(MAX_JOBS) >= MAX_JOBS {
            return Ok(false);
        }
        let add = sqlx::query(ADD).bind(&job.name).bind(job.to_text()).bind(next_time(&job, now));
        let added = add.execute(&mut *db).await.map_err(store_error)?;
        db.commit().await.map_err(store_error)?;
        Ok(added.rows_affected() == 1)
    }

    async fn change(
        &self,
        name: String,
        given: Given,
        now: i64,
    ) -> Result<Option<Result<(), InvalidJob>>, StoreFailure> {
        let mut db = self.begin().await?;
        let rows = sqlx::query(ONE).bind(name).fetch_all(&mut *db).await.map_err(store_error)?;
        let Some(before) = collect(&rows, job_and_next)?.pop() else { return Ok(None) };
        let job = match before.0.patched(given) {
            Ok(job) => job,
            Err(wrong) => return Ok(Some(Err(wrong))),
        };
        put(&mut db, &job, job.next_after(Some(&before), now)).await?;
        db.commit().await.map_err(store_error)?;
        Ok(Some(Ok(())))
    }

    async fn declare(&self, owner: String, jobs: Vec<Job>, now: i64) -> Result<(), StoreFailure> {
        let mut db = self.begin().await?;
        let before = jobs_and_next(&mut db).await?;
        for (job, _) in before.iter().filter(|(job, _)| job.is_dropped(&owner, &jobs)) {
            remove(&mut db, &job.name).await?;
        }
        for job in jobs {
            let before = before.iter().find(|(each, _)| each.name == job.name);
            let job = job.declared(&owner, before.map(|(job, _)| job));
            put(&mut db, &job, job.next_after(before, now)).await?;
        }
        db.commit().await.map_err(store_error)
    }

    async fn remove(&self, name: String) -> Result<bool, StoreFailure> {
        let mut db = self.begin().await?;
        let removed = remove(&mut db, &name).await?;
        db.commit().await.map_err(store_error)?;
        Ok(removed)
    }

    async fn trigger(&self, name: String, now: i64) -> Result<Option<Run>, StoreFailure> {
        let mut db = self.begin().await?;
        let rows = sqlx::query(ONE).bind(&name).fetch_all(&mut *db).await.map_err(store_error)?;
        if collect(&rows, job_and_next)?.is_empty() {
            return Ok(None);
        }
        let Some(id) = make(&mut db, &name, run::MANUAL, now, now).await? else { return Ok(None) };
        let made = run_at(&sqlx::query(RUN).bind(id).fetch_one(&mut *db).await.map_err(store_error)?, 0)?;
        db.commit().await.map_err(store_error)?;
        Ok(Some(made))
    }

    async fn give_up(&self, id: i64, error: String) -> Result<(), StoreFailure> {
        let mut db = self.begin().await?;
        sqlx::query(GIVE_UP).bind(error).bind(id).execute(&mut *db).await.map_err(store_error)?;
        db.commit().await.map_err(store_error)
    }

    async fn wake(&self) -> Result<Option<i64>, StoreFailure> {
        sqlx::query_scalar(WAKE).fetch_one(&self.0.pool).await.map_err(store_error)
    }

    async fn lease(&self, ask: Ask, now: i64) -> Result<Vec<Call>, StoreFailure> {
        let mut db = self.begin().await?;
        let due = sqlx::query(DUE).bind(now).fetch_all(&mut *db).await.map_err(store_error)?;
        for (job, next) in collect(&due, job_and_next)? {
            let Some(next) = next.filter(|_| ask.has(&job)) else { continue };
            let plan = plan(&job, next, now);
            if let Some(due) = plan.due {
                make(&mut db, &job.name, SCHEDULED, due, now).await?;
            }
            let next = sqlx::query(NEXT).bind(plan.next).bind(&job.name);
            next.execute(&mut *db).await.map_err(store_error)?;
        }
        let ready = sqlx::query(READY).bind(now).fetch_all(&mut *db).await.map_err(store_error)?;
        let ready = collect(&ready, |row| {
            let (id, cause, due_ms, attempts) = (get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?);
            Ok(job_at(row, 4)?.map(|job| Ready { id, cause, due_ms, attempts, job }))
        })?;
        let mut calls = Vec::new();
        for ready in ready.into_iter().filter(|ready| ask.has(&ready.job)) {
            if ready.is_lost() {
                let give_up = sqlx::query(GIVE_UP).bind(run::LOST).bind(ready.id);
                give_up.execute(&mut *db).await.map_err(store_error)?;
            } else if calls.len() < ask.max {
                let until = now.saturating_add(ask.lease_ms);
                let take = sqlx::query(TAKE).bind(&ask.receipt).bind(now).bind(until).bind(ready.id);
                take.execute(&mut *db).await.map_err(store_error)?;
                calls.push(ready.call(&ask.receipt));
            }
        }
        db.commit().await.map_err(store_error)?;
        Ok(calls)
    }

    async fn finish(&self, id: i64, receipt: String, outcome: Outcome, now: i64) -> Result<Option<bool>, StoreFailure> {
        let mut db = self.begin().await?;
        let rows = sqlx::query(ATTEMPTED).bind(id).bind(receipt).fetch_all(&mut *db).await.map_err(store_error)?;
        let found = collect(&rows, |row| {
            let (cause, attempts, started_ms) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
            Ok(job_at(row, 3)?.map(|job| Attempted { cause, attempts, started_ms, job }))
        })?;
        let Some(attempted) = found.first() else { return Ok(None) };
        let end = attempted.end(outcome, now);
        let ending = sqlx::query(END)
            .bind(i32::from(end.is_finished))
            .bind(end.ready_ms)
            .bind(end.duration_ms)
            .bind(end.status)
            .bind(end.error)
            .bind(id);
        ending.execute(&mut *db).await.map_err(store_error)?;
        db.commit().await.map_err(store_error)?;
        Ok(Some(!end.is_finished))
    }

    async fn runs(&self, name: String, limit: usize) -> Result<Vec<Run>, StoreFailure> {
        let runs = sqlx::query(RUNS).bind(name).bind(i64::try_from(limit).unwrap_or(i64::MAX));
        runs.fetch_all(&self.0.pool).await.map_err(store_error)?.iter().map(|row| run_at(row, 0)).collect()
    }

    async fn run(&self, id: i64) -> Result<Option<Run>, StoreFailure> {
        let row = sqlx::query(RUN).bind(id).fetch_optional(&self.0.pool).await.map_err(store_error)?;
        row.as_ref().map(|row| run_at(row, 0)).transpose()
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.0.ping().await
    }
}
