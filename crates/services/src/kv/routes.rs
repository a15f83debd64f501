//! The routes of key-value.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::{Entry, Key, KvStore};
use crate::Limits;
use crate::http::body;
use crate::http::problem::Problem;
use crate::http::query::{Query, decode};
use crate::http::shared::Shared;

/// The longest time to live: a hundred years. Beyond, dates overflow.
const MAX_TTL_SECONDS: u64 = 100 * 365 * 24 * 3600;

const TTL_HEADER: HeaderName = HeaderName::from_static("x-cache-ttl");

/// `/kv` and `/kv/:key`. A key is all that follows `/kv/`, slashes included, percent-decoded once.
pub(crate) fn routes<S: KvStore>(store: S, limits: Limits) -> Router {
    let one = get(read::<S>).put(write::<S>).delete(remove::<S>);
    Router::new()
        .route("/kv", get(list::<S>))
        .route("/kv/", one.clone())
        .route("/kv/{*key}", one)
        .with_state(Shared { store, limits })
}

async fn read<S: KvStore>(State(shared): State<Shared<S>>, uri: Uri) -> Result<Response, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let entry = shared.store.get(key).await.map_err(Problem::internal)?;
    let Entry { value, content_type } = entry.ok_or_else(absent)?;
    let content_type = content_type.and_then(|text| HeaderValue::from_str(&text).ok());
    let content_type = content_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    Ok(([(CONTENT_TYPE, content_type)], value).into_response())
}

async fn write<S: KvStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let ttl = ttl_of(&uri, &headers)?;
    let value = body::read(&headers, body, &shared.limits).await?;
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    shared.store.put(key, Entry { value, content_type }, ttl).await.map_err(Problem::internal)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove<S: KvStore>(State(shared): State<Shared<S>>, uri: Uri) -> Result<StatusCode, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let there = shared.store.delete(key).await.map_err(Problem::internal)?;
    if there { Ok(StatusCode::NO_CONTENT) } else { Err(absent()) }
}

async fn list<S: KvStore>(State(shared): State<Shared<S>>, uri: Uri) -> Result<axum::Json<Value>, Problem> {
    let query = Query::of(&uri)?;
    let limit = query.limit(shared.limits.list_page, shared.limits.max_list_page)?;
    let prefix = Key::new(query.bytes("prefix").unwrap_or_default());
    let after = query.bytes("after").map(Key::new);
    // One more than asked for tells whether there is a next page.
    let mut keys = shared.store.list(prefix, after, limit + 1).await.map_err(Problem::internal)?;
    let more = keys.len() > limit;
    keys.truncate(limit);
    let next = if more { keys.last().map(Key::to_text) } else { None };
    let keys: Vec<String> = keys.iter().map(Key::to_text).collect();
    Ok(axum::Json(json!({ "keys": keys, "next": next })))
}

fn absent() -> Problem {
    Problem::not_found("nothing is kept under this key")
}

fn key_of(uri: &Uri, limits: &Limits) -> Result<Key, Problem> {
    let bytes = decode(uri.path().strip_prefix("/kv/").unwrap_or(""))?;
    if bytes.is_empty() {
        return Err(Problem::bad_request("a key must not be empty"));
    }
    if bytes == b"." || bytes == b".." {
        return Err(Problem::bad_request("a key must not be . or .., which clients take for folders"));
    }
    if bytes.len() > limits.max_key_bytes {
        return Err(Problem::bad_request(format!("a key must not be longer than {} bytes", limits.max_key_bytes)));
    }
    Ok(Key::new(&bytes))
}

/// `?ttl=<seconds>`, or the header; none keeps the entry for good.
fn ttl_of(uri: &Uri, headers: &HeaderMap) -> Result<Option<Duration>, Problem> {
    let query = Query::of(uri)?;
    let wrong = || Problem::bad_request(format!("the time to live must be whole seconds, from 1 to {MAX_TTL_SECONDS}"));
    let text = match (query.text("ttl")?, headers.get(TTL_HEADER)) {
        (Some(text), _) => text,
        (None, Some(value)) => value.to_str().map_err(|_| wrong())?,
        (None, None) => return Ok(None),
    };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = text.parse::<u64>().ok().filter(|seconds| digits && (1..=MAX_TTL_SECONDS).contains(seconds));
    Ok(Some(Duration::from_secs(seconds.ok_or_else(wrong)?)))
}
