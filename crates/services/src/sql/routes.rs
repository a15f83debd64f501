//! The routes of SQL.

use std::fmt::Write;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;

use super::{Failed, Mode, Outcome, SqlStore, Statement};
use crate::Limits;
use crate::http::body;
use crate::http::problem::Problem;

struct Shared<S> {
    store: S,
    limits: Limits,
}

impl<S: Clone> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), limits: self.limits.clone() }
    }
}

/// `/sql/query`, `/sql/execute` and `/sql/batch`.
pub(crate) fn routes<S: SqlStore>(store: S, limits: Limits) -> Router {
    Router::new()
        .route("/sql/query", post(query::<S>))
        .route("/sql/execute", post(execute::<S>))
        .route("/sql/batch", post(batch::<S>))
        .with_state(Shared { store, limits })
}

async fn query<S: SqlStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let outcome = single(&shared, &headers, body).await?;
    Ok(json(format!("{{{}}}", rows_of(&outcome))))
}

async fn execute<S: SqlStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let outcome = single(&shared, &headers, body).await?;
    Ok(json(format!("{{\"rows_affected\":{}}}", outcome.rows_affected)))
}

async fn batch<S: SqlStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = body::read_json(&headers, body, &shared.limits).await?;
    let statements = Statement::batch_from_json(body, &shared.limits)?;
    if statements.is_empty() {
        return Ok(json("{\"results\":[]}".to_owned()));
    }
    let outcomes = shared.store.run(statements, Mode::Transaction).await.map_err(|Failed { statement, error }| {
        let problem = Problem::from(error);
        problem.of_statement(statement)
    })?;
    let mut text = String::from("{\"results\":[");
    for (index, outcome) in outcomes.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string does not fail.
        let _ = write!(text, "{comma}{{{},\"rows_affected\":{}}}", rows_of(outcome), outcome.rows_affected);
    }
    text.push_str("]}");
    Ok(json(text))
}

async fn single<S: SqlStore>(shared: &Shared<S>, headers: &HeaderMap, body: Body) -> Result<Outcome, Problem> {
    let body = body::read_json(headers, body, &shared.limits).await?;
    let statement = Statement::from_json(body, &shared.limits)?;
    let outcomes = shared.store.run(vec![statement], Mode::Single).await.map_err(|failed| failed.error)?;
    outcomes.into_iter().next().ok_or_else(|| Problem::internal("a statement without an outcome"))
}

fn rows_of(outcome: &Outcome) -> String {
    let columns = Value::from(outcome.columns.clone());
    format!("\"columns\":{columns},\"rows\":[{}]", outcome.rows)
}

fn json(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
