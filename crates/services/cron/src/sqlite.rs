//! Cron in a SQLite file. Every writing transaction begins with the lock, so that two sidecars on one file take turns.

use std::path::Path;

use tenon_service::lease::iso;
use tenon_service::sqlite_file::SqliteFile;
use tenon_service::store_error::StoreFailure;
use tenon_service::{Limits, ServicesError};
use tenon_sqlite::{Connection, Error, Row, ValueRef};

use super::invalid_job::InvalidJob;
use super::job::{Given, Job, MAX_JOBS, next_time, stored};
use super::run::{self, Ask, Attempted, Call, Outcome, Ready, Run, SCHEDULED, Stored, plan};
use super::statements::{
    ADD, ALL, ATTEMPTED, COUNT, DUE, END, FORGET, GIVE_UP, JOB, JOBS, MAKE, NEXT, ONE, PUT, READY, REMOVE, REMOVE_RUNS,
    RUN, RUNS, TAKE, WAKE, schema,
};
use super::store::{CronStore, Described, REMEMBERED_RUNS};

const SCHEMA: &str = schema!("integer PRIMARY KEY AUTOINCREMENT");

/// Takes over the jobs of the first edition's development services, without their runs.
const ADOPT: &str = "
    INSERT OR IGNORE INTO tenon_cron_jobs
      SELECT name, json_object('name', name, 'schedule', schedule, 'module', module, 'path', path, 'method', method,
        'enabled', json(CASE WHEN enabled THEN 'true' ELSE 'false' END)), CASE WHEN enabled THEN 0 END FROM jobs;
    DROP TABLE jobs;
    DROP TABLE IF EXISTS runs;";

/// Jobs and runs in a SQLite file.
#[derive(Clone)]
pub(crate) struct SqliteCron(SqliteFile);

impl SqliteCron {
    pub(crate) fn open(path: &Path, limits: &Limits, cache: Option<&Path>) -> Result<Self, ServicesError> {
        SqliteFile::open(path, SCHEMA, limits.max_body_bytes, cache).map(Self)
    }

    /// For the development services' own file only: in any other, a table `jobs` belongs to another program.
    pub(super) fn adopt_first_edition(&self, path: &Path) -> Result<(), ServicesError> {
        self.0.set_up(path, |db| {
            let find = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'jobs')";
            if db.one(find, &[], |row| row.read(0))? { db.run_script(ADOPT) } else { Ok(()) }
        })
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StoreFailure> {
        self.0.call(move |db| db.writing(work)).await
    }
}

fn run_at(row: &Row<'_>, first: usize) -> Result<Run, Error> {
    let stored = Stored {
        id: row.read(first)?,
        cause: row.read(first + 1)?,
        due_ms: row.read(first + 2)?,
        started_ms: row.read(first + 3)?,
        duration_ms: row.read(first + 4)?,
        attempts: row.read(first + 5)?,
        is_leased: row.read::<Option<String>>(first + 6)?.is_some(),
        is_finished: row.read::<i64>(first + 7)? != 0,
        status: row.read(first + 8)?,
        error: row.read(first + 9)?,
    };
    Ok(stored.into())
}

fn job_at(row: &Row<'_>, at: usize) -> Result<Option<Job>, Error> {
    Ok(stored(&row.read::<String>(at)?))
}

fn described(row: &Row<'_>) -> Result<Option<Described>, Error> {
    let Some(job) = job_at(row, 0)? else { return Ok(None) };
    let last = row.read::<Option<i64>>(2)?.map(|_| run_at(row, 2)).transpose()?;
    Ok(Some(Described { job, next: row.read::<Option<i64>>(1)?.map(iso), last }))
}

/// Reads rows, and skips those whose job is unreadable.
fn collect<T>(
    db: &mut Connection,
    sql: &str,
    values: &[ValueRef<'_>],
    read: impl FnMut(&Row<'_>) -> Result<Option<T>, Error>,
) -> Result<Vec<T>, Error> {
    Ok(db.all(sql, values, read)?.into_iter().flatten().collect())
}

fn job_and_next(row: &Row<'_>) -> Result<Option<(Job, Option<i64>)>, Error> {
    let next = row.read(1)?;
    Ok(job_at(row, 0)?.map(|job| (job, next)))
}

fn put(db: &mut Connection, job: &Job, next: Option<i64>) -> Result<(), Error> {
    db.execute(PUT, &[(&job.name).into(), (&job.to_text()).into(), next.into()]).map(drop)
}

/// Makes a run. None when the time has a run already.
fn make(db: &mut Connection, job: &str, cause: &str, due: i64, now: i64) -> Result<Option<i64>, Error> {
    let id = db.find(MAKE, &[job.into(), cause.into(), due.into(), now.into()], |row| row.read(0))?;
    db.execute(FORGET, &[job.into(), i64::try_from(REMEMBERED_RUNS).unwrap_or(i64::MAX).into()])?;
    Ok(id)
}

impl CronStore for SqliteCron {
    async fn jobs(&self) -> Result<Vec<Described>, StoreFailure> {
        self.0.call(|db| collect(db, JOBS, &[], described)).await
    }

    async fn job(&self, name: String) -> Result<Option<Described>, StoreFailure> {
        self.0.call(move |db| Ok(collect(db, JOB, &[(&name).into()], described)?.pop())).await
    }

    async fn add(&self, job: Job, now: i64) -> Result<bool, StoreFailure> {
        let add = self.write(move |db| {
            let count: i64 = db.one(COUNT, &[], |row| row.read(0))?;
            let text = job.to_text();
            let values = [(&job.name).into(), (&text).into(), next_time(&job, now).into()];
            Ok(usize::try_from(count).unwrap_or(MAX_JOBS) < MAX_JOBS && db.execute(ADD, &values)? == 1)
        });
        add.await
    }

    async fn change(
        &self,
        name: String,
        given: Given,
        now: i64,
    ) -> Result<Option<Result<(), InvalidJob>>, StoreFailure> {
        let change = self.write(move |db| {
            let Some(before) = collect(db, ONE, &[(&name).into()], job_and_next)?.pop() else { return Ok(None) };
            let job = match before.0.patched(given) {
                Ok(job) => job,
                Err(wrong) => return Ok(Some(Err(wrong))),
            };
            put(db, &job, job.next_after(Some(&before), now))?;
            Ok(Some(Ok(())))
        });
        change.await
    }

    async fn declare(&self, owner: String, jobs: Vec<Job>, now: i64) -> Result<(), StoreFailure> {
        let declare = self.write(move |db| {
            let before = collect(db, ALL, &[], job_and_next)?;
            for (job, _) in before.iter().filter(|(job, _)| job.is_dropped(&owner, &jobs)) {
                db.execute(REMOVE, &[(&job.name).into()])?;
                db.execute(REMOVE_RUNS, &[(&job.name).into()])?;
            }
            for job in jobs {
                let before = before.iter().find(|(each, _)| each.name == job.name);
                let job = job.declared(&owner, before.map(|(job, _)| job));
                put(db, &job, job.next_after(before, now))?;
            }
            Ok(())
        });
        declare.await
    }

    async fn remove(&self, name: String) -> Result<bool, StoreFailure> {
        let remove = self.write(move |db| {
            db.execute(REMOVE_RUNS, &[(&name).into()])?;
            Ok(db.execute(REMOVE, &[(&name).into()])? == 1)
        });
        remove.await
    }

    async fn trigger(&self, name: String, now: i64) -> Result<Option<Run>, StoreFailure> {
        let trigger = self.write(move |db| {
            if collect(db, ONE, &[(&name).into()], job_and_next)?.is_empty() {
                return Ok(None);
            }
            let Some(id) = make(db, &name, run::MANUAL, now, now)? else { return Ok(None) };
            db.find(RUN, &[id.into()], |row| run_at(row, 0))
        });
        trigger.await
    }

    async fn give_up(&self, id: i64, error: String) -> Result<(), StoreFailure> {
        self.write(move |db| db.execute(GIVE_UP, &[(&error).into(), id.into()]).map(drop)).await
    }

    async fn wake(&self) -> Result<Option<i64>, StoreFailure> {
        self.0.call(|db| db.one(WAKE, &[], |row| row.read(0))).await
    }

    async fn lease(&self, ask: Ask, now: i64) -> Result<Vec<Call>, StoreFailure> {
        let lease = self.write(move |db| {
            for (job, next) in collect(db, DUE, &[now.into()], job_and_next)? {
                let Some(next) = next.filter(|_| ask.has(&job)) else { continue };
                let plan = plan(&job, next, now);
                if let Some(due) = plan.due {
                    make(db, &job.name, SCHEDULED, due, now)?;
                }
                db.execute(NEXT, &[plan.next.into(), (&job.name).into()])?;
            }
            let ready = collect(db, READY, &[now.into()], |row| {
                let (id, cause, due_ms, attempts) = (row.read(0)?, row.read(1)?, row.read(2)?, row.read(3)?);
                Ok(job_at(row, 4)?.map(|job| Ready { id, cause, due_ms, attempts, job }))
            })?;
            let mut calls = Vec::new();
            for ready in ready.into_iter().filter(|ready| ask.has(&ready.job)) {
                if ready.is_lost() {
                    db.execute(GIVE_UP, &[run::LOST.into(), ready.id.into()])?;
                } else if calls.len() < ask.max {
                    let until = now.saturating_add(ask.lease_ms);
                    db.execute(TAKE, &[(&ask.receipt).into(), now.into(), until.into(), ready.id.into()])?;
                    calls.push(ready.call(&ask.receipt));
                }
            }
            Ok(calls)
        });
        lease.await
    }

    async fn finish(&self, id: i64, receipt: String, outcome: Outcome, now: i64) -> Result<Option<bool>, StoreFailure> {
        let finish = self.write(move |db| {
            let found = collect(db, ATTEMPTED, &[id.into(), (&receipt).into()], |row| {
                let (cause, attempts, started_ms) = (row.read(0)?, row.read(1)?, row.read(2)?);
                Ok(job_at(row, 3)?.map(|job| Attempted { cause, attempts, started_ms, job }))
            })?;
            let Some(attempted) = found.first() else { return Ok(None) };
            let end = attempted.end(outcome, now);
            let values = [
                i32::from(end.is_finished).into(),
                end.ready_ms.into(),
                end.duration_ms.into(),
                end.status.into(),
                end.error.as_ref().into(),
                id.into(),
            ];
            db.execute(END, &values)?;
            Ok(Some(!end.is_finished))
        });
        finish.await
    }

    async fn runs(&self, name: String, limit: usize) -> Result<Vec<Run>, StoreFailure> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.0.call(move |db| collect(db, RUNS, &[(&name).into(), limit.into()], |row| run_at(row, 0).map(Some))).await
    }

    async fn run(&self, id: i64) -> Result<Option<Run>, StoreFailure> {
        self.0.call(move |db| db.find(RUN, &[id.into()], |row| run_at(row, 0))).await
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        self.0.call(|db| db.one("SELECT 1", &[], |_| Ok(()))).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::State;
    use serde_json::json;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    const START: i64 = 500_000 * HOUR;

    fn ask(receipt: &str) -> Ask {
        let modules = vec!["m".to_string()];
        Ask { modules, of_clients: false, max: 10, lease_ms: MINUTE, receipt: receipt.to_string() }
    }

    fn job(name: &str, more: serde_json::Value) -> Job {
        let mut given = json!({ "name": name, "schedule": "0 * * * *", "module": "m" });
        given.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        Job::new(Given::of_text(given.to_string().as_bytes()).unwrap()).unwrap()
    }

    async fn store() -> (tempfile::TempDir, SqliteCron) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteCron::open(&folder.path().join("cron.db"), &Limits::default(), None).unwrap();
        (folder, store)
    }

    #[tokio::test]
    async fn each_time_runs_once_though_two_sidecars_look() {
        let (folder, first) = store().await;
        let second = SqliteCron::open(&folder.path().join("cron.db"), &Limits::default(), None).unwrap();
        first.add(job("a", json!({})), START).await.unwrap();
        assert!(first.lease(ask("early"), START + HOUR - 1).await.unwrap().is_empty());
        let mut due = Vec::new();
        for hour in 1..=48 {
            let now = START + hour * HOUR + 300;
            let (one, other) = tokio::join!(first.lease(ask("one"), now), second.lease(ask("other"), now));
            let calls = [one.unwrap(), other.unwrap()].concat();
            assert_eq!(calls.len(), 1, "{hour}");
            let done = first.finish(calls[0].id.parse().unwrap(), calls[0].receipt.clone(), Ok(204), now + 40).await;
            assert_eq!(done.unwrap(), Some(false));
            due.push(calls[0].due.clone());
        }
        let expected: Vec<String> = (1..=48).map(|hour| iso(START + hour * HOUR)).collect();
        assert_eq!(due, expected);
        let runs = second.runs("a".to_string(), 100).await.unwrap();
        assert_eq!(runs.len(), 48);
        assert!(runs.iter().all(|run| run.state == State::Done && run.duration_ms == 40));
    }

    #[tokio::test]
    async fn a_killed_consumer_leaves_its_run_to_another_after_the_lease() {
        let (_folder, store) = store().await;
        store.add(job("a", json!({ "max_attempts": 2 })), START).await.unwrap();
        let now = START + HOUR;
        let [first] = &store.lease(ask("killed"), now).await.unwrap()[..] else { panic!("one") };
        assert!(store.lease(ask("other"), now + MINUTE - 1).await.unwrap().is_empty());
        let [second] = &store.lease(ask("other"), now + MINUTE).await.unwrap()[..] else { panic!("one") };
        assert_eq!((&second.id, &second.due, second.attempts), (&first.id, &first.due, 2));
        let id: i64 = first.id.parse().unwrap();
        assert_eq!(store.finish(id, "killed".into(), Ok(200), now + MINUTE).await.unwrap(), None);
        // The last attempt ends without an outcome as well.
        assert!(store.lease(ask("third"), now + 2 * MINUTE).await.unwrap().is_empty());
        let run = store.run(id).await.unwrap().unwrap();
        assert_eq!((run.state, run.error.as_deref()), (State::Failed, Some(run::LOST)));
    }

    #[tokio::test]
    async fn failed_runs_are_tried_again_and_hold_up_the_next_time() {
        let (_folder, store) = store().await;
        store.add(job("a", json!({ "max_attempts": 3 })), START).await.unwrap();
        let mut now = START + HOUR;
        for (attempt, delay) in [(1, Some(1000)), (2, Some(2000)), (3, None)] {
            let [call] = &store.lease(ask("x"), now).await.unwrap()[..] else { panic!("one at {attempt}") };
            assert_eq!(call.attempts, attempt);
            let again = store.finish(call.id.parse().unwrap(), "x".into(), Ok(503), now).await.unwrap();
            assert_eq!(again, Some(delay.is_some()));
            if let Some(delay) = delay {
                assert!(store.lease(ask("x"), now + delay - 1).await.unwrap().is_empty());
                now += delay;
            }
        }
        let long = Ask { lease_ms: 10 * HOUR, ..ask("long") };
        assert_eq!(store.lease(long, START + 2 * HOUR).await.unwrap().len(), 1);
        assert!(store.lease(ask("x"), START + 3 * HOUR).await.unwrap().is_empty());
        let runs = store.runs("a".to_string(), 10).await.unwrap();
        let states: Vec<State> = runs.iter().map(|run| run.state).collect();
        assert_eq!(states, [State::Skipped, State::Running, State::Failed]);
        assert_eq!(runs[0].error.as_deref(), Some("it was still running"));
    }

    #[tokio::test]
    async fn a_pause_is_caught_up_with_one_run_where_the_job_says_so() {
        let (_folder, store) = store().await;
        store.add(job("caught", json!({ "catch_up": true })), START).await.unwrap();
        store.add(job("plain", json!({})), START).await.unwrap();
        let calls = store.lease(ask("x"), START + 5 * HOUR + 10 * MINUTE).await.unwrap();
        let due: Vec<_> = calls.iter().map(|call| (call.job.as_str(), call.due.clone())).collect();
        assert_eq!(due, [("caught", iso(START + 5 * HOUR))]);
        let at_six = store.lease(ask("y"), START + 6 * HOUR).await.unwrap();
        assert_eq!(at_six.len(), 1, "the run of `caught` is still leased");
    }

    #[tokio::test]
    async fn declared_jobs_keep_their_time_and_their_switch() {
        let (_folder, store) = store().await;
        let declare = |jobs: Vec<Job>, now| store.declare("shop".to_string(), jobs, now);
        store.add(job("other", json!({})), START).await.unwrap();
        declare(vec![job("a", json!({ "catch_up": true })), job("b", json!({}))], START).await.unwrap();
        let found = store.job("b".to_string()).await.unwrap().unwrap();
        assert_eq!((found.job.owner.as_deref(), found.next), (Some("shop"), Some(iso(START + HOUR))));
        let off = Given::of_text(b"{\"enabled\":false}").unwrap();
        store.change("b".to_string(), off, START).await.unwrap().unwrap().unwrap();
        // After a pause of some hours the missed time is not forgotten, and disabled jobs stay disabled.
        let later = START + 4 * HOUR + 5 * MINUTE;
        declare(vec![job("a", json!({ "catch_up": true })), job("b", json!({ "path": "/x" }))], later).await.unwrap();
        let b = store.job("b".to_string()).await.unwrap().unwrap();
        assert_eq!((b.job.enabled, b.job.path.as_str(), b.next), (false, "/x", None));
        assert_eq!(store.lease(ask("x"), later).await.unwrap()[0].due, iso(START + 4 * HOUR));
        declare(vec![job("a", json!({ "schedule": "30 * * * *" }))], later).await.unwrap();
        let jobs = store.jobs().await.unwrap();
        let names: Vec<_> = jobs.iter().map(|each| (each.job.name.as_str(), each.next.clone().unwrap())).collect();
        assert_eq!(names, [("a", iso(START + 4 * HOUR + 30 * MINUTE)), ("other", iso(START + 5 * HOUR))]);
    }

    #[tokio::test]
    async fn only_a_hundred_runs_are_remembered() {
        let (_folder, store) = store().await;
        store.add(job("a", json!({})), START).await.unwrap();
        for minute in 0..150 {
            let run = store.trigger("a".to_string(), START + minute).await.unwrap().unwrap();
            assert_eq!((run.state, store.lease(ask("x"), START + minute).await.unwrap().len()), (State::Waiting, 1));
            store.finish(run.id.parse().unwrap(), "x".to_string(), Ok(200), START + minute).await.unwrap();
        }
        assert_eq!(store.runs("a".to_string(), 1000).await.unwrap().len(), REMEMBERED_RUNS);
    }

    #[tokio::test]
    async fn jobs_of_the_first_edition_are_adopted() {
        let (folder, store) = store().await;
        let path = folder.path().join("cron.db");
        let old = "CREATE TABLE jobs (name TEXT PRIMARY KEY, schedule TEXT NOT NULL, module TEXT NOT NULL,
            path TEXT NOT NULL, method TEXT NOT NULL, enabled INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO jobs VALUES ('tick', '@daily', 'm', '/x', 'GET', 1), ('off', '@daily', 'm', '/x', 'GET', 0);";
        store.0.set_up(&path, |db| db.run_script(old)).unwrap();
        store.adopt_first_edition(&path).unwrap();
        store.adopt_first_edition(&path).unwrap();
        let jobs = store.jobs().await.unwrap();
        let found: Vec<_> = jobs.iter().map(|each| (each.job.name.as_str(), each.job.enabled)).collect();
        assert_eq!(found, [("off", false), ("tick", true)]);
    }
}
