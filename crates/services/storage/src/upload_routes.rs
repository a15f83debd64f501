//! The routes of uploads in parts: the query `upload` of an object's path.

use axum::body::Body;
use axum::http::header::{CONTENT_RANGE, ETAG};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenon_service::http::body::{self, Incoming};
use tenon_service::http::problem::Problem;
use tenon_service::http::query::Query;
use tenon_service::http::shared::Shared;

use super::routes::{answer_written, header};
use super::uploads::{Part, UploadId, chosen, part_number};
use super::{BlobStore, Conditions, Kept, ObjectPath};

/// The upload in the query of a request.
pub(super) struct Asked {
    /// Empty to begin one.
    upload: String,
    part: Option<String>,
    completes: bool,
}

impl Asked {
    /// None for a request about an object.
    pub(super) fn of(uri: &Uri) -> Result<Option<Self>, Problem> {
        let query = Query::of(uri)?;
        let text = |name| query.text(name).map(|text| text.map(str::to_owned));
        let (upload, part, completes) = (text("upload")?, text("part")?, text("complete")?.is_some());
        match upload {
            Some(upload) => Ok(Some(Self { upload, part, completes })),
            // A forgotten id must not store a part as the object.
            None if part.is_some() || completes => Err(Problem::bad_request("`upload` must be the id of an upload")),
            None => Ok(None),
        }
    }

    /// The upload and the number of the part that a request sends.
    pub(super) fn part(&self) -> Result<(UploadId, u16), Problem> {
        Ok((UploadId::new(&self.upload)?, part_number(self.part.as_deref())?))
    }
}

/// `GET ?upload=<id>`: the stored parts.
pub(super) async fn list<S: BlobStore>(
    shared: &Shared<S>,
    path: &ObjectPath,
    asked: &Asked,
) -> Result<Response, Problem> {
    let parts = shared.store.parts(path, &UploadId::new(&asked.upload)?).await?;
    let parts: Vec<Value> = parts.iter().map(describe).collect();
    Ok(axum::Json(json!({ "upload": asked.upload, "parts": parts })).into_response())
}

fn describe(part: &Part) -> Value {
    json!({ "part": part.number, "etag": part.etag, "size": part.size })
}

/// `PUT ?upload=<id>&part=<n>`: one part.
pub(super) async fn put<S: BlobStore>(
    shared: &Shared<S>,
    path: &ObjectPath,
    (id, number): &(UploadId, u16),
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if headers.contains_key(CONTENT_RANGE) {
        return Err(Problem::bad_request("a part must be sent whole, without Content-Range"));
    }
    let body = Incoming::new(headers, body, &shared.limits)?;
    let etag = shared.store.put_part(path, id, *number, body).await?;
    Ok((StatusCode::NO_CONTENT, [(ETAG, header(etag))]).into_response())
}

/// `POST ?upload` begins an upload, and `POST ?upload=<id>&complete` makes an object of its parts.
pub(super) async fn post<S: BlobStore>(
    shared: &Shared<S>,
    uri: &Uri,
    path: &ObjectPath,
    asked: &Asked,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if !asked.completes {
        if !asked.upload.is_empty() || asked.part.is_some() {
            return Err(Problem::bad_request(
                "`POST ?upload` begins an upload, and `?upload=<id>&complete` completes it",
            ));
        }
        let upload = shared.store.begin_upload(path, &Kept::of(headers)?).await?;
        return Ok((StatusCode::CREATED, axum::Json(json!({ "upload": upload }))).into_response());
    }
    let id = UploadId::new(&asked.upload)?;
    let wanted = body::read_json(headers, body, &shared.limits).await?;
    let parts = chosen(&wanted, shared.store.parts(path, &id).await?)?;
    let written = shared.store.complete_upload(path, &id, parts, &Conditions::of(headers)).await?;
    Ok(answer_written(written, uri.path().to_owned()))
}

/// `DELETE ?upload=<id>`: aborts the upload.
pub(super) async fn delete<S: BlobStore>(
    shared: &Shared<S>,
    path: &ObjectPath,
    asked: &Asked,
) -> Result<StatusCode, Problem> {
    shared.store.abort_upload(path, &UploadId::new(&asked.upload)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
