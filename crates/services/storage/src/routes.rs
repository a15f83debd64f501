//! The routes of storage.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HOST, LAST_MODIFIED, LOCATION, RANGE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use chrono::SecondsFormat;
use object_store::signer::{SignedUrlOptions, Signer as _};
use serde_json::{Value, json};
use tenon_service::Limits;
use tenon_service::http::body::{self, Incoming};
use tenon_service::http::charge::Charge;
use tenon_service::http::problem::Problem;
use tenon_service::http::query::{Query, decode};
use tenon_service::http::shared::Shared;

use super::conditions::{ReadAnswer, http_date};
use super::range::{self, AskedRange};
use super::signed::Permission;
use super::upload_routes::Asked;
use super::uploads::{UploadId, part_number};
use super::{
    BlobStore, Conditions, Kept, ListOf, Meta, Object, ObjectPath, Page, Signer, StorageError, Written, signed,
    upload_routes,
};

/// `/storage` and `/storage/*path`. A path is the text after `/storage/`, percent-decoded once.
///
/// `public_url` is the base of the URLs that the service signs; without one it is the `Host` of the request.
pub(crate) fn routes<S: BlobStore>(store: S, public_url: Option<String>, limits: Limits) -> Router {
    let one = get(read::<S>).put(write::<S>).post(copy::<S>).delete(remove::<S>);
    Router::new()
        .route("/storage", get(list::<S>))
        .route("/storage/", one.clone())
        .route("/storage/{*path}", one)
        .route("/storage-url", post(sign::<S>))
        .route("/storage-url/{*path}", get(read_signed::<S>).put(write_signed::<S>))
        .layer(Extension(PublicUrl(public_url)))
        .with_state(Shared { store, limits })
}

/// Bytes of an object in a page of a list, besides its path.
const OBJECT: usize = 2048;

/// The base of the URLs that the service signs.
#[derive(Clone)]
struct PublicUrl(Option<String>);

async fn read<S: BlobStore>(
    State(shared): State<Shared<S>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path = path_of(&uri, &shared.limits)?;
    match Asked::of(&uri)? {
        Some(asked) => upload_routes::list(&shared, &path, &asked).await,
        None => send(&shared, &method, &path, &headers).await,
    }
}

async fn send<S: BlobStore>(
    shared: &Shared<S>,
    method: &Method,
    path: &ObjectPath,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let conditions = Conditions::of(headers);
    let range = headers.get(RANGE).and_then(|value| value.to_str().ok());
    if *method == Method::GET && range.is_none() && conditions.are_none() {
        let Object { meta, body } = shared.store.read(path, None, None).await?;
        return Ok(answer(StatusCode::OK, &meta, meta.size, Body::from_stream(body)));
    }
    let meta = shared.store.head(path).await?;
    match conditions.of_read(&meta) {
        ReadAnswer::Proceed => {}
        ReadAnswer::Failed => return Err(StorageError::Precondition.into()),
        ReadAnswer::NotModified => return Ok(answer(StatusCode::NOT_MODIFIED, &meta, 0, Body::empty())),
    }
    if *method == Method::HEAD {
        return Ok(answer(StatusCode::OK, &meta, meta.size, Body::empty()));
    }
    let asked = if conditions.allow_range(&meta) { range::parse(range, meta.size) } else { AskedRange::Whole };
    let part = match asked {
        AskedRange::Whole => None,
        AskedRange::Part(part) => Some(part),
        AskedRange::Unsatisfiable => {
            let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, "the object has no such bytes");
            return Err(problem.with_header(CONTENT_RANGE, header(format!("bytes */{}", meta.size))));
        }
    };
    // Reads this very version, because conditions and range were checked against it.
    let object = shared.store.read(path, part.clone(), Some(meta.etag.clone())).await?;
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
    match Asked::of(&uri)? {
        Some(asked) => upload_routes::put(&shared, &path, &asked.part()?, &headers, body).await,
        None => keep(&shared, uri.path().to_owned(), &path, &headers, body).await,
    }
}

async fn keep<S: BlobStore>(
    shared: &Shared<S>,
    location: String,
    path: &ObjectPath,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    // Storing a part as the whole would lose the rest (RFC 9110, section 14.5).
    if headers.contains_key(CONTENT_RANGE) {
        return Err(Problem::bad_request("an object must be written whole, without Content-Range"));
    }
    let kept = Kept::of(headers)?;
    let upload = Incoming::new(headers, body, &shared.limits)?;
    let written = shared.store.write(path, upload, &kept, &Conditions::of(headers)).await?;
    Ok(answer_written(written, location))
}

/// The answer to a write; `location` is the path of the object.
pub(super) fn answer_written(written: Written, location: String) -> Response {
    let etag = header(written.etag);
    if written.created {
        (StatusCode::CREATED, [(ETAG, etag), (LOCATION, header(location))]).into_response()
    } else {
        (StatusCode::NO_CONTENT, [(ETAG, etag)]).into_response()
    }
}

/// `POST /storage/*to?copy=<from>`: copies the object of the query to the path. With `upload`, an upload in parts.
async fn copy<S: BlobStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let to = path_of(&uri, &shared.limits)?;
    if let Some(asked) = Asked::of(&uri)? {
        return upload_routes::post(&shared, &uri, &to, &asked, &headers, body).await;
    }
    let query = Query::of(&uri)?;
    let from = query.bytes("copy").ok_or_else(|| Problem::bad_request("`copy` must be the path of an object"))?;
    let from = ObjectPath::new(from, shared.limits.max_key_bytes)?;
    if from == to {
        return Err(Problem::bad_request("an object cannot be copied to itself"));
    }
    let written = shared.store.copy(&from, &to, &Conditions::of(&headers)).await?;
    Ok(answer_written(written, uri.path().to_owned()))
}

/// `{"path","method","expires"}` → `{"url","expires"}`: a presigned address. With `{"upload","part"}` it is for a part.
async fn sign<S: BlobStore>(
    State(shared): State<Shared<S>>,
    Extension(PublicUrl(public_url)): Extension<PublicUrl>,
    headers: HeaderMap,
    body: Body,
) -> Result<axum::Json<Value>, Problem> {
    let asked = body::read_json(&headers, body, &shared.limits).await?;
    let path = asked["path"].as_str().ok_or_else(|| Problem::bad_request("`path` must be the path of an object"))?;
    let path = ObjectPath::new(path.as_bytes(), shared.limits.max_key_bytes)?;
    let method = match asked["method"].as_str() {
        None if asked["method"].is_null() => Method::GET,
        Some("GET") => Method::GET,
        Some("PUT") => Method::PUT,
        _ => return Err(Problem::bad_request("`method` must be \"GET\" or \"PUT\"")),
    };
    let part = match (&asked["upload"], &asked["part"]) {
        (Value::Null, Value::Null) => None,
        (upload, part) if method == Method::PUT => {
            let part = part.as_u64().map(|part| part.to_string());
            Some((UploadId::new(upload.as_str().unwrap_or(""))?, part_number(part.as_deref())?))
        }
        _ => return Err(Problem::bad_request("`upload` and `part` must come with the method \"PUT\"")),
    };
    let most = signed::MAX_LIFETIME.as_secs();
    let wrong = || Problem::bad_request(format!("`expires` must be whole seconds, from 1 to {most}"));
    let lifetime = match &asked["expires"] {
        Value::Null => signed::LIFETIME,
        value => {
            let seconds = value.as_u64().filter(|seconds| (1..=most).contains(seconds));
            Duration::from_secs(seconds.ok_or_else(wrong)?)
        }
    };
    let url = match shared.store.signer() {
        Signer::Store(store) => {
            let query = part
                .iter()
                .flat_map(|(id, number)| [("uploadId", id.as_str().to_owned()), ("partNumber", number.to_string())]);
            let options = SignedUrlOptions::default().with_query(query);
            let signed = store.signed_url_opts(method, path.as_path(), lifetime, &options).await;
            signed.map_err(|error| Problem::internal(format!("storage: {error}")))?.to_string()
        }
        Signer::Service(key) => {
            let host = || headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
            let base = public_url.unwrap_or_else(|| format!("http://{}", host()));
            let permission = Permission { method: method.as_str(), path: &path, part: part.as_ref() };
            format!("{base}{}", signed::sign(key, &permission, lifetime))
        }
    };
    Ok(axum::Json(json!({ "url": url, "expires": lifetime.as_secs() })))
}

async fn read_signed<S: BlobStore>(
    State(shared): State<Shared<S>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (path, _) = permitted(&shared, "GET", &uri)?;
    send(&shared, &method, &path, &headers).await
}

async fn write_signed<S: BlobStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (path, part) = permitted(&shared, "PUT", &uri)?;
    match part {
        Some(part) => upload_routes::put(&shared, &path, &part, &headers, body).await,
        None => {
            // The signed address is not the object's own, and no address at all later.
            let location = uri.path().replacen(signed::PREFIX, "/storage/", 1);
            keep(&shared, location, &path, &headers, body).await
        }
    }
}

/// The path of a signed address and its upload part, if it is valid for this method.
fn permitted<S: BlobStore>(
    shared: &Shared<S>,
    method: &str,
    uri: &Uri,
) -> Result<(ObjectPath, Option<(UploadId, u16)>), Problem> {
    let bytes = decode(uri.path().strip_prefix(signed::PREFIX).unwrap_or(""))?;
    let path = ObjectPath::new(&bytes, shared.limits.max_key_bytes)?;
    let query = Query::of(uri)?;
    let (expires, signature) = (query.text("expires")?.unwrap_or(""), query.text("signature")?.unwrap_or(""));
    let part = Asked::of(uri)?.map(|asked| asked.part()).transpose()?;
    let permission = Permission { method, path: &path, part: part.as_ref() };
    match shared.store.signer() {
        Signer::Service(key) if signed::is_good(key, &permission, expires, signature) => Ok((path, part)),
        _ => Err(Problem::new(StatusCode::FORBIDDEN, "this address is not good for this, or no longer")),
    }
}

async fn remove<S: BlobStore>(
    State(shared): State<Shared<S>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let path = path_of(&uri, &shared.limits)?;
    if let Some(asked) = Asked::of(&uri)? {
        return upload_routes::delete(&shared, &path, &asked).await;
    }
    shared.store.delete(&path, &Conditions::of(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list<S: BlobStore>(State(shared): State<Shared<S>>, uri: Uri) -> Result<axum::Json<Value>, Problem> {
    let query = Query::of(&uri)?;
    let limit = query.limit(shared.limits.list_page, shared.limits.max_list_page)?;
    let (prefix, after) = (query.text("prefix")?.unwrap_or(""), query.text("after")?);
    let by_folder = match query.text("delimiter")? {
        None | Some("") => false,
        Some("/") => true,
        Some(_) => return Err(Problem::bad_request("`delimiter` must be /")),
    };
    let with_types = match query.text("content_type")? {
        None | Some("true") => true,
        Some("false") => false,
        Some(_) => return Err(Problem::bad_request("`content_type` must be true or false")),
    };
    // The objects of the page with their headers, and the answer.
    Charge::current().take(limit * (4 * shared.limits.max_key_bytes + OBJECT))?;
    let page = ListOf { prefix, after, limit, by_folder, with_types };
    let Page { objects, prefixes, next } = shared.store.list(page).await?;
    let objects: Vec<Value> = objects.iter().map(|meta| describe(meta, with_types)).collect();
    let mut page = json!({ "objects": objects, "next": next });
    if by_folder {
        page["prefixes"] = prefixes.into();
    }
    Ok(axum::Json(page))
}

fn describe(meta: &Meta, with_type: bool) -> Value {
    let mut object = json!({
        "path": meta.path, "size": meta.size, "etag": meta.etag,
        "modified": meta.modified.to_rfc3339_opts(SecondsFormat::Millis, true),
    });
    if with_type {
        object["content_type"] = meta.kept.content_type.clone().into();
    }
    object
}

fn path_of(uri: &Uri, limits: &Limits) -> Result<ObjectPath, Problem> {
    let bytes = decode(uri.path().strip_prefix("/storage/").unwrap_or(""))?;
    ObjectPath::new(&bytes, limits.max_key_bytes)
}

fn answer(status: StatusCode, meta: &Meta, length: u64, body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, header(meta.kept.content_type.clone())),
        (CONTENT_LENGTH, length.into()),
        (ETAG, header(meta.etag.clone())),
        (LAST_MODIFIED, header(http_date(meta.modified))),
        (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
    ];
    let mut response = (status, headers, body).into_response();
    meta.kept.write(response.headers_mut());
    response
}

/// A header's value that came from headers, or is ours.
pub(super) fn header(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}
