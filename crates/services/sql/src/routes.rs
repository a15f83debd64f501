//! The routes of SQL.

use std::fmt::Write;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tenon_service::Limits;
use tenon_service::http::body;
use tenon_service::http::charge::Charge;
use tenon_service::http::problem::Problem;

use super::request::foreign_keys_of;
use super::transactions::{ENDED, TRANSACTION, Transactions};
use super::{Failed, Isolation, Keyed, Mode, Outcome, SqlAnswer, SqlRequest, SqlStore, Statement};

/// Set on the stored answer of an idempotency key.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

struct Shared<S: SqlStore> {
    store: S,
    transactions: Transactions<S>,
    limits: Limits,
}

impl<S: SqlStore> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), transactions: self.transactions.clone(), limits: self.limits.clone() }
    }
}

impl<S: SqlStore> Shared<S> {
    /// Runs a request in the transaction that its headers name, or else on its own.
    async fn run(&self, headers: &HeaderMap, request: SqlRequest) -> Result<SqlAnswer, Problem> {
        let is_batch = request.mode == Mode::Transaction;
        let ran = match headers.get(TRANSACTION) {
            None => self.store.run(request).await,
            Some(_) if request.keyed.is_some() || request.isolation.is_some() => {
                return Err(Problem::bad_request("a transaction must have one isolation, and no Idempotency-Key"));
            }
            Some(_) if !request.foreign_keys => {
                return Err(Problem::bad_request("`foreign_keys` must be in the request that begins the transaction"));
            }
            Some(_) => self.transactions.run(named(headers)?, headers, request).await,
        };
        ran.map_err(|Failed { statement, error }| {
            let problem = Problem::from(error);
            match statement.filter(|_| is_batch) {
                Some(statement) => problem.of_statement(statement),
                None => problem,
            }
        })
    }
}

/// `/sql/query`, `/sql/execute`, `/sql/batch`, and `/sql/transaction`.
pub(crate) fn routes<S: SqlStore>(store: S, limits: Limits) -> Router {
    let limits = Limits { max_params: limits.max_params.min(S::MAX_PARAMS), ..limits };
    Router::new()
        .route("/sql/query", post(query::<S>))
        .route("/sql/execute", post(execute::<S>))
        .route("/sql/batch", post(batch::<S>))
        .route("/sql/transaction", post(begin::<S>).delete(roll_back::<S>))
        .route("/sql/transaction/commit", post(commit::<S>))
        .with_state(Shared { transactions: Transactions::new(store.clone(), limits.clone()), store, limits })
}

/// `{"isolation", "foreign_keys"}`, or an empty body → 201 with the id of a transaction.
async fn begin<S: SqlStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = body::read_optional_json(&headers, body, &shared.limits).await?;
    let isolation = Isolation::from_json(&body["isolation"])?;
    let id = shared.transactions.begin(isolation, foreign_keys_of(&body)?, &headers).await?;
    Ok((StatusCode::CREATED, [(TRANSACTION, id.clone())], axum::Json(json!({ "id": id }))).into_response())
}

async fn commit<S: SqlStore>(State(shared): State<Shared<S>>, headers: HeaderMap) -> Result<Response, Problem> {
    let id = named(&headers)?;
    shared.transactions.commit(id, &headers).await?;
    Ok((StatusCode::NO_CONTENT, [(ENDED, id.to_owned())]).into_response())
}

async fn roll_back<S: SqlStore>(State(shared): State<Shared<S>>, headers: HeaderMap) -> Result<Response, Problem> {
    let id = named(&headers)?;
    shared.transactions.roll_back(id, &headers).await?;
    Ok((StatusCode::NO_CONTENT, [(ENDED, id.to_owned())]).into_response())
}

/// The transaction that a request names.
fn named(headers: &HeaderMap) -> Result<&str, Problem> {
    let id = headers.get(TRANSACTION).and_then(|id| id.to_str().ok());
    id.ok_or_else(|| Problem::bad_request("the header `Tenon-Transaction` must name a transaction"))
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
    let keyed = Keyed::of(&headers, "batch", &body, &text)?;
    let isolation = Isolation::from_json(&body["isolation"])?;
    let foreign_keys = foreign_keys_of(&body)?;
    let statements = Statement::all_of_body(body, &text, &shared.limits)?;
    let charge = Charge::current();
    let mode = Mode::Transaction;
    let request = SqlRequest { statements, mode, isolation, foreign_keys, keyed, answer: results, charge };
    Ok(answered(shared.run(&headers, request).await?))
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
    let keyed = Keyed::of(headers, route, &body, &text)?;
    let statement = Statement::of_body(body, &text, &shared.limits)?;
    let request = SqlRequest {
        statements: vec![statement],
        mode: Mode::Single,
        isolation: None,
        foreign_keys: true,
        keyed,
        answer,
        charge: Charge::current(),
    };
    Ok(answered(shared.run(headers, request).await?))
}

/// The outcome of a request's one statement.
fn first(outcomes: &[Outcome]) -> &Outcome {
    static NONE: Outcome = Outcome { columns: Vec::new(), rows: String::new(), row_count: 0, rows_affected: 0 };
    outcomes.first().unwrap_or(&NONE)
}

/// An answer; a header marks a replayed one.
fn answered(answer: SqlAnswer) -> Response {
    let mut response = in_json(answer.body);
    if answer.replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

fn rows_of(outcome: &Outcome) -> String {
    let columns = Value::from(outcome.columns.clone());
    format!("\"columns\":{columns},\"rows\":[{}]", outcome.rows)
}

fn in_json(text: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
