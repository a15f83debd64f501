//! The routes of cron.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use chrono::Utc;
use serde::Serialize;
use serde_json::{Value, json};

use super::book::{REMEMBERED_RUNS, Run, iso};
use super::job::{Job, is_name};
use super::{Cron, schedule};
use crate::Limits;
use crate::http::body;
use crate::http::problem::Problem;
use crate::http::query::Query;

#[derive(Serialize)]
struct Jobs {
    jobs: Vec<Described>,
}

type Shared = State<(Cron, Limits)>;

/// `/cron` and what is below it.
pub(crate) fn routes(cron: Cron, limits: Limits) -> Router {
    Router::new()
        .route("/cron", get(list).post(add))
        .route("/cron/{name}", get(show).patch(change).delete(remove))
        .route("/cron/{name}/trigger", post(trigger))
        .route("/cron/{name}/history", get(history))
        .with_state((cron, limits))
}

async fn list(State((cron, _)): Shared) -> Result<axum::Json<Jobs>, Problem> {
    let jobs = cron.book.jobs().await.map_err(Problem::internal)?;
    let mut described = Vec::with_capacity(jobs.len());
    for job in &jobs {
        described.push(describe(&cron, job).await?);
    }
    Ok(axum::Json(Jobs { jobs: described }))
}

async fn add(State((cron, limits)): Shared, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    let body = body::read_json(&headers, body, &limits).await?;
    let job = Job::from_json(body).map_err(Problem::bad_request)?;
    if !cron.book.add(job.clone()).await.map_err(Problem::internal)? {
        return Err(Problem::new(StatusCode::CONFLICT, "there is a job of this name"));
    }
    cron.runner.jobs_changed();
    let location = format!("/cron/{}", job.name);
    Ok((StatusCode::CREATED, [(LOCATION, location)], axum::Json(describe(&cron, &job).await?)).into_response())
}

async fn show(State((cron, _)): Shared, Path(name): Path<String>) -> Result<axum::Json<Described>, Problem> {
    let job = find(&cron, &name).await?;
    Ok(axum::Json(describe(&cron, &job).await?))
}

async fn change(
    State((cron, limits)): Shared,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Described>, Problem> {
    let body = body::read_json(&headers, body, &limits).await?;
    let job = find(&cron, &name).await?.patched(body).map_err(Problem::bad_request)?;
    cron.book.replace(job.clone()).await.map_err(Problem::internal)?;
    cron.runner.jobs_changed();
    Ok(axum::Json(describe(&cron, &job).await?))
}

async fn remove(State((cron, _)): Shared, Path(name): Path<String>) -> Result<StatusCode, Problem> {
    if !cron.book.remove(&name).await.map_err(Problem::internal)? {
        return Err(absent());
    }
    cron.runner.jobs_changed();
    Ok(StatusCode::NO_CONTENT)
}

/// Runs a job now, enabled or not, and answers when it has run.
async fn trigger(State((cron, _)): Shared, Path(name): Path<String>) -> Result<axum::Json<Run>, Problem> {
    let job = find(&cron, &name).await?;
    // Not to be cut short by a client that leaves.
    let run = tokio::spawn(async move { cron.runner.run(&job, "manual").await }).await.map_err(Problem::internal)?;
    Ok(axum::Json(run))
}

async fn history(State((cron, _)): Shared, Path(name): Path<String>, uri: Uri) -> Result<axum::Json<Value>, Problem> {
    let job = find(&cron, &name).await?;
    let limit = Query::of(&uri)?.limit(REMEMBERED_RUNS, REMEMBERED_RUNS)?;
    let runs = cron.book.runs(&job.name, limit).await.map_err(Problem::internal)?;
    Ok(axum::Json(json!({ "runs": runs })))
}

async fn find(cron: &Cron, name: &str) -> Result<Job, Problem> {
    if !is_name(name) {
        return Err(absent());
    }
    cron.book.job(name).await.map_err(Problem::internal)?.ok_or_else(absent)
}

fn absent() -> Problem {
    Problem::not_found("no job has this name")
}

/// A job with its next time, and what became of it last.
#[derive(Serialize)]
struct Described {
    #[serde(flatten)]
    job: Job,
    next: Option<String>,
    last: Option<Run>,
}

async fn describe(cron: &Cron, job: &Job) -> Result<Described, Problem> {
    let next = schedule::parse(&job.schedule).ok().filter(|_| job.enabled);
    let next = next.and_then(|schedule| schedule::next(&schedule, Utc::now())).map(iso);
    let last = cron.book.runs(&job.name, 1).await.map_err(Problem::internal)?.into_iter().next();
    Ok(Described { job: job.clone(), next, last })
}
