//! Runs of jobs: their creation, attempts and outcomes.

use std::collections::BTreeMap;

use serde::Serialize;
use tenon_service::lease::{backoff, iso};

use super::job::Job;
use super::schedule::Schedule;

/// The lateness in milliseconds within which a run is on time. A time missed by more is skipped unless its job catches
/// up, so that yesterday's runs do not all start at once.
const GRACE_MS: i64 = 60_000;

/// The cause of a scheduled run.
pub(crate) const SCHEDULED: &str = "schedule";

/// The cause of a manual run.
pub(crate) const MANUAL: &str = "manual";

/// The error of a run whose consumer never reported its last attempt.
pub(super) const LOST: &str = "the last attempt ended without an answer";

/// A run of a job, in its form for clients.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) id: String,
    /// `schedule` or `manual`.
    pub(crate) cause: String,
    /// The scheduled time.
    pub(crate) due: String,
    pub(crate) state: State,
    /// The attempts so far.
    pub(crate) attempts: u32,
    /// The start of the last attempt.
    pub(crate) started: String,
    pub(crate) duration_ms: i64,
    /// The status of the module's answer; none without an answer.
    pub(crate) status: Option<u16>,
    pub(crate) error: Option<String>,
}

impl Run {
    /// Reports whether it gets no further attempt.
    pub(super) fn is_over(&self) -> bool {
        !matches!(self.state, State::Waiting | State::Running)
    }
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It waits for a consumer, or for its next attempt.
    Waiting,
    /// A consumer has it.
    Running,
    /// The module answered from 200 to 299.
    Done,
    /// Every attempt failed.
    Failed,
    /// Skipped because another run of the job was in progress.
    Skipped,
}

/// A run in its stored form. Times are milliseconds since 1970.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) id: i64,
    pub(super) cause: String,
    pub(super) due_ms: i64,
    pub(super) started_ms: i64,
    pub(super) duration_ms: i64,
    pub(super) attempts: i32,
    pub(super) is_leased: bool,
    pub(super) is_finished: bool,
    pub(super) status: Option<i32>,
    pub(super) error: Option<String>,
}

impl From<Stored> for Run {
    fn from(stored: Stored) -> Self {
        let state = match stored.status {
            _ if !stored.is_finished && stored.is_leased => State::Running,
            _ if !stored.is_finished => State::Waiting,
            Some(200..=299) => State::Done,
            _ if stored.attempts == 0 => State::Skipped,
            _ => State::Failed,
        };
        Self {
            id: stored.id.to_string(),
            cause: stored.cause,
            due: iso(stored.due_ms),
            state,
            attempts: u32::try_from(stored.attempts).unwrap_or_default(),
            started: iso(stored.started_ms),
            duration_ms: stored.duration_ms,
            status: stored.status.and_then(|status| u16::try_from(status).ok()),
            error: stored.error,
        }
    }
}

/// A consumer's request for runs.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// Runs of these modules' jobs are taken.
    pub(crate) modules: Vec<String>,
    /// Runs of all jobs that clients added are taken as well, so that a wrong name of a module shows in development.
    pub(crate) of_clients: bool,
    /// Limit of runs.
    pub(crate) max: usize,
    /// Length of the lease in milliseconds.
    pub(crate) lease_ms: i64,
    /// Identifies the lease.
    pub(crate) receipt: String,
}

impl Ask {
    /// Reports whether runs of a job are taken.
    pub(super) fn has(&self, job: &Job) -> bool {
        self.modules.contains(&job.module) || (self.of_clients && job.owner.is_none())
    }
}

/// The next step of a job whose time has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The due time of the run that is made now.
    pub(super) due: Option<i64>,
    /// The due time of the next run.
    pub(super) next: Option<i64>,
}

/// Plans a job whose time `next` has come. Only the last of several missed times counts.
pub(super) fn plan(job: &Job, next: i64, now: i64) -> Plan {
    let Ok(schedule) = Schedule::parse(&job.schedule, &job.timezone) else { return Plan { due: None, next: None } };
    let latest = schedule.latest(now).map_or(next, |latest| latest.max(next));
    let due = (job.catch_up || now - latest <= GRACE_MS).then_some(latest);
    Plan { due, next: schedule.next(now) }
}

/// An unfinished run that is ready for an attempt.
pub(super) struct Ready {
    pub(super) id: i64,
    pub(super) cause: String,
    pub(super) due_ms: i64,
    pub(super) attempts: i32,
    pub(super) job: Job,
}

impl Ready {
    /// Reports whether its attempts are used up, the last one without an outcome.
    pub(super) fn is_lost(&self) -> bool {
        self.attempts >= max_attempts(&self.job, &self.cause)
    }

    /// Makes the call of the next attempt.
    pub(super) fn call(self, receipt: &str) -> Call {
        let Self { id, due_ms, attempts, job, .. } = self;
        let (due, attempts) = (iso(due_ms), u32::try_from(attempts).unwrap_or_default() + 1);
        let (body, content_type, mut headers) = (job.body_text(), job.content_type(), job.headers);
        if let Some(content_type) = content_type {
            headers.entry("content-type".to_string()).or_insert_with(|| content_type.to_string());
        }
        let own = [
            ("x-tenon-cron", "1".to_string()),
            ("x-tenon-cron-job", job.name.clone()),
            ("x-tenon-cron-run", id.to_string()),
            ("x-tenon-cron-due", due.clone()),
            ("x-tenon-cron-attempt", attempts.to_string()),
        ];
        headers.extend(own.map(|(name, value)| (name.to_string(), value)));
        Call {
            id: id.to_string(),
            job: job.name,
            due,
            attempts,
            module: job.module,
            method: job.method,
            path: job.path,
            headers,
            body,
            receipt: receipt.to_string(),
        }
    }
}

/// An attempt for a consumer: the request to send, and the lease to settle.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) job: String,
    pub(crate) due: String,
    /// Number of attempts, including this one.
    pub(crate) attempts: u32,
    pub(crate) module: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Option<String>,
    pub(crate) receipt: String,
}

/// The outcome of an attempt: the module's status, or the reason why there is none.
pub(crate) type Outcome = Result<u16, String>;

/// A leased run whose attempt has ended.
pub(super) struct Attempted {
    pub(super) cause: String,
    pub(super) attempts: i32,
    pub(super) started_ms: i64,
    pub(super) job: Job,
}

/// The values to write at the end of an attempt.
pub(super) struct End {
    pub(super) is_finished: bool,
    /// The time of the next attempt.
    pub(super) ready_ms: i64,
    pub(super) duration_ms: i64,
    pub(super) status: Option<i32>,
    pub(super) error: Option<String>,
}

impl Attempted {
    /// Decides whether the run is over, or gets another attempt later.
    pub(super) fn end(&self, outcome: Outcome, now: i64) -> End {
        let is_done = matches!(outcome, Ok(200..=299));
        let delay = backoff(u64::try_from(self.attempts).unwrap_or(1));
        let (status, error) = match outcome {
            Ok(status) => (Some(i32::from(status)), None),
            Err(error) => (None, Some(error)),
        };
        End {
            is_finished: is_done || self.attempts >= max_attempts(&self.job, &self.cause),
            ready_ms: now.saturating_add(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX)),
            duration_ms: (now - self.started_ms).max(0),
            status,
            error,
        }
    }
}

/// A manual run has one attempt, because its caller sees the outcome and can repeat it.
fn max_attempts(job: &Job, cause: &str) -> i32 {
    if cause == MANUAL { 1 } else { i32::try_from(job.max_attempts).unwrap_or(i32::MAX) }
}

/// Returns the milliseconds since 1970.
pub(super) fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Given;
    use serde_json::json;

    fn job(more: serde_json::Value) -> Job {
        let mut given = json!({ "name": "a", "schedule": "0 * * * *", "module": "m" });
        given.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        Job::new(Given::of_text(given.to_string().as_bytes()).unwrap()).unwrap()
    }

    const HOUR: i64 = 3_600_000;

    #[test]
    fn only_the_last_of_the_missed_times_counts_and_only_when_it_is_recent() {
        let start = 500_000 * HOUR;
        let (plain, catching) = (job(json!({})), job(json!({ "catch_up": true })));
        for (late, due, caught) in [
            (0, Some(start), start),
            (GRACE_MS, Some(start), start),
            (GRACE_MS + 1, None, start),
            (5 * HOUR, Some(start + 5 * HOUR), start + 5 * HOUR),
            (5 * HOUR + 600_000, None, start + 5 * HOUR),
        ] {
            let now = start + late;
            let next = Some(start + (late / HOUR + 1) * HOUR);
            assert_eq!(plan(&plain, start, now), Plan { due, next }, "{late}");
            assert_eq!(plan(&catching, start, now), Plan { due: Some(caught), next }, "{late}");
        }
    }

    #[test]
    fn a_call_carries_the_run_and_the_body() {
        let call =
            |job: Job| Ready { id: 7, cause: SCHEDULED.to_string(), due_ms: 0, attempts: 1, job }.call("receipt");
        let bare = call(job(json!({})));
        assert_eq!(bare.body, None);
        let expected = [
            ("x-tenon-cron", "1"),
            ("x-tenon-cron-attempt", "2"),
            ("x-tenon-cron-due", "1970-01-01T00:00:00.000Z"),
            ("x-tenon-cron-job", "a"),
            ("x-tenon-cron-run", "7"),
        ];
        assert_eq!(bare.headers, expected.map(|(name, value)| (name.to_string(), value.to_string())).into());
        let content_type = |call: &Call| call.headers.get("content-type").cloned();
        let object = call(job(json!({ "method": "POST", "body": { "full": true } })));
        assert_eq!(object.body.as_deref(), Some("{\"full\":true}"));
        assert_eq!(content_type(&object).as_deref(), Some("application/json"));
        let text = call(job(
            json!({ "method": "POST", "body": "a=b", "headers": { "Content-Type": "application/x-www-form-urlencoded" } }),
        ));
        assert_eq!(text.body.as_deref(), Some("a=b"));
        assert_eq!(content_type(&text).as_deref(), Some("application/x-www-form-urlencoded"));
    }
}
