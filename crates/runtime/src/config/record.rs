//! Recording of requests.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderName;

/// Which requests are recorded, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordConfig {
    /// The folder of recordings, which only this user may read.
    pub folder: PathBuf,
    /// The share of all requests that is recorded, from 0 to 1.
    pub share: f64,
    /// Records requests that failed: 500, 504 or a trap.
    pub failures: bool,
    /// Records requests that took as long.
    pub slow: Option<Duration>,
    /// Records requests for which a trusted proxy has set this header.
    pub header: Option<HeaderName>,
    /// Bytes of all recordings; the oldest are removed.
    pub max_bytes: u64,
    /// Recordings that are older are removed.
    pub max_age: Option<Duration>,
    /// Names of headers, JSON pointers such as `#/card/number`, and query parameters such as `?token`, whose values are replaced.
    pub mask: Vec<String>,
}

impl RecordConfig {
    /// Bytes of all recordings unless something else is configured.
    pub const MAX_BYTES: u64 = 1024 * 1024 * 1024;

    /// A folder to which nothing is recorded yet.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            share: 0.0,
            failures: false,
            slow: None,
            header: None,
            max_bytes: Self::MAX_BYTES,
            max_age: None,
            mask: Vec::new(),
        }
    }
}
