//! The routes of SQL.

use std::fmt::Write;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;

use super::{Answer, Failed, Isolation, Keyed, Mode, Outcome, SqlRequest, SqlStore, Statement};
use crate::Limits;
use crate::http::body;
use crate::http::problem::Problem;

/// Set on an answer that an earlier request of the same idempotency key had.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

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
    single(&shared, &headers, body, "query", |outcomes| format!("{{{}}}", rows_of(first(outcomes)))).await
}

async fn execute<S: SqlStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let answer = |outcomes: &[Outcome]| format!("{{\"rows_affected\":{}}}", first(outcomes).rows_affected);
    single(&shared, &headers, body, "execute", answer).await
}

async fn batch<S: SqlStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (body, text) = body::read_json_with_text(&headers, body, &shared.limits).await?;
    let keyed = Keyed::of(&headers, "batch", &body)?;
    let isolation = Isolation::from_json(&body["isolation"])?;
    let statements = Statement::all_of_body(body, &text, &shared.limits)?;
    if statements.is_empty() {
        return Ok(json("{\"results\":[]}".to_owned()));
    }
    let request = SqlRequest { statements, mode: Mode::Transaction, isolation, keyed, answer: results };
    let answer = shared.store.run(request).await.map_err(|Failed { statement, error }| {
        let problem = Problem::from(error);
        problem.of_statement(statement)
    })?;
    Ok(answered(answer))
}

fn results(outcomes: &[Outcome]) -> String {
    let mut text = String::from("{\"results\":[");
    for (index, outcome) in outcomes.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string does not fail.
        let _ = write!(text, "{comma}{{{},\"rows_affected\":{}}}", rows_of(outcome), outcome.rows_affected);
    }
    text.push_str("]}");
    text
}

async fn single<S: SqlStore>(
    shared: &Shared<S>,
    headers: &HeaderMap,
    body: Body,
    route: &str,
    answer: fn(&[Outcome]) -> String,
) -> Result<Response, Problem> {
    let (body, text) = body::read_json_with_text(headers, body, &shared.limits).await?;
    let keyed = Keyed::of(headers, route, &body)?;
    let statement = Statement::of_body(body, &text, &shared.limits)?;
    let request = SqlRequest { statements: vec![statement], mode: Mode::Single, isolation: None, keyed, answer };
    let answer = shared.store.run(request).await.map_err(|failed| failed.error)?;
    Ok(answered(answer))
}

/// The outcome of a request's one statement.
fn first(outcomes: &[Outcome]) -> &Outcome {
    static NONE: Outcome = Outcome { columns: Vec::new(), rows: String::new(), row_count: 0, rows_affected: 0 };
    outcomes.first().unwrap_or(&NONE)
}

/// An answer; one that was given before says so.
fn answered(answer: Answer) -> Response {
    let mut response = json(answer.body);
    if answer.replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

fn rows_of(outcome: &Outcome) -> String {
    let columns = Value::from(outcome.columns.clone());
    format!("\"columns\":{columns},\"rows\":[{}]", outcome.rows)
}

fn json(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
