//! The statements of both stores: SQL that PostgreSQL and SQLite read the same. Parameters first appear in the order of
//! their numbers, because SQLite reads `$1` as a name and numbers names by their appearance.

/// The columns of a run, in the order of `Stored`.
macro_rules! run_columns {
    () => {
        "r.id, r.cause, r.due_ms, r.started_ms, r.duration_ms, r.attempts, r.receipt, r.finished, r.status, r.error"
    };
}

macro_rules! described {
    () => {
        concat!(
            "SELECT j.job, j.next_ms, ",
            run_columns!(),
            " FROM tenon_cron_jobs AS j LEFT JOIN tenon_cron_runs AS r
              ON r.id = (SELECT max(l.id) FROM tenon_cron_runs AS l WHERE l.job = j.name) "
        )
    };
}

pub(super) const JOBS: &str = concat!(described!(), "ORDER BY j.name");

pub(super) const JOB: &str = concat!(described!(), "WHERE j.name = $1");

pub(super) const COUNT: &str = "SELECT count(*) FROM tenon_cron_jobs";

pub(super) const ADD: &str =
    "INSERT INTO tenon_cron_jobs (name, job, next_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

pub(super) const PUT: &str = "INSERT INTO tenon_cron_jobs (name, job, next_ms) VALUES ($1, $2, $3)
  ON CONFLICT (name) DO UPDATE SET job = excluded.job, next_ms = excluded.next_ms";

pub(super) const REMOVE: &str = "DELETE FROM tenon_cron_jobs WHERE name = $1";

pub(super) const REMOVE_RUNS: &str = "DELETE FROM tenon_cron_runs WHERE job = $1";

/// Jobs whose time has come.
pub(super) const DUE: &str = "SELECT job, next_ms FROM tenon_cron_jobs WHERE next_ms <= $1 ORDER BY name";

pub(super) const ALL: &str = "SELECT job, next_ms FROM tenon_cron_jobs ORDER BY name";

pub(super) const ONE: &str = "SELECT job, next_ms FROM tenon_cron_jobs WHERE name = $1";

pub(super) const NEXT: &str = "UPDATE tenon_cron_jobs SET next_ms = $1 WHERE name = $2";

/// Makes a run, or records that another one is in progress. A scheduled time has one run.
pub(super) const MAKE: &str = "INSERT INTO tenon_cron_runs
  (job, cause, due_ms, started_ms, ready_ms, attempts, receipt, finished, error)
SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS bigint), CAST($4 AS bigint), $4, 0, NULL, o.busy,
  CASE WHEN o.busy = 1 THEN 'it was still running' END
FROM (SELECT CAST(EXISTS (SELECT 1 FROM tenon_cron_runs WHERE job = $1 AND finished = 0) AS int) AS busy) AS o
WHERE true ON CONFLICT DO NOTHING RETURNING id";

/// Deletes the oldest runs.
pub(super) const FORGET: &str = "DELETE FROM tenon_cron_runs WHERE job = $1 AND finished = 1 AND id <= (
  SELECT id FROM tenon_cron_runs WHERE job = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";

pub(super) const READY: &str = "SELECT r.id, r.cause, r.due_ms, r.attempts, j.job
FROM tenon_cron_runs AS r JOIN tenon_cron_jobs AS j ON j.name = r.job
WHERE r.finished = 0 AND r.ready_ms <= $1 ORDER BY r.id";

pub(super) const TAKE: &str = "UPDATE tenon_cron_runs
SET attempts = attempts + 1, receipt = $1, started_ms = $2, ready_ms = $3 WHERE id = $4";

/// Ends a run with an error. One that was never leased counts as attempted, because it was not skipped.
pub(super) const GIVE_UP: &str = "UPDATE tenon_cron_runs SET finished = 1, receipt = NULL, status = NULL, error = $1,
  attempts = CASE WHEN attempts = 0 THEN 1 ELSE attempts END WHERE id = $2 AND finished = 0";

pub(super) const ATTEMPTED: &str = "SELECT r.cause, r.attempts, r.started_ms, j.job
FROM tenon_cron_runs AS r JOIN tenon_cron_jobs AS j ON j.name = r.job
WHERE r.id = $1 AND r.receipt = $2 AND r.finished = 0";

pub(super) const END: &str = "UPDATE tenon_cron_runs
SET receipt = NULL, finished = $1, ready_ms = $2, duration_ms = $3, status = $4, error = $5 WHERE id = $6";

pub(super) const WAKE: &str = "SELECT min(w.at) FROM (
  SELECT min(next_ms) AS at FROM tenon_cron_jobs
  UNION ALL SELECT min(ready_ms) FROM tenon_cron_runs WHERE finished = 0) AS w";

pub(super) const RUNS: &str =
    concat!("SELECT ", run_columns!(), " FROM tenon_cron_runs AS r WHERE r.job = $1 ORDER BY r.id DESC LIMIT $2");

pub(super) const RUN: &str = concat!("SELECT ", run_columns!(), " FROM tenon_cron_runs AS r WHERE r.id = $1");

/// The tables; `$id` differs between the databases.
macro_rules! schema {
    ($id:literal) => {
        concat!(
            "CREATE TABLE IF NOT EXISTS tenon_cron_jobs (name text PRIMARY KEY, job text NOT NULL, next_ms bigint);
             CREATE TABLE IF NOT EXISTS tenon_cron_runs (
               id ",
            $id,
            ", job text NOT NULL, cause text NOT NULL, due_ms bigint NOT NULL, started_ms bigint NOT NULL,
               duration_ms bigint NOT NULL DEFAULT 0, ready_ms bigint NOT NULL, attempts int NOT NULL, receipt text,
               finished int NOT NULL, status int, error text);
             CREATE INDEX IF NOT EXISTS tenon_cron_runs_job ON tenon_cron_runs (job, id);
             CREATE UNIQUE INDEX IF NOT EXISTS tenon_cron_runs_due ON tenon_cron_runs (job, due_ms) WHERE cause = 'schedule';
             CREATE UNIQUE INDEX IF NOT EXISTS tenon_cron_runs_open ON tenon_cron_runs (job) WHERE finished = 0"
        )
    };
}
pub(super) use schema;
