//! The routes of queues.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::{Value, json};
use tenon_service::Limits;
use tenon_service::http::charge::Charge;
use tenon_service::http::members::{leased, number};
use tenon_service::http::name::Name;
use tenon_service::http::problem::Problem;
use tenon_service::http::shared::Shared;
use tenon_service::http::{answer, body};
use tenon_service::lease::{backoff, secret_id};

use super::message::MAX_MESSAGES;
use super::{DEAD, Lease, Leased, NewMessage, QueueStore, Settled};

/// The longest lease: half a day.
const MAX_VISIBILITY_MS: u64 = 12 * 3600 * 1000;

/// Default length of a lease.
const VISIBILITY_MS: u64 = 30_000;

/// Default number of deliveries.
const MAX_ATTEMPTS: u32 = 5;

/// `/queue` and below.
pub(crate) fn routes<S: QueueStore>(store: S, limits: Limits) -> Router {
    Router::new()
        .route("/queue", get(list::<S>))
        .route("/queue/{name}", post(send::<S>))
        .route("/queue/{name}/lease", post(lease::<S>))
        .route("/queue/{name}/done", post(done::<S>))
        .route("/queue/{name}/retry", post(retry::<S>))
        .with_state(Shared { store, limits })
}

async fn list<S: QueueStore>(State(shared): State<Shared<S>>) -> Result<axum::Json<Value>, Problem> {
    let queues = shared.store.counts().await?;
    Ok(axum::Json(json!({ "queues": queues })))
}

async fn send<S: QueueStore>(
    State(shared): State<Shared<S>>,
    Name(name): Name,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Value>, Problem> {
    let name = check_name(name)?;
    let (asked, text) = body::read_json_with_text(&headers, body, &shared.limits).await?;
    let messages = NewMessage::all_from_json(&asked, &text, &shared.limits)?;
    let ids = if messages.is_empty() { Vec::new() } else { shared.store.send(name, messages).await? };
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Ok(axum::Json(json!({ "ids": ids })))
}

/// `{"max","visibility_ms","max_attempts"}` → `{"messages":[…]}`; all are optional.
async fn lease<S: QueueStore>(
    State(shared): State<Shared<S>>,
    Name(name): Name,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let name = check_name(name)?;
    let asked = body::read_json(&headers, body, &shared.limits).await?;
    let max = number(&asked, "max", 1, MAX_MESSAGES as u64)?.unwrap_or(1);
    let visibility = number(&asked, "visibility_ms", 1, MAX_VISIBILITY_MS)?.unwrap_or(VISIBILITY_MS);
    let lease = Lease {
        max: usize::try_from(max).unwrap_or(1),
        max_bytes: shared.limits.max_result_bytes,
        visibility: Duration::from_millis(visibility),
        max_attempts: attempts(&name, &asked)?,
        receipt: secret_id().map_err(Problem::internal)?,
    };
    // The store's message and the bodies. One body may be beyond the limit.
    let most = shared.limits.max_result_bytes.max(shared.limits.max_body_bytes);
    Charge::current().take_within(2 * most, shared.limits.queue_timeout).await?;
    let messages = shared.store.lease(name, lease).await?;
    answer::json(&Delivered { messages })
}

#[derive(Serialize)]
struct Delivered {
    messages: Vec<Leased>,
}

/// `{"id","receipt"}`: the message was handled.
async fn done<S: QueueStore>(
    State(shared): State<Shared<S>>,
    Name(name): Name,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let name = check_name(name)?;
    let asked = body::read_json(&headers, body, &shared.limits).await?;
    let (id, receipt) = leased(&asked, "message")?;
    let was_leased = shared.store.done(name, id, receipt).await?;
    if was_leased { Ok(StatusCode::NO_CONTENT) } else { Err(lost()) }
}

/// `{"id","receipt","max_attempts"}` → `{"dead":false}`: the message was not handled, and is delivered again later.
async fn retry<S: QueueStore>(
    State(shared): State<Shared<S>>,
    Name(name): Name,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Value>, Problem> {
    let name = check_name(name)?;
    let asked = body::read_json(&headers, body, &shared.limits).await?;
    let (id, receipt) = leased(&asked, "message")?;
    let delay = match number(&asked, "delay_ms", 0, MAX_VISIBILITY_MS)? {
        Some(delay) => Duration::from_millis(delay),
        None => backoff(number(&asked, "attempts", 1, u64::from(u32::MAX))?.unwrap_or(1)),
    };
    let max_attempts = attempts(&name, &asked)?;
    let settled = shared.store.retry(name, id, receipt, delay, max_attempts).await?;
    match settled {
        Settled::Lost => Err(lost()),
        Settled::Again => Ok(axum::Json(json!({ "dead": false }))),
        Settled::Dead => Ok(axum::Json(json!({ "dead": true }))),
    }
}

fn lost() -> Problem {
    Problem::new(StatusCode::CONFLICT, "the lease has ended: the message is another consumer's, or was handled")
}

/// Dead letters stay in their queue, which has none of its own.
fn attempts(name: &str, asked: &Value) -> Result<u32, Problem> {
    let given = number(asked, "max_attempts", 1, 1000)?;
    if name.ends_with(DEAD) {
        return Ok(u32::MAX);
    }
    Ok(given.and_then(|given| u32::try_from(given).ok()).unwrap_or(MAX_ATTEMPTS))
}

/// Letters, digits, `_` and `-`, with or without the suffix of dead letters.
fn check_name(name: String) -> Result<String, Problem> {
    let own = name.strip_suffix(DEAD).unwrap_or(&name);
    let is_name =
        (1..=64).contains(&own.len()) && own.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_name {
        Ok(name)
    } else {
        Err(Problem::bad_request(
            "the name of a queue must be 1 to 64 letters, digits, _ and -, or such a name and .dead",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["mail", "mail.dead", "a-B_9"] {
            assert!(check_name(name.to_owned()).is_ok(), "{name}");
        }
        for name in ["", ".dead", "a.b", "a/b", "mail.dead.dead", &"x".repeat(65)] {
            assert!(check_name(name.to_owned()).is_err(), "{name}");
        }
    }
}
