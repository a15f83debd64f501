//! Uploads in parts to S3: its own multipart uploads.

use std::fmt::Write as _;

use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use axum::http::{Method, StatusCode};
use object_store::PutMultipartOptions;
use object_store::multipart::MultipartStore;
use quick_xml::escape::escape;
use serde::Deserialize;
use tenon_service::http::body::Incoming;

use super::s3::S3Store;
use super::uploads::{MAX_PARTS, Part, UploadId, UploadStore};
use super::{Conditions, Kept, ObjectPath, StorageError, Written};

/// The query parameter of an upload.
const UPLOAD: &str = "uploadId";

/// A page of the parts of an upload.
#[derive(Deserialize)]
struct ListParts {
    #[serde(rename = "IsTruncated", default)]
    is_truncated: bool,
    #[serde(rename = "NextPartNumberMarker")]
    next: Option<String>,
    #[serde(rename = "Part", default)]
    parts: Vec<ListedPart>,
}

#[derive(Deserialize)]
struct ListedPart {
    #[serde(rename = "PartNumber")]
    number: u16,
    #[serde(rename = "ETag")]
    etag: String,
    #[serde(rename = "Size")]
    size: u64,
}

/// The answer to a completed upload, or (with the status 200 as well) an error.
#[derive(Deserialize)]
struct Completed {
    #[serde(rename = "ETag")]
    etag: Option<String>,
    #[serde(rename = "Code")]
    code: Option<String>,
}

/// An ETag with its quotes, which not every server writes.
fn quoted(etag: &str) -> String {
    format!("\"{}\"", etag.trim_matches('"'))
}

fn no_upload(error: object_store::Error) -> StorageError {
    match error.into() {
        StorageError::NotFound => StorageError::NoUpload,
        other => other,
    }
}

fn unreadable(what: &str, error: &quick_xml::DeError) -> StorageError {
    StorageError::Internal(format!("storage: {what} could not be read: {error}"))
}

impl UploadStore for S3Store {
    async fn begin_upload(&self, path: &ObjectPath, kept: &Kept) -> Result<String, StorageError> {
        let options = PutMultipartOptions { attributes: kept.to_attributes(), ..PutMultipartOptions::default() };
        Ok(self.store.create_multipart_opts(path.as_path(), options).await?)
    }

    async fn put_part(
        &self,
        path: &ObjectPath,
        id: &UploadId,
        number: u16,
        mut body: Incoming,
    ) -> Result<String, StorageError> {
        let bytes = body.rest().await?;
        let index = usize::from(number) - 1;
        let put = self.store.put_part(path.as_path(), &id.as_str().to_owned(), index, bytes.into()).await;
        Ok(quoted(&put.map_err(no_upload)?.content_id))
    }

    async fn parts(&self, path: &ObjectPath, id: &UploadId) -> Result<Vec<Part>, StorageError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut behind = "0".to_owned();
        loop {
            let query = vec![(UPLOAD, id.as_str().to_owned()), ("part-number-marker", behind)];
            let (status, body) = self.send(Method::GET, path, query, None, String::new()).await?;
            match status {
                StatusCode::OK => {}
                StatusCode::NOT_FOUND => return Err(StorageError::NoUpload),
                _ => return Err(StorageError::Internal(format!("storage: a list of parts was answered {status}"))),
            }
            let page: ListParts =
                quick_xml::de::from_str(&body).map_err(|error| unreadable("a list of parts", &error))?;
            let listed = page.parts.into_iter().map(|ListedPart { number, etag, size }| Part {
                number,
                etag: quoted(&etag),
                size,
            });
            parts.extend(listed);
            match page.next.filter(|_| page.is_truncated && parts.len() < MAX_PARTS.into()) {
                Some(next) => behind = next,
                None => break,
            }
        }
        parts.sort_by_key(|part| part.number);
        Ok(parts)
    }

    async fn complete_upload(
        &self,
        path: &ObjectPath,
        id: &UploadId,
        parts: Vec<Part>,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let current = self.allowed(path, conditions).await?;
        // S3 itself checks that the object is still the one that was checked.
        let header = match &current {
            _ if conditions.are_none() => None,
            None => Some((IF_NONE_MATCH, "*")),
            Some(meta) => Some((IF_MATCH, meta.etag.as_str())),
        };
        let mut body = String::from("<CompleteMultipartUpload>");
        for Part { number, etag, .. } in &parts {
            let _ = write!(body, "<Part><PartNumber>{number}</PartNumber><ETag>{}</ETag></Part>", escape(etag));
        }
        body.push_str("</CompleteMultipartUpload>");
        let query = vec![(UPLOAD, id.as_str().to_owned())];
        let (status, answer) = self.send(Method::POST, path, query, header, body).await?;
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(StorageError::NoUpload),
            StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT => return Err(StorageError::Precondition),
            _ => return Err(StorageError::Internal(format!("storage: a completed upload was answered {status}"))),
        }
        let completed: Completed =
            quick_xml::de::from_str(&answer).map_err(|error| unreadable("a completed upload", &error))?;
        match completed {
            Completed { etag: Some(etag), .. } => Ok(Written { created: current.is_none(), etag: quoted(&etag) }),
            Completed { code, .. } => {
                let code = code.unwrap_or_default();
                Err(StorageError::Internal(format!("storage: an upload was not completed: {code}")))
            }
        }
    }

    async fn abort_upload(&self, path: &ObjectPath, id: &UploadId) -> Result<(), StorageError> {
        self.store.abort_multipart(path.as_path(), &id.as_str().to_owned()).await.map_err(no_upload)
    }
}
