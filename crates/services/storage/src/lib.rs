//! Storage: objects under paths, with content type, ETag, ranges and conditions.

mod conditions;
mod content_types;
mod folder;
mod folder_errors;
mod folder_uploads;
mod kept;
mod open_uploads;
mod path;
mod range;
mod read;
mod routes;
mod s3;
mod s3_uploads;
mod service;
mod signed;
mod staged;
#[cfg(test)]
mod tests;
mod types;
mod upload_routes;
mod uploads;

use axum::http::StatusCode;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::stream::BoxStream;
use tenon_service::http::body::Incoming;
use tenon_service::http::problem::Problem;
use tenon_service::store_error::StoreFailure;

pub(crate) use conditions::Conditions;
pub(crate) use folder::FolderStore;
pub(crate) use kept::Kept;
pub(crate) use path::ObjectPath;
pub(crate) use routes::routes;
pub(crate) use s3::S3Store;
pub use service::KIND;
pub(crate) use uploads::UploadStore;

/// Metadata of an object.
#[derive(Clone, Debug)]
pub(crate) struct Meta {
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) kept: Kept,
    /// With quotes, as in the header.
    pub(crate) etag: String,
    pub(crate) modified: DateTime<Utc>,
}

/// An object, or its requested part.
pub(crate) struct Object {
    pub(crate) meta: Meta,
    pub(crate) body: BoxStream<'static, Result<Bytes, object_store::Error>>,
}

/// The result of a write.
pub(crate) struct Written {
    pub(crate) created: bool,
    pub(crate) etag: String,
}

/// Selects a page of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListOf<'a> {
    /// The prefix of paths.
    pub(crate) prefix: &'a str,
    /// The entry before the page.
    pub(crate) after: Option<&'a str>,
    /// Limit of objects and prefixes in the page.
    pub(crate) limit: usize,
    /// Groups paths by the prefix up to the next slash.
    pub(crate) by_folder: bool,
    /// The objects need their content types, which S3 returns only one by one.
    pub(crate) with_types: bool,
}

impl ListOf<'_> {
    /// The entry of an object: its path, or the prefix up to the next slash. None when it is not in this page.
    pub(crate) fn entry(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(self.prefix)?;
        let folder = if self.by_folder { rest.find('/') } else { None };
        let entry = folder.map_or(path, |slash| &path[..=self.prefix.len() + slash]);
        self.after.is_none_or(|after| entry > after).then(|| entry.to_owned())
    }
}

/// A page of a list, in the order of bytes.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) objects: Vec<Meta>,
    /// With a slash at the end.
    pub(crate) prefixes: Vec<String>,
    /// The last entry, if there are more.
    pub(crate) next: Option<String>,
}

/// The reason why an object is missing or was not written.
#[derive(Debug)]
pub(crate) enum StorageError {
    /// No object has this path.
    NotFound,
    /// No upload in parts has this id and this path.
    NoUpload,
    /// The object does not meet the request's conditions.
    Precondition,
    /// The path conflicts with existing objects.
    Conflict(&'static str),
    /// The upload is invalid, or broke off.
    Upload(Problem),
    /// Any other error; it is logged, and hidden from the client.
    Internal(String),
}

impl From<Problem> for StorageError {
    fn from(problem: Problem) -> Self {
        Self::Upload(problem)
    }
}

impl From<StoreFailure> for StorageError {
    fn from(failure: StoreFailure) -> Self {
        Self::Internal(failure.to_string())
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::NotFound => Self::not_found("no object has this path"),
            StorageError::NoUpload => {
                Self::not_found("no upload of this path has this id: it was completed or given up, or is too old")
            }
            StorageError::Precondition => {
                Self::new(StatusCode::PRECONDITION_FAILED, "the object is not as the request's conditions want it")
            }
            StorageError::Conflict(detail) => Self::new(StatusCode::CONFLICT, detail),
            StorageError::Upload(problem) => problem,
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

/// A store of objects.
pub(crate) trait BlobStore: UploadStore + Clone + Send + Sync + 'static {
    /// The metadata of an object.
    fn head(&self, path: &ObjectPath) -> impl Future<Output = Result<Meta, StorageError>> + Send;

    /// An object's bytes, all or those of `range`; with `etag`, only if the object has it.
    fn read(
        &self,
        path: &ObjectPath,
        range: Option<std::ops::Range<u64>>,
        etag: Option<String>,
    ) -> impl Future<Output = Result<Object, StorageError>> + Send;

    /// Stores an object, if the former one meets the conditions. It appears as a whole. A large one is never in memory
    /// as a whole.
    fn write(
        &self,
        path: &ObjectPath,
        upload: Incoming,
        kept: &Kept,
        conditions: &Conditions,
    ) -> impl Future<Output = Result<Written, StorageError>> + Send;

    /// Copies an object with its properties, if the former one meets the conditions.
    fn copy(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        conditions: &Conditions,
    ) -> impl Future<Output = Result<Written, StorageError>> + Send;

    /// Deletes an object, if it meets the conditions.
    fn delete(
        &self,
        path: &ObjectPath,
        conditions: &Conditions,
    ) -> impl Future<Output = Result<(), StorageError>> + Send;

    /// A page of a list.
    fn list(&self, page: ListOf<'_>) -> impl Future<Output = Result<Page, StorageError>> + Send;

    /// The way to access an object without credentials.
    fn signer(&self) -> Signer<'_>;

    /// Checks that the store responds.
    fn ping(&self) -> impl Future<Output = Result<(), StoreFailure>> + Send;
}

/// The way in which a store makes presigned URLs.
pub(crate) enum Signer<'a> {
    /// The store signs its own URLs.
    Store(&'a object_store::aws::AmazonS3),
    /// The service signs its own addresses with this key.
    Service(&'a [u8]),
}
