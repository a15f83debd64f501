//! The routes of cron.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde::Serialize;
use serde_json::{Value, json};
use tenon_service::Limits;
use tenon_service::http::body;
use tenon_service::http::members::{leased, number};
use tenon_service::http::name::Name;
use tenon_service::http::problem::Problem;
use tenon_service::http::query::Query;
use tenon_service::lease::secret_id;

use super::Cron;
use super::job::{Given, Job, MAX_JOBS, declared_from_json, is_name};
use super::run::{Ask, Run, now};
use super::store::{CronStore, Described, REMEMBERED_RUNS};

/// Default length of a lease.
const LEASE_MS: u64 = 90_000;

/// The longest lease: a day.
const MAX_LEASE_MS: u64 = 24 * 3600 * 1000;

/// Runs of one lease.
const MAX_RUNS: u64 = 100;

/// Limit in bytes of a reported error; the rest is cut off.
const MAX_ERROR_BYTES: usize = 1000;

type Shared<S> = State<(Cron<S>, Limits)>;

/// `/cron` and below, and for consumers `/cron-jobs` and `/cron-runs`.
pub(crate) fn routes<S: CronStore>(cron: Cron<S>, limits: Limits) -> Router {
    Router::new()
        .route("/cron", get(list::<S>).post(add::<S>))
        .route("/cron/{name}", get(show::<S>).patch(change::<S>).delete(remove::<S>))
        .route("/cron/{name}/trigger", post(trigger::<S>))
        .route("/cron/{name}/history", get(history::<S>))
        .route("/cron-jobs", put(declare::<S>))
        .route("/cron-runs/lease", post(lease::<S>))
        .route("/cron-runs/done", post(done::<S>))
        .with_state((cron, limits))
}

/// The answer to a list. It is never a parsed value, whose numbers may lose digits.
#[derive(Serialize)]
struct Jobs {
    jobs: Vec<Described>,
}

async fn list<S: CronStore>(State((cron, _)): Shared<S>) -> Result<axum::Json<Jobs>, Problem> {
    let jobs = cron.store.jobs().await.map_err(Problem::internal)?;
    Ok(axum::Json(Jobs { jobs }))
}

async fn add<S: CronStore>(
    State((cron, limits)): Shared<S>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (_, text) = body::read_json_with_text(&headers, body, &limits).await?;
    let job = Given::of_text(&text).and_then(Job::new)?;
    let name = job.name.clone();
    if !cron.store.add(job, now()).await.map_err(Problem::internal)? {
        let detail = format!("there is a job of this name, or there are {MAX_JOBS} jobs");
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    let location = format!("/cron/{name}");
    Ok((StatusCode::CREATED, [(LOCATION, location)], axum::Json(find(&cron, name).await?)).into_response())
}

/// `{"owner","jobs":[…]}`: replaces the jobs of a project.
async fn declare<S: CronStore>(
    State((cron, limits)): Shared<S>,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Jobs>, Problem> {
    let (asked, text) = body::read_json_with_text(&headers, body, &limits).await?;
    let (owner, jobs) = declared_from_json(&asked, &text)?;
    cron.store.declare(owner, jobs, now()).await.map_err(Problem::internal)?;
    list(State((cron, limits))).await
}

async fn show<S: CronStore>(State((cron, _)): Shared<S>, Name(name): Name) -> Result<axum::Json<Described>, Problem> {
    find(&cron, name).await.map(axum::Json)
}

async fn change<S: CronStore>(
    State((cron, limits)): Shared<S>,
    Name(name): Name,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Described>, Problem> {
    let (_, text) = body::read_json_with_text(&headers, body, &limits).await?;
    let given = Given::of_text(&text)?;
    if !is_name(&name) {
        return Err(absent());
    }
    let changed = cron.store.change(name.clone(), given, now()).await.map_err(Problem::internal)?;
    changed.ok_or_else(absent)??;
    find(&cron, name).await.map(axum::Json)
}

async fn remove<S: CronStore>(State((cron, _)): Shared<S>, Name(name): Name) -> Result<StatusCode, Problem> {
    if !is_name(&name) || !cron.store.remove(name).await.map_err(Problem::internal)? {
        return Err(absent());
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Runs a job now, even a disabled one. A consumer does the run. In development the answer is the run that has ended; a
/// sidecar answers 202 with the run that waits.
async fn trigger<S: CronStore>(State((cron, _)): Shared<S>, Name(name): Name) -> Result<Response, Problem> {
    let module = find(&cron, name.clone()).await?.job.module;
    let run = cron.store.trigger(name, now()).await.map_err(Problem::internal)?.ok_or_else(absent)?;
    let Some(development) = cron.development else {
        return Ok((StatusCode::ACCEPTED, axum::Json(run)).into_response());
    };
    let ended = development.wait(&cron.store, run, &module).await.map_err(Problem::internal)?;
    Ok(axum::Json(ended.ok_or_else(absent)?).into_response())
}

async fn history<S: CronStore>(
    State((cron, _)): Shared<S>,
    Name(name): Name,
    uri: Uri,
) -> Result<axum::Json<Value>, Problem> {
    let job = find(&cron, name).await?.job;
    let limit = Query::of(&uri)?.limit(REMEMBERED_RUNS, REMEMBERED_RUNS)?;
    let runs: Vec<Run> = cron.store.runs(job.name, limit).await.map_err(Problem::internal)?;
    Ok(axum::Json(json!({ "runs": runs })))
}

/// `{"modules":[…],"max","lease_ms"}` → `{"runs":[…]}`: the runs of these modules that are due.
async fn lease<S: CronStore>(
    State((cron, limits)): Shared<S>,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Value>, Problem> {
    let asked = body::read_json(&headers, body, &limits).await?;
    let modules = asked["modules"].as_array().and_then(|modules| {
        modules.iter().map(|module| module.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    let modules = modules.ok_or_else(|| Problem::bad_request("`modules` must be a list of texts"))?;
    let max = number(&asked, "max", 1, MAX_RUNS)?.unwrap_or(MAX_RUNS);
    let lease_ms = number(&asked, "lease_ms", 1, MAX_LEASE_MS)?.unwrap_or(LEASE_MS);
    let ask = Ask {
        modules,
        of_clients: cron.development.is_some(),
        max: usize::try_from(max).unwrap_or(1),
        lease_ms: i64::try_from(lease_ms).unwrap_or(i64::MAX),
        receipt: secret_id().map_err(Problem::internal)?,
    };
    let is_due = cron.store.wake().await.map_err(Problem::internal)?.is_some_and(|wake| wake <= now());
    let runs = if is_due { cron.store.lease(ask, now()).await.map_err(Problem::internal)? } else { Vec::new() };
    Ok(axum::Json(json!({ "runs": runs })))
}

/// `{"id","receipt","status"}`, or `"error"` instead of the status → `{"again"}`: true when the run gets another
/// attempt.
async fn done<S: CronStore>(
    State((cron, limits)): Shared<S>,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Value>, Problem> {
    let asked = body::read_json(&headers, body, &limits).await?;
    let (id, receipt) = leased(&asked, "run")?;
    let outcome = match (number(&asked, "status", 100, 999)?, &asked["error"]) {
        (Some(status), _) => Ok(u16::try_from(status).unwrap_or(999)),
        (None, Value::String(error)) => {
            // PostgreSQL has no NUL in texts.
            let mut error = error.replace('\0', " ");
            error.truncate(error.floor_char_boundary(MAX_ERROR_BYTES));
            Err(error)
        }
        _ => return Err(Problem::bad_request("`status` or `error` must say how the run ended")),
    };
    let again = cron.store.finish(id, receipt, outcome, now()).await.map_err(Problem::internal)?;
    if let Some(development) = &cron.development {
        development.run_ended();
    }
    let lost = || Problem::new(StatusCode::CONFLICT, "the lease has ended: the run is another consumer's, or is over");
    Ok(axum::Json(json!({ "again": again.ok_or_else(lost)? })))
}

async fn find<S: CronStore>(cron: &Cron<S>, name: String) -> Result<Described, Problem> {
    if !is_name(&name) {
        return Err(absent());
    }
    cron.store.job(name).await.map_err(Problem::internal)?.ok_or_else(absent)
}

fn absent() -> Problem {
    Problem::not_found("no job has this name")
}
