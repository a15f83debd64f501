//! Objects in S3, or in what speaks its protocol.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Error as PathError;
use object_store::{GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};

use super::{BlobStore, Conditions, Kept, ListOf, Meta, Object, ObjectPath, Page, Signer, StorageError, Written, read};

/// How many objects of a list are asked for their content types at once; lists have none.
const CONCURRENT_HEADS: usize = 16;

/// A bucket.
#[derive(Clone)]
pub(crate) struct S3Store(Arc<AmazonS3>);

impl S3Store {
    pub(crate) fn new(store: AmazonS3) -> Self {
        Self(Arc::new(store))
    }
}

/// Keys of one answer of S3.
const MAX_KEYS: usize = 1000;

impl S3Store {
    /// The object that a write takes the place of, if the conditions hold of it.
    async fn allowed(&self, path: &ObjectPath, conditions: &Conditions) -> Result<Option<Meta>, StorageError> {
        let current = match self.head(path).await {
            Ok(meta) => Some(meta),
            Err(StorageError::NotFound) => None,
            Err(error) => return Err(error),
        };
        if conditions.allow_write(current.as_ref()) { Ok(current) } else { Err(StorageError::Precondition) }
    }

    /// The entries of a page, and one more when there are more. S3 lists in order, from any key on, and prefixes of any text.
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
            let listed = match self.0.list_paginated(prefix, options).await {
                Ok(listed) => listed,
                Err(object_store::Error::InvalidPath { source }) => {
                    // A key that is no path, such as `a//b`: what stands before it is asked for in smaller pieces, and then
                    // it is passed over.
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

/// The key that a list begins behind: all keys of a folder are behind its name, and are one entry of it.
fn behind(after: &str, by_folder: bool) -> String {
    if by_folder && after.ends_with('/') { format!("{after}{}", char::MAX) } else { after.to_owned() }
}

/// The key that other hands have put into the bucket, and that is no path.
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
        read::get(&*self.0, path, None, None, true).await.map(|got| meta_of(&got))
    }

    async fn read(
        &self,
        path: &ObjectPath,
        range: Option<std::ops::Range<u64>>,
        etag: Option<String>,
    ) -> Result<Object, StorageError> {
        let got = read::get(&*self.0, path, range, etag, false).await?;
        Ok(Object { meta: meta_of(&got), body: got.into_stream().boxed() })
    }

    async fn write(
        &self,
        path: &ObjectPath,
        bytes: Bytes,
        kept: &Kept,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let current = self.allowed(path, conditions).await?;
        // With conditions, S3 itself makes sure that the object is still the one that was looked at.
        let mode = match &current {
            _ if conditions.are_none() => PutMode::Overwrite,
            None => PutMode::Create,
            Some(meta) => PutMode::Update(UpdateVersion { e_tag: Some(meta.etag.clone()), version: None }),
        };
        let options = PutOptions { mode, attributes: kept.to_attributes(), ..PutOptions::default() };
        let put = self.0.put_opts(path.as_path(), bytes.into(), options).await?;
        Ok(Written { created: current.is_none(), etag: put.e_tag.unwrap_or_default() })
    }

    async fn delete(&self, path: &ObjectPath, conditions: &Conditions) -> Result<(), StorageError> {
        let meta = self.head(path).await?;
        if !conditions.allow_write(Some(&meta)) {
            return Err(StorageError::Precondition);
        }
        Ok(self.0.delete(path.as_path()).await?)
    }

    async fn copy(&self, from: &ObjectPath, to: &ObjectPath, conditions: &Conditions) -> Result<Written, StorageError> {
        let current = self.allowed(to, conditions).await?;
        self.0.copy(from.as_path(), to.as_path()).await?;
        let etag = self.head(to).await?.etag;
        Ok(Written { created: current.is_none(), etag })
    }

    async fn list(&self, page: ListOf<'_>) -> Result<Page, StorageError> {
        let mut entries = self.entries(&page).await?;
        let next = read::cut(&mut entries, page.limit);
        let objects: Vec<ObjectMeta> = entries.values().flatten().cloned().collect();
        let heads = stream::iter(objects).map(|found| async move {
            match self.0.get_opts(&found.location, object_store::GetOptions { head: true, ..Default::default() }).await
            {
                Ok(got) => Ok(Some(meta_of(&got))),
                // Deleted since: the page has one less, and the list goes on behind it.
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(StorageError::from(error)),
            }
        });
        let heads: Vec<Option<Meta>> = heads.buffered(CONCURRENT_HEADS).try_collect().await?;
        Ok(Page { objects: heads.into_iter().flatten().collect(), prefixes: read::prefixes(entries), next })
    }

    fn signer(&self) -> Signer<'_> {
        Signer::Store(&self.0)
    }

    async fn ping(&self) -> Result<(), String> {
        let mut first = self.0.list(None);
        first.try_next().await.map(drop).map_err(|error| error.to_string())
    }
}
