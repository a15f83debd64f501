//! Notes of the comparison about one instance.

use std::sync::Arc;

/// The store of an instance, and its last request.
#[derive(Default)]
pub(crate) struct Seen {
    /// The number of its store.
    pub(super) number: Option<u64>,
    /// The request that it served last.
    pub(super) request_id: Option<Arc<str>>,
}
