//! The common code of folder and S3, which are both stores of the crate `object_store`.

use std::collections::BTreeMap;

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use super::{Kept, ListOf, Meta, ObjectPath, StorageError};

/// Gets an object, or a part of it, or (with `head`) only its metadata.
pub(crate) async fn get(
    store: &impl ObjectStore,
    path: &ObjectPath,
    range: Option<std::ops::Range<u64>>,
    etag: Option<String>,
    head: bool,
) -> object_store::Result<GetResult> {
    let options = GetOptions { range: range.map(GetRange::Bounded), if_match: etag, head, ..GetOptions::default() };
    store.get_opts(path.as_path(), options).await
}

/// Metadata from `object_store`, with the headers.
pub(crate) fn meta(meta: &ObjectMeta, kept: Kept) -> Meta {
    Meta {
        path: meta.location.to_string(),
        size: meta.size,
        kept,
        etag: meta
            .e_tag
            .clone()
            .unwrap_or_else(|| format!("\"{}-{}\"", meta.last_modified.timestamp_micros(), meta.size)),
        modified: meta.last_modified,
    }
}

/// Entries of a list by name: an object, or none for a prefix.
pub(crate) type Entries = BTreeMap<String, Option<ObjectMeta>>;

/// Adds an object to the first entries of a page. One more than its limit is kept, which shows that there are more.
pub(crate) fn collect(entries: &mut Entries, meta: ObjectMeta, page: &ListOf<'_>) {
    let Some(entry) = page.entry(meta.location.as_ref()) else { return };
    let is_object = entry == meta.location.as_ref();
    entries.insert(entry, is_object.then_some(meta));
    if entries.len() > page.limit + 1 {
        entries.pop_last();
    }
}

/// Cuts the entries to their page, and returns the last of them if there are more.
pub(crate) fn cut(entries: &mut Entries, limit: usize) -> Option<String> {
    if entries.len() <= limit {
        return None;
    }
    entries.pop_last();
    entries.last_key_value().map(|(name, _)| name.clone())
}

/// The prefixes among the entries.
pub(crate) fn prefixes(entries: Entries) -> Vec<String> {
    entries.into_iter().filter(|(_, object)| object.is_none()).map(|(name, _)| name).collect()
}

/// The entries of a page from a store that lists in no order.
pub(crate) async fn list(
    store: &impl ObjectStore,
    page: &ListOf<'_>,
    is_own: impl Fn(&Path) -> bool,
) -> Result<Entries, StorageError> {
    // Stores support only prefixes of whole segments; the rest is compared here.
    let folder = page.prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut entries = Entries::new();
    let Ok(folder) = Path::parse(folder) else { return Ok(entries) };
    let folder = (!folder.as_ref().is_empty()).then_some(folder);
    let mut stream = store.list(folder.as_ref());
    loop {
        match stream.try_next().await {
            Ok(Some(meta)) if is_own(&meta.location) => {}
            Ok(Some(meta)) => collect(&mut entries, meta, page),
            Ok(None) | Err(object_store::Error::NotFound { .. }) => return Ok(entries),
            Err(error) => return Err(error.into()),
        }
    }
}
