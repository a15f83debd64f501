//! Objects in S3, or in a compatible store.

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::IF_MATCH;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Error as PathError;
use object_store::signer::{SignedUrlOptions, Signer as _};
use object_store::{
    GetResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions,
    PutResult, UpdateVersion,
};
use tenon_service::http::body::Incoming;
use tenon_service::store_error::StoreFailure;

use super::content_types::ContentTypes;
use super::{BlobStore, Conditions, Kept, ListOf, Meta, Object, ObjectPath, Page, Signer, StorageError, Written, read};

/// Limit of concurrent HEAD requests for content types, which lists lack.
const CONCURRENT_HEADS: usize = 16;

/// Time limit of a request that `object_store` does not support. Joining the parts of a large object takes S3 minutes.
const REQUEST_TIME: Duration = Duration::from_secs(300);

/// Size limit of a conditional copy, which is a read and a write, because S3 copies without conditions.
const MAX_CONDITIONAL_COPY: u64 = 8 * 1024 * 1024;

/// Bytes of each part of an upload; a smaller upload is one request. S3 has 10,000 parts at most, of 5 MiB or more.
const PART_BYTES: usize = 8 * 1024 * 1024;

/// A bucket.
#[derive(Clone)]
pub(crate) struct S3Store {
    pub(super) store: Arc<AmazonS3>,
    /// The client for requests that `object_store` does not support.
    http: reqwest::Client,
    types: ContentTypes,
}

impl S3Store {
    /// # Errors
    ///
    /// Fails when there is no HTTP client, for example without certificate authorities.
    pub(crate) fn new(store: AmazonS3) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder().timeout(REQUEST_TIME).build()?;
        Ok(Self { store: Arc::new(store), http, types: ContentTypes::default() })
    }

    /// Stores an object in place of `current`. With conditions, S3 itself checks that the object is still that one.
    async fn put(
        &self,
        path: &ObjectPath,
        bytes: Bytes,
        kept: &Kept,
        conditions: &Conditions,
        current: Option<Meta>,
    ) -> Result<Written, StorageError> {
        let mode = match &current {
            _ if conditions.are_none() => PutMode::Overwrite,
            None => PutMode::Create,
            Some(meta) => PutMode::Update(UpdateVersion { e_tag: Some(meta.etag.clone()), version: None }),
        };
        let options = PutOptions { mode, attributes: kept.to_attributes(), ..PutOptions::default() };
        let put = self.store.put_opts(path.as_path(), bytes.into(), options).await?;
        Ok(Written { created: current.is_none(), etag: put.e_tag.unwrap_or_default() })
    }

    /// Uploads an object part by part. It appears as a whole, after the last one.
    async fn put_in_parts(
        &self,
        path: &ObjectPath,
        first: Bytes,
        upload: Incoming,
        kept: &Kept,
    ) -> Result<Written, StorageError> {
        let current = self.allowed(path, &Conditions::default()).await?;
        let options = PutMultipartOptions { attributes: kept.to_attributes(), ..PutMultipartOptions::default() };
        let mut parts = self.store.put_multipart_opts(path.as_path(), options).await?;
        match send_parts(&mut *parts, first, upload).await {
            Ok(put) => Ok(Written { created: current.is_none(), etag: put.e_tag.unwrap_or_default() }),
            Err(error) => {
                // Otherwise S3 keeps the parts, and they cost money.
                if let Err(left) = parts.abort().await {
                    tracing::warn!("storage: an upload in parts could not be given up: {left}");
                }
                Err(error)
            }
        }
    }

    /// Deletes the object that has this ETag, and no other.
    async fn delete_tagged(&self, path: &ObjectPath, etag: &str) -> Result<(), StorageError> {
        let header = Some((IF_MATCH, etag));
        match self.send(Method::DELETE, path, vec![], header, String::new()).await? {
            (status, _) if status.is_success() => Ok(()),
            (StatusCode::NOT_FOUND, _) => Err(StorageError::NotFound),
            (StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT, _) => Err(StorageError::Precondition),
            (status, _) => {
                Err(StorageError::Internal(format!("storage: a DELETE with If-Match was answered {status}")))
            }
        }
    }

    /// Sends a signed request that `object_store` does not support, and returns its status and body.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &ObjectPath,
        query: Vec<(&str, String)>,
        header: Option<(HeaderName, &str)>,
        body: String,
    ) -> Result<(StatusCode, String), StorageError> {
        let mut options = SignedUrlOptions::default().with_query(query);
        let mut headers = HeaderMap::new();
        if let Some((name, value)) = header {
            let value =
                HeaderValue::try_from(value).map_err(|_| StorageError::Internal("storage: a wrong ETag".to_owned()))?;
            options = options.with_signed_header(name.clone(), value.clone());
            headers.insert(name, value);
        }
        let url = self.store.signed_url_opts(method.clone(), path.as_path(), REQUEST_TIME, &options).await?;
        // The URL has a signature, which must not be logged.
        let failed = |error: reqwest::Error| StorageError::Internal(format!("storage: {}", error.without_url()));
        let answer = self.http.request(method, url).headers(headers).body(body).send().await.map_err(failed)?;
        Ok((answer.status(), answer.text().await.map_err(failed)?))
    }
}

/// Limit of keys in one answer of S3.
const MAX_KEYS: usize = 1000;

impl S3Store {
    /// The object that a write replaces, if it meets the conditions.
    pub(super) async fn allowed(
        &self,
        path: &ObjectPath,
        conditions: &Conditions,
    ) -> Result<Option<Meta>, StorageError> {
        let current = match self.head(path).await {
            Ok(meta) => Some(meta),
            Err(StorageError::NotFound) => None,
            Err(error) => return Err(error),
        };
        if conditions.allow_write(current.as_ref()) { Ok(current) } else { Err(StorageError::Precondition) }
    }

    /// The entries of a page, and one more if there are more. S3 lists in order, from any key on, and prefixes of any
    /// text.
    async fn entries(&self, page: &ListOf<'_>) -> Result<read::Entries, StorageError> {
        let mut entries = read::Entries::new();
        let mut offset = page.after.map(|after| behind(after, page.by_folder));
        let mut token = None;
        let mut keys = (page.limit + 1).min(MAX_KEYS);
        while entries.len() <= page.limit {
            let options = PaginatedListOptions {
                offset: offset.clone().filter(|_| token.is_none()),
                delimiter: page.by_folder.then_some("/".into()),
                max_keys: Some(keys),
                page_token: token.clone(),
                ..PaginatedListOptions::default()
            };
            let prefix = (!page.prefix.is_empty()).then_some(page.prefix);
            let listed = match self.store.list_paginated(prefix, options).await {
                Ok(listed) => listed,
                Err(object_store::Error::InvalidPath { source }) => {
                    // A key that is not a path, such as `a//b`: the keys before it are requested in smaller pages, and
                    // then it is skipped.
                    let key = foreign_key(&source)
                        .ok_or_else(|| StorageError::Internal(format!("storage: a key of the bucket: {source}")))?;
                    if keys > 1 {
                        keys = keys.div_ceil(2);
                    } else {
                        (offset, token, keys) = (Some(key), None, (page.limit + 1).min(MAX_KEYS));
                    }
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            for folder in listed.result.common_prefixes {
                let name = format!("{folder}/");
                if name.starts_with(page.prefix) && page.after.is_none_or(|after| name.as_str() > after) {
                    entries.insert(name, None);
                }
            }
            for meta in listed.result.objects {
                read::collect(&mut entries, meta, page);
            }
            token = listed.page_token;
            if token.is_none() {
                break;
            }
        }
        while entries.len() > page.limit + 1 {
            entries.pop_last();
        }
        Ok(entries)
    }
}

async fn send_parts(
    parts: &mut dyn MultipartUpload,
    first: Bytes,
    mut upload: Incoming,
) -> Result<PutResult, StorageError> {
    let mut part = first;
    while !part.is_empty() {
        parts.put_part(part.into()).await?;
        part = upload.at_least(PART_BYTES).await?;
    }
    Ok(parts.complete().await?)
}

/// The key after which a list begins. All keys of a folder sort after its name, and are one entry.
fn behind(after: &str, by_folder: bool) -> String {
    if by_folder && after.ends_with('/') { format!("{after}{}", char::MAX) } else { after.to_owned() }
}

/// The key of another program in the bucket that is not a path.
fn foreign_key(error: &PathError) -> Option<String> {
    match error {
        PathError::EmptySegment { path } | PathError::BadSegment { path, .. } => Some(path.clone()),
        _ => None,
    }
}

fn meta_of(got: &GetResult) -> Meta {
    read::meta(&got.meta, Kept::from_attributes(&got.attributes))
}

impl BlobStore for S3Store {
    async fn head(&self, path: &ObjectPath) -> Result<Meta, StorageError> {
        Ok(meta_of(&read::get(&*self.store, path, None, None, true).await?))
    }

    async fn read(
        &self,
        path: &ObjectPath,
        range: Option<std::ops::Range<u64>>,
        etag: Option<String>,
    ) -> Result<Object, StorageError> {
        let got = read::get(&*self.store, path, range, etag, false).await?;
        Ok(Object { meta: meta_of(&got), body: got.into_stream().boxed() })
    }

    async fn write(
        &self,
        path: &ObjectPath,
        mut upload: Incoming,
        kept: &Kept,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let first = upload.at_least(PART_BYTES).await?;
        if upload.is_over() || first.len() < PART_BYTES {
            let current = self.allowed(path, conditions).await?;
            return self.put(path, first, kept, conditions, current).await;
        }
        if !conditions.are_none() {
            // S3 checks the conditions of single requests only.
            let bytes = [first, upload.rest().await?].concat();
            let current = self.allowed(path, conditions).await?;
            return self.put(path, bytes.into(), kept, conditions, current).await;
        }
        self.put_in_parts(path, first, upload, kept).await
    }

    async fn delete(&self, path: &ObjectPath, conditions: &Conditions) -> Result<(), StorageError> {
        let meta = self.head(path).await?;
        if !conditions.allow_write(Some(&meta)) {
            return Err(StorageError::Precondition);
        }
        if !conditions.are_none() {
            return self.delete_tagged(path, &meta.etag).await;
        }
        Ok(self.store.delete(path.as_path()).await?)
    }

    async fn copy(&self, from: &ObjectPath, to: &ObjectPath, conditions: &Conditions) -> Result<Written, StorageError> {
        let current = self.allowed(to, conditions).await?;
        if !conditions.are_none() {
            let got = read::get(&*self.store, from, None, None, false).await?;
            if got.meta.size <= MAX_CONDITIONAL_COPY {
                let kept = Kept::from_attributes(&got.attributes);
                return self.put(to, got.bytes().await?, &kept, conditions, current).await;
            }
        }
        self.store.copy(from.as_path(), to.as_path()).await?;
        let etag = self.head(to).await?.etag;
        Ok(Written { created: current.is_none(), etag })
    }

    async fn list(&self, page: ListOf<'_>) -> Result<Page, StorageError> {
        let mut entries = self.entries(&page).await?;
        let next = read::cut(&mut entries, page.limit);
        let objects: Vec<ObjectMeta> = entries.values().flatten().cloned().collect();
        if !page.with_types {
            let objects = objects.iter().map(|found| read::meta(found, Kept::default())).collect();
            return Ok(Page { objects, prefixes: read::prefixes(entries), next });
        }
        let metas = stream::iter(objects).map(|found| async move {
            if let Some(content_type) = self.types.get(&found) {
                return Ok(Some(read::meta(&found, Kept { content_type, ..Kept::default() })));
            }
            let head = object_store::GetOptions { head: true, ..Default::default() };
            match self.store.get_opts(&found.location, head).await {
                Ok(got) => {
                    let meta = meta_of(&got);
                    self.types.set(&got.meta, &meta.kept.content_type);
                    Ok(Some(meta))
                }
                // Deleted since: the page has one entry less, and the list continues after it.
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(StorageError::from(error)),
            }
        });
        let metas: Vec<Option<Meta>> = metas.buffered(CONCURRENT_HEADS).try_collect().await?;
        Ok(Page { objects: metas.into_iter().flatten().collect(), prefixes: read::prefixes(entries), next })
    }

    fn signer(&self) -> Signer<'_> {
        Signer::Store(&self.store)
    }

    async fn ping(&self) -> Result<(), StoreFailure> {
        let mut first = self.store.list(None);
        first.try_next().await.map(drop).map_err(StoreFailure::new)
    }
}
