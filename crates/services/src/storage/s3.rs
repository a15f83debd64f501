//! Objects in S3, or in what speaks its protocol.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::aws::AmazonS3;
use object_store::{Attribute, Attributes, GetResult, ObjectStore, ObjectStoreExt, PutMode, PutOptions, UpdateVersion};

use super::{BlobStore, Conditions, DEFAULT_TYPE, Meta, Object, ObjectPath, StorageError, Written, read};

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

fn meta_of(got: &GetResult) -> Meta {
    let content_type = got.attributes.get(&Attribute::ContentType);
    read::meta(&got.meta, content_type.map_or_else(|| DEFAULT_TYPE.to_owned(), |value| value.as_ref().to_owned()))
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
        content_type: &str,
        conditions: &Conditions,
    ) -> Result<Written, StorageError> {
        let current = match self.head(path).await {
            Ok(meta) => Some(meta),
            Err(StorageError::NotFound) => None,
            Err(error) => return Err(error),
        };
        if !conditions.allow_write(current.as_ref()) {
            return Err(StorageError::Precondition);
        }
        // With conditions, S3 itself makes sure that the object is still the one that was looked at.
        let mode = match &current {
            _ if conditions.are_none() => PutMode::Overwrite,
            None => PutMode::Create,
            Some(meta) => PutMode::Update(UpdateVersion { e_tag: Some(meta.etag.clone()), version: None }),
        };
        let attributes = Attributes::from_iter([(Attribute::ContentType, content_type.to_owned())]);
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
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

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<Meta>, StorageError> {
        let found = read::list(&*self.0, prefix, after, limit, true).await?;
        let heads = stream::iter(found).map(|found| async move {
            match self.0.get_opts(&found.location, object_store::GetOptions { head: true, ..Default::default() }).await
            {
                Ok(got) => Ok(Some(meta_of(&got))),
                // Deleted since.
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(StorageError::from(error)),
            }
        });
        let heads: Vec<Option<Meta>> = heads.buffered(CONCURRENT_HEADS).try_collect().await?;
        Ok(heads.into_iter().flatten().collect())
    }

    async fn ping(&self) -> Result<(), String> {
        let mut first = self.0.list(None);
        first.try_next().await.map(drop).map_err(|error| error.to_string())
    }
}
