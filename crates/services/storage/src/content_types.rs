//! Content types of objects in S3, whose lists lack them: the answer to a HEAD is cached for the next list.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use hashlink::LruCache;
use object_store::ObjectMeta;

/// Limit of cached objects.
const CAPACITY: usize = 20_000;

/// Limit in bytes of a cached path and type.
const MAX_BYTES: usize = 1024;

/// Another write of the same bytes with another type has the same ETag, and within the same second the same time. So an
/// object is cached only after this time. The clocks of S3 and this machine differ by at most 15 minutes, because S3
/// refuses signatures beyond.
const SETTLED: TimeDelta = TimeDelta::minutes(16);

/// A listed object, and its content type.
struct Known {
    etag: Option<String>,
    modified: DateTime<Utc>,
    content_type: String,
}

/// Content types by path. Cloning shares them.
#[derive(Clone)]
pub(super) struct ContentTypes(Arc<Mutex<LruCache<String, Known>>>);

impl Default for ContentTypes {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(CAPACITY))))
    }
}

impl ContentTypes {
    /// The content type of a listed object; none when it is not cached for this version.
    pub(super) fn get(&self, listed: &ObjectMeta) -> Option<String> {
        let mut types = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = types.get(listed.location.as_ref())?;
        let is_same = known.etag == listed.e_tag && known.modified == listed.last_modified;
        is_same.then(|| known.content_type.clone())
    }

    /// Caches a HEAD's result, unless the object is too new.
    pub(super) fn set(&self, object: &ObjectMeta, content_type: &str) {
        let path = object.location.as_ref();
        if path.len() + content_type.len() > MAX_BYTES || Utc::now() - object.last_modified < SETTLED {
            return;
        }
        let (etag, modified) = (object.e_tag.clone(), object.last_modified);
        let known = Known { etag, modified, content_type: content_type.to_owned() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(age: TimeDelta, etag: &str) -> ObjectMeta {
        let e_tag = Some(etag.to_owned());
        ObjectMeta { location: "a".into(), last_modified: Utc::now() - age, size: 1, e_tag, version: None }
    }

    #[test]
    fn only_the_same_object_is_known() {
        let types = ContentTypes::default();
        let old = object(TimeDelta::hours(1), "x");
        types.set(&old, "text/x");
        assert_eq!(types.get(&old).as_deref(), Some("text/x"));
        assert_eq!(types.get(&ObjectMeta { e_tag: None, ..old.clone() }), None);
        assert_eq!(types.get(&ObjectMeta { last_modified: Utc::now(), ..old }), None);
    }

    #[test]
    fn new_objects_are_asked_for_again() {
        let types = ContentTypes::default();
        let new = object(TimeDelta::minutes(15), "x");
        types.set(&new, "text/x");
        assert_eq!(types.get(&new), None);
    }
}
