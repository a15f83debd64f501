//! The routes of storage.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION, RANGE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chrono::SecondsFormat;
use serde_json::{Value, json};

use super::conditions::{ReadAnswer, http_date};
use super::range::{self, Asked};
use super::{BlobStore, Conditions, DEFAULT_TYPE, Meta, Object, ObjectPath, StorageError};
use crate::Limits;
use crate::http::body;
use crate::http::problem::Problem;
use crate::http::query::{Query, decode};
use crate::http::shared::Shared;

/// `/storage` and `/storage/*path`. A path is all that follows `/storage/`, percent-decoded once.
pub(crate) fn routes<S: BlobStore>(store: S, limits: Limits) -> Router {
    let one = get(read::<S>).put(write::<S>).delete(remove::<S>);
    Router::new()
        .route("/storage", get(list::<S>))
        .route("/storage/", one.clone())
        .route("/storage/{*path}", one)
        .with_state(Shared { store, limits })
}

async fn read<S: BlobStore>(
    State(shared): State<Shared<S>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path = path_of(&uri, &shared.limits)?;
    let conditions = Conditions::of(&headers);
    let range = headers.get(RANGE).and_then(|value| value.to_str().ok());
    if method == Method::GET && range.is_none() && conditions.are_none() {
        let Object { meta, body } = shared.store.read(&path, None, None).await?;
        return Ok(answer(StatusCode::OK, &meta, meta.size, Body::from_stream(body)));
    }
    let meta = shared.store.head(&path).await?;
    match conditions.of_read(&meta) {
        ReadAnswer::Proceed => {}
        ReadAnswer::Failed => return Err(StorageError::Precondition.into()),
        ReadAnswer::NotModified => {
            let mut response = answer(StatusCode::NOT_MODIFIED, &meta, 0, Body::empty());
            response.headers_mut().remove(CONTENT_LENGTH);
            return Ok(response);
        }
    }
    if method == Method::HEAD {
        return Ok(answer(StatusCode::OK, &meta, meta.size, Body::empty()));
    }
    let asked = if conditions.allow_range(&meta) { range::parse(range, meta.size) } else { Asked::Whole };
    let part = match asked {
        Asked::Whole => None,
        Asked::Part(part) => Some(part),
        Asked::Unsatisfiable => {
            let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, "the object has no such bytes");
            return Err(problem.with_header(CONTENT_RANGE, header(format!("bytes */{}", meta.size))));
        }
    };
    // Of this very object: were it another by now, conditions and range would not be about it.
    let object = shared.store.read(&path, part.clone(), Some(meta.etag.clone())).await?;
    let body = Body::from_stream(object.body);
    let Some(part) = part else { return Ok(answer(StatusCode::OK, &meta, meta.size, body)) };
    let mut response = answer(StatusCode::PARTIAL_CONTENT, &meta, part.end - part.start, body);
    let content_range = format!("bytes {}-{}/{}", part.start, part.end - 1, meta.size);
    response.headers_mut().insert(CONTENT_RANGE, header(content_range));
    Ok(response)
}

async fn write<S: BlobStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let path = path_of(&uri, &shared.limits)?;
    // To take a part for the whole would lose the rest (RFC 9110, section 14.5).
    if headers.contains_key(CONTENT_RANGE) {
        return Err(Problem::bad_request("an object is written whole, without Content-Range"));
    }
    let bytes = body::read(&headers, body, &shared.limits).await?;
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or(DEFAULT_TYPE);
    let written = shared.store.write(&path, bytes, content_type, &Conditions::of(&headers)).await?;
    let etag = header(written.etag);
    Ok(if written.created {
        (StatusCode::CREATED, [(ETAG, etag), (LOCATION, header(uri.path().to_owned()))]).into_response()
    } else {
        (StatusCode::NO_CONTENT, [(ETAG, etag)]).into_response()
    })
}

async fn remove<S: BlobStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let path = path_of(&uri, &shared.limits)?;
    shared.store.delete(&path, &Conditions::of(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list<S: BlobStore>(State(shared): State<Shared<S>>, uri: Uri) -> Result<axum::Json<Value>, Problem> {
    let query = Query::of(&uri)?;
    let limit = query.limit(shared.limits.list_page, shared.limits.max_list_page)?;
    let (prefix, after) = (query.text("prefix")?.unwrap_or(""), query.text("after")?);
    // One more than asked for tells whether there is a next page.
    let mut objects = shared.store.list(prefix, after, limit + 1).await?;
    let more = objects.len() > limit;
    objects.truncate(limit);
    let next = if more { objects.last().map(|meta| meta.path.clone()) } else { None };
    let objects: Vec<Value> = objects.iter().map(describe).collect();
    Ok(axum::Json(json!({ "objects": objects, "next": next })))
}

fn describe(meta: &Meta) -> Value {
    json!({
        "path": meta.path, "size": meta.size, "content_type": meta.content_type, "etag": meta.etag,
        "modified": meta.modified.to_rfc3339_opts(SecondsFormat::Millis, true),
    })
}

fn path_of(uri: &Uri, limits: &Limits) -> Result<ObjectPath, Problem> {
    let bytes = decode(uri.path().strip_prefix("/storage/").unwrap_or(""))?;
    ObjectPath::new(&bytes, limits.max_key_bytes)
}

fn answer(status: StatusCode, meta: &Meta, length: u64, body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, header(meta.content_type.clone())),
        (CONTENT_LENGTH, length.into()),
        (ETAG, header(meta.etag.clone())),
        (LAST_MODIFIED, header(http_date(meta.modified))),
        (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
    ];
    (status, headers, body).into_response()
}

/// A header's value of what came out of headers, or is ours.
fn header(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}
