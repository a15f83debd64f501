//! Storage: objects under paths, with content type, ETag, ranges and conditions.

mod conditions;
mod folder;
mod path;
mod range;
mod read;
mod routes;
mod s3;
mod types;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::stream::BoxStream;

pub(crate) use conditions::Conditions;
pub(crate) use folder::FolderStore;
pub(crate) use path::ObjectPath;
pub(crate) use routes::routes;
pub(crate) use s3::S3Store;

use crate::http::problem::Problem;
use axum::http::StatusCode;

/// The content type of an object that was stored without one.
pub(crate) const DEFAULT_TYPE: &str = "application/octet-stream";

/// What is known of an object.
#[derive(Clone, Debug)]
pub(crate) struct Meta {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) content_type: String,
    /// With its quotes, as in the header.
    pub(crate) etag: String,
    pub(crate) modified: DateTime<Utc>,
}

/// An object, or the part of it that was asked for.
pub(crate) struct Object {
    pub(crate) meta: Meta,
    pub(crate) body: BoxStream<'static, Result<Bytes, object_store::Error>>,
}

/// What became of a write.
pub(crate) struct Written {
    pub(crate) created: bool,
    pub(crate) etag: String,
}

/// Why an object is not there, or not written.
#[derive(Debug)]
pub(crate) enum StorageError {
    /// No object has this path.
    NotFound,
    /// The object is not as the request's conditions want it.
    Precondition,
    /// The path cannot be an object beside those that are there.
    Conflict(&'static str),
    /// Anything else; it is logged, and a client is told of none of it.
    Internal(String),
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::NotFound => Self::not_found("no object has this path"),
            StorageError::Precondition => {
                Self::new(StatusCode::PRECONDITION_FAILED, "the object is not as the request's conditions want it")
            }
            StorageError::Conflict(detail) => Self::new(StatusCode::CONFLICT, detail),
            StorageError::Internal(text) => Self::internal(text),
        }
    }
}

impl From<object_store::Error> for StorageError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound,
            object_store::Error::Precondition { .. } | object_store::Error::AlreadyExists { .. } => Self::Precondition,
            other => Self::Internal(format!("storage: {other}")),
        }
    }
}

/// Where objects are kept.
pub(crate) trait BlobStore: Clone + Send + Sync + 'static {
    /// What is known of an object.
    fn head(&self, path: &ObjectPath) -> impl Future<Output = Result<Meta, StorageError>> + Send;

    /// An object's bytes, all or those of `range`; with `etag`, only of the object that has it.
    fn read(
        &self,
        path: &ObjectPath,
        range: Option<std::ops::Range<u64>>,
        etag: Option<String>,
    ) -> impl Future<Output = Result<Object, StorageError>> + Send;

    /// Keeps an object in place of what was there, if the conditions hold of that. Nobody ever sees half of it.
    fn write(
        &self,
        path: &ObjectPath,
        bytes: Bytes,
        content_type: &str,
        conditions: &Conditions,
    ) -> impl Future<Output = Result<Written, StorageError>> + Send;

    /// Deletes an object, if the conditions hold of it.
    fn delete(
        &self,
        path: &ObjectPath,
        conditions: &Conditions,
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// At most `limit` objects whose paths begin with `prefix` and stand behind `after`, in the order of their bytes.
    fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Meta>, StorageError>> + Send;

    /// Whether the store answers.
    fn ping(&self) -> impl Future<Output = Result<(), String>> + Send;
}
