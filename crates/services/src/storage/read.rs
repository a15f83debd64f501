//! What folder and S3 have in common: both are stores of the crate `object_store`.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use super::{Meta, ObjectPath, StorageError};

/// Gets an object, or a part of it, or (with `head`) nothing but what is known of it.
pub(crate) async fn get(
    store: &impl ObjectStore,
    path: &ObjectPath,
    range: Option<std::ops::Range<u64>>,
    etag: Option<String>,
    head: bool,
) -> Result<GetResult, StorageError> {
    let options = GetOptions { range: range.map(GetRange::Bounded), if_match: etag, head, ..GetOptions::default() };
    Ok(store.get_opts(path.as_path(), options).await?)
}

/// What `object_store` knows, with the content type.
pub(crate) fn meta(meta: &ObjectMeta, content_type: String) -> Meta {
    Meta {
        path: meta.location.to_string(),
        size: meta.size,
        content_type,
        etag: meta
            .e_tag
            .clone()
            .unwrap_or_else(|| format!("\"{}-{}\"", meta.last_modified.timestamp_micros(), meta.size)),
        modified: meta.last_modified,
    }
}

/// The first `limit` objects behind `after`, in order. `ordered` says that the store lists in order by itself, so that there
/// is no need to see them all.
pub(crate) async fn list(
    store: &impl ObjectStore,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
    ordered: bool,
) -> Result<Vec<ObjectMeta>, StorageError> {
    // Stores know prefixes of whole segments only; the rest of it is looked at here.
    let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Ok(folder) = Path::parse(folder) else { return Ok(Vec::new()) };
    let folder = (!folder.as_ref().is_empty()).then_some(folder);
    let mut stream = match after.map(Path::parse) {
        Some(Ok(after)) if ordered && !after.as_ref().is_empty() => store.list_with_offset(folder.as_ref(), &after),
        _ => store.list(folder.as_ref()),
    };
    let mut found = BTreeMap::new();
    loop {
        let meta = match stream.try_next().await {
            Ok(Some(meta)) => meta,
            Ok(None) | Err(object_store::Error::NotFound { .. }) => break,
            Err(error) => return Err(error.into()),
        };
        let path = meta.location.as_ref();
        if !path.starts_with(prefix) || after.is_some_and(|after| path <= after) {
            continue;
        }
        found.insert(path.to_owned(), meta);
        if found.len() > limit {
            found.pop_last();
        }
        if ordered && found.len() == limit {
            break;
        }
    }
    Ok(found.into_values().collect())
}
