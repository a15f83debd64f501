//! The routes of key-value.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};
use tenon_service::Limits;
use tenon_service::base64;
use tenon_service::http::charge::Charge;
use tenon_service::http::problem::Problem;
use tenon_service::http::query::{Query, decode};
use tenon_service::http::shared::Shared;
use tenon_service::http::{answer, body};
use tenon_service::lease::secret_id;

use super::{Changed, Condition, Counted, Entry, Found, Increment, Key, KvStore, MAX_COUNT, Metadata, Put};

/// The longest time to live: a hundred years. Beyond, dates overflow.
const MAX_TTL_SECONDS: u64 = 100 * 365 * 24 * 3600;

/// Bytes of values that are charged before their size is known.
const SMALL: usize = 16 << 10;

/// Number of attempts to read a value that others replace.
const READINGS: usize = 4;

const TTL_HEADER: HeaderName = HeaderName::from_static("x-cache-ttl");

/// `/kv` and `/kv/:key`. A key is the text after `/kv/`, including slashes, percent-decoded once.
pub(crate) fn routes<S: KvStore>(store: S, limits: Limits) -> Router {
    let one = get(read::<S>).put(write::<S>).patch(touch::<S>).post(count::<S>).delete(remove::<S>);
    Router::new()
        .route("/kv", get(list::<S>).post(many::<S>))
        .route("/kv/", one.clone())
        .route("/kv/{*key}", one)
        .with_state(Shared { store, limits })
}

async fn read<S: KvStore>(State(shared): State<Shared<S>>, uri: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let mut entries = entries(&shared, vec![key], usize::MAX).await?;
    let entry = entries.pop().flatten();
    let Entry { value, content_type, etag, ttl, metadata } = entry.ok_or_else(absent)?;
    let etag = quoted(&etag);
    let condition = Condition::of(&headers);
    if condition.if_match.is_some_and(|tags| !tags.match_strongly(&etag)) {
        return Err(failed());
    }
    let unchanged = condition.if_none_match.is_some_and(|tags| tags.match_weakly(&etag));
    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = content_type.and_then(|text| HeaderValue::from_str(&text).ok());
        let content_type = content_type.unwrap_or(HeaderValue::from_static("application/octet-stream"));
        ([(CONTENT_TYPE, content_type)], value).into_response()
    };
    metadata.write(response.headers_mut());
    response.headers_mut().insert(ETAG, etag_header(etag));
    if let Some(ttl) = ttl {
        response.headers_mut().insert(TTL_HEADER, seconds_of(ttl).into());
    }
    Ok(response)
}

/// Reads entries, after their values are charged: the store's message, and a copy. Most fit into the first, small charge.
async fn entries<S: KvStore>(
    shared: &Shared<S>,
    keys: Vec<Key>,
    max_bytes: usize,
) -> Result<Vec<Option<Entry>>, Problem> {
    let charge = Charge::current();
    let mut bytes = SMALL.min(max_bytes);
    // Another request may replace the value between two readings.
    for _ in 0..READINGS {
        charge.take_within(3 * bytes, shared.limits.queue_timeout).await?;
        match shared.store.get(keys.clone(), bytes).await? {
            Found::Entries(entries) => return Ok(entries),
            Found::Larger(more) if more > max_bytes => {
                return Err(Problem::bad_request(format!("the entries are larger than {max_bytes} bytes")));
            }
            Found::Larger(more) => bytes = more,
        }
    }
    Err(Problem::busy())
}

async fn write<S: KvStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let ttl = ttl_of(&uri, &headers)?;
    let condition = Condition::of(&headers);
    let metadata = Metadata::of_headers(&headers)?;
    let value = body::read(&headers, body, &shared.limits).await?;
    // The message to the store, which moves when it grows.
    Charge::current().take_within(3 * value.len(), shared.limits.queue_timeout).await?;
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let etag = fresh_etag()?;
    let put = Put { value, content_type, metadata, etag: etag.clone(), ttl, condition };
    if shared.store.put(key, put).await? {
        Ok((StatusCode::NO_CONTENT, [(ETAG, etag_header(quoted(&etag)))]).into_response())
    } else {
        Err(failed())
    }
}

async fn touch<S: KvStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let ttl = ttl_of(&uri, &headers)?
        .ok_or_else(|| Problem::bad_request("the request must have a time to live: ?ttl=<seconds>"))?;
    changed(shared.store.touch(key, ttl, Condition::of(&headers)).await?)
}

/// `{"incr":n,"ttl":s,"min":a,"max":b}`; all but the first are optional.
async fn count<S: KvStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Value>, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    let asked = body::read_json(&headers, body, &shared.limits).await?;
    let number = |name: &str| match &asked[name] {
        Value::Null => Ok(None),
        value => {
            let number = value.as_i64().filter(|number| number.unsigned_abs() <= MAX_COUNT.unsigned_abs());
            let wrong = || Problem::bad_request(format!("`{name}` must be a whole number within ±(2^53 − 1)"));
            number.map(Some).ok_or_else(wrong)
        }
    };
    let by = number("incr")?.ok_or_else(|| Problem::bad_request("`incr` must be a whole number"))?;
    let ttl = match number("ttl")? {
        None => None,
        Some(seconds) => Some(lifetime(u64::try_from(seconds).ok())?),
    };
    let (min, max, condition) = (number("min")?, number("max")?, Condition::of(&headers));
    let increment = Increment { by, ttl, min, max, etag: fresh_etag()?, condition };
    match shared.store.increment(key, increment).await? {
        Counted::Value(value) => Ok(axum::Json(json!({ "value": value }))),
        Counted::Beyond(value) => {
            Err(Problem::new(StatusCode::CONFLICT, "the counter would leave its bounds").with_member("value", value))
        }
        Counted::NoNumber => Err(Problem::new(StatusCode::CONFLICT, "the value of this key is not a whole number")),
        Counted::Failed => Err(failed()),
    }
}

/// `{"get":[…]}`, or `{"set":[…]}`.
async fn many<S: KvStore>(
    State(shared): State<Shared<S>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (asked, _) = body::read_json_with_text(&headers, body, &shared.limits).await?;
    match (asked["get"].is_null(), asked["set"].is_null()) {
        (true, false) => write_many(&shared, &asked).await.map(IntoResponse::into_response),
        (false, false) => Err(Problem::bad_request("the request must have `get` or `set`, not both")),
        (_, true) => read_many(&shared, &asked).await,
    }
}

/// `{"set":[{"key","value","base64","content_type","ttl","metadata"}]}` → the ETags of the entries; all are stored, or
/// none.
async fn write_many<S: KvStore>(shared: &Shared<S>, asked: &Value) -> Result<axum::Json<Value>, Problem> {
    let wrong = || Problem::bad_request("`set` must be a list of entries with `key`, and `value` or `base64`");
    let given = asked["set"].as_array().ok_or_else(wrong)?;
    if given.len() > shared.limits.max_list_page {
        let detail = format!("`set` must have at most {} entries", shared.limits.max_list_page);
        return Err(Problem::bad_request(detail));
    }
    let mut entries = Vec::with_capacity(given.len());
    for entry in given {
        let key = check_key(entry["key"].as_str().ok_or_else(wrong)?.as_bytes(), &shared.limits)?;
        let (value, default_type) = match (&entry["value"], &entry["base64"]) {
            (Value::String(text), Value::Null) => (text.clone().into_bytes(), "text/plain; charset=utf-8"),
            (Value::Null, Value::String(text)) => (base64::decode(text).ok_or_else(wrong)?, "application/octet-stream"),
            _ => return Err(wrong()),
        };
        let content_type = match &entry["content_type"] {
            Value::Null => default_type,
            value => value.as_str().filter(|text| HeaderValue::from_str(text).is_ok()).ok_or_else(wrong)?,
        };
        let ttl = match &entry["ttl"] {
            Value::Null => None,
            value => Some(lifetime(value.as_u64())?),
        };
        let put = Put {
            value: value.into(),
            content_type: Some(content_type.to_owned()),
            metadata: Metadata::of_json(&entry["metadata"])?,
            etag: fresh_etag()?,
            ttl,
            condition: Condition::default(),
        };
        entries.push((key, put));
    }
    let etags: Vec<String> = entries.iter().map(|(_, put)| quoted(&put.etag)).collect();
    if !entries.is_empty() {
        shared.store.put_many(entries).await?;
    }
    Ok(axum::Json(json!({ "etags": etags })))
}

/// `{"get":[…]}`: an entry for each of the keys, or `null`.
async fn read_many<S: KvStore>(shared: &Shared<S>, asked: &Value) -> Result<Response, Problem> {
    let wrong = || Problem::bad_request("`get` must be a list of keys");
    let names = asked["get"].as_array().ok_or_else(wrong)?;
    if names.len() > shared.limits.max_list_page {
        let detail = format!("`get` must have at most {} keys", shared.limits.max_list_page);
        return Err(Problem::bad_request(detail));
    }
    let keys: Result<Vec<Key>, Problem> =
        names.iter().map(|name| check_key(name.as_str().ok_or_else(wrong)?.as_bytes(), &shared.limits)).collect();
    let most = shared.limits.max_result_bytes;
    let keys = keys?;
    if keys.is_empty() {
        return answer::json(&json!({ "entries": [] }));
    }
    let entries = entries(shared, keys, most).await?;
    let described =
        names.iter().zip(entries).map(|(name, entry)| entry.map_or(Value::Null, |entry| describe(name, entry)));
    answer::json(&json!({ "entries": described.collect::<Vec<_>>() }))
}

/// An entry in JSON: its value as `value` when it is UTF-8, else in `base64`.
fn describe(name: &Value, entry: Entry) -> Value {
    let content_type = entry.content_type.as_deref().unwrap_or("application/octet-stream");
    let mut described = json!({ "key": name, "content_type": content_type, "etag": quoted(&entry.etag) });
    match std::str::from_utf8(&entry.value) {
        Ok(text) => described["value"] = text.into(),
        Err(_) => described["base64"] = base64::encode(&entry.value).into(),
    }
    if let Some(metadata) = entry.metadata.to_json() {
        described["metadata"] = metadata;
    }
    if let Some(ttl) = entry.ttl {
        described["ttl"] = seconds_of(ttl).into();
    }
    described
}

async fn remove<S: KvStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let key = key_of(&uri, &shared.limits)?;
    changed(shared.store.delete(key, Condition::of(&headers)).await?)
}

fn changed(changed: Changed) -> Result<StatusCode, Problem> {
    match changed {
        Changed::Done => Ok(StatusCode::NO_CONTENT),
        Changed::Absent => Err(absent()),
        Changed::Failed => Err(failed()),
    }
}

async fn list<S: KvStore>(State(shared): State<Shared<S>>, uri: Uri) -> Result<axum::Json<Value>, Problem> {
    let query = Query::of(&uri)?;
    let limit = query.limit(shared.limits.list_page, shared.limits.max_list_page)?;
    let prefix = Key::new(query.bytes("prefix").unwrap_or_default());
    let after = query.bytes("after").map(Key::new);
    // The keys of the page, their texts, and the answer.
    Charge::current().take(4 * (limit + 1) * shared.limits.max_key_bytes)?;
    // One more than the limit shows whether there is a next page.
    let mut keys = shared.store.list(prefix, after, limit + 1).await?;
    let more = keys.len() > limit;
    keys.truncate(limit);
    let next = if more { keys.last().map(Key::to_text) } else { None };
    let keys: Vec<String> = keys.iter().map(Key::to_text).collect();
    Ok(axum::Json(json!({ "keys": keys, "next": next })))
}

fn absent() -> Problem {
    Problem::not_found("nothing is kept under this key")
}

fn failed() -> Problem {
    Problem::new(StatusCode::PRECONDITION_FAILED, "the entry is not as the request's conditions want it")
}

fn key_of(uri: &Uri, limits: &Limits) -> Result<Key, Problem> {
    check_key(&decode(uri.path().strip_prefix("/kv/").unwrap_or(""))?, limits)
}

fn check_key(bytes: &[u8], limits: &Limits) -> Result<Key, Problem> {
    if bytes.is_empty() {
        return Err(Problem::bad_request("a key must not be empty"));
    }
    if bytes == b"." || bytes == b".." {
        return Err(Problem::bad_request("a key must not be . or .., which clients take for folders"));
    }
    if bytes.len() > limits.max_key_bytes {
        return Err(Problem::bad_request(format!("a key must not be longer than {} bytes", limits.max_key_bytes)));
    }
    Ok(Key::new(bytes))
}

/// `?ttl=<seconds>`, or the header; without either the entry never expires.
fn ttl_of(uri: &Uri, headers: &HeaderMap) -> Result<Option<Duration>, Problem> {
    let query = Query::of(uri)?;
    let text = match (query.text("ttl")?, headers.get(TTL_HEADER)) {
        (Some(text), _) => text,
        (None, Some(value)) => value.to_str().unwrap_or_default(),
        (None, None) => return Ok(None),
    };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    lifetime(text.parse::<u64>().ok().filter(|_| digits)).map(Some)
}

fn lifetime(seconds: Option<u64>) -> Result<Duration, Problem> {
    let wrong = || Problem::bad_request(format!("the time to live must be whole seconds, from 1 to {MAX_TTL_SECONDS}"));
    seconds.filter(|seconds| (1..=MAX_TTL_SECONDS).contains(seconds)).map(Duration::from_secs).ok_or_else(wrong)
}

/// Remaining seconds, rounded up.
fn seconds_of(ttl: Duration) -> u64 {
    u64::try_from(ttl.as_millis().div_ceil(1000)).unwrap_or(u64::MAX)
}

fn quoted(etag: &str) -> String {
    format!("\"{etag}\"")
}

fn etag_header(quoted: String) -> HeaderValue {
    HeaderValue::try_from(quoted).unwrap_or(HeaderValue::from_static("\"\""))
}

/// A unique ETag.
fn fresh_etag() -> Result<String, Problem> {
    secret_id().map_err(Problem::internal)
}
