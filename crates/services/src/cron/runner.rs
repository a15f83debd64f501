//! Who looks at the clock, and calls.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use super::HostSlot;
use super::book::{Book, Run, iso};
use super::job::Job;
use super::schedule;

/// The longest sleep: a clock that was set, or a machine that slept, is noticed after this time.
const LONGEST_SLEEP: Duration = Duration::from_secs(20);

/// A time that was missed by more than this (the machine slept) is let go: nobody expects yesterday's runs all at once.
const MISSED: chrono::TimeDelta = chrono::TimeDelta::seconds(60);

/// How long one run may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs jobs.
#[derive(Clone)]
pub(crate) struct Runner {
    book: Book,
    host: HostSlot,
    changed: Arc<Notify>,
    running: Arc<Mutex<HashSet<String>>>,
}

impl Runner {
    pub(crate) fn new(book: Book, host: HostSlot) -> Self {
        Self { book, host, changed: Arc::default(), running: Arc::default() }
    }

    /// Says that jobs are others than before.
    pub(crate) fn jobs_changed(&self) {
        self.changed.notify_one();
    }

    /// Runs jobs when they are due, for ever.
    pub(crate) async fn keep_time(&self) {
        let mut from = Utc::now();
        loop {
            let jobs = self.book.jobs().await.unwrap_or_else(|error| {
                tracing::error!("cron: {error}");
                Vec::new()
            });
            let due = |job: &Job| schedule::next(&schedule::parse(&job.schedule).ok()?, from);
            let times: Vec<(DateTime<Utc>, Job)> =
                jobs.into_iter().filter(|job| job.enabled).filter_map(|job| Some((due(&job)?, job))).collect();
            let next = times.iter().map(|(time, _)| *time).min();
            let now = Utc::now();
            match next {
                Some(next) if next <= now => {
                    if now - next <= MISSED {
                        for (_, job) in times.into_iter().filter(|(time, _)| *time == next) {
                            let runner = self.clone();
                            tokio::spawn(async move { runner.run(&job, "schedule").await });
                        }
                        from = next;
                    } else {
                        from = now;
                    }
                }
                _ => {
                    let until = next.and_then(|next| (next - now).to_std().ok()).unwrap_or(LONGEST_SLEEP);
                    tokio::select! {
                        () = tokio::time::sleep(until.min(LONGEST_SLEEP)) => {}
                        // A job that was added now is due from now on; what has just become due stays so.
                        () = self.changed.notified() => from = from.max(before(next, Utc::now())),
                    }
                }
            }
        }
    }

    /// Calls a job's route and remembers what became of it. A job never runs twice at a time.
    pub(crate) async fn run(&self, job: &Job, cause: &str) -> Run {
        let (started, since) = (iso(Utc::now()), Instant::now());
        let outcome = if self.running().insert(job.name.clone()) {
            let outcome = self.call(job).await;
            self.running().remove(&job.name);
            outcome
        } else {
            Err("it was still running".to_string())
        };
        let duration_ms = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
        let (status, error) = match outcome {
            Ok(status) => (Some(status), None),
            Err(error) => (None, Some(error)),
        };
        let run = Run { cause: cause.to_string(), started, duration_ms, status, error };
        if let Err(error) = self.book.note(&job.name, run.clone()).await {
            tracing::error!("cron: {error}");
        }
        run
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(&self, job: &Job) -> Result<u16, String> {
        let Some(host) = self.host.get() else { return Err("no runtime is attached".to_string()) };
        if !host.modules().contains(&job.module) {
            return Err(format!("no module is called {}", job.module));
        }
        match tokio::time::timeout(TIMEOUT, host.call(&job.module, &job.method, &job.path)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no answer within {} s", TIMEOUT.as_secs())),
        }
    }
}

/// Now, or a moment before what is due when that is over already.
fn before(due: Option<DateTime<Utc>>, now: DateTime<Utc>) -> DateTime<Utc> {
    due.map_or(now, |due| now.min(due - chrono::TimeDelta::milliseconds(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_job_is_due_from_now_on_and_none_that_is_due_is_passed_over() {
        let now = Utc::now();
        let later = now + chrono::TimeDelta::seconds(5);
        assert_eq!(before(None, now), now);
        assert_eq!(before(Some(later), now), now);
        assert!(before(Some(now), later) < now);
    }
}
