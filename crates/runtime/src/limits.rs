//! Holding the head of a request to its limits. (Those of the body are held in `body`, those of instances in `host`.)

use http::request::Parts;

use crate::config::{Limits, size};
use crate::problem::Problem;

/// 414 for a long path and query, 431 for many or long headers.
pub(crate) fn check_head(parts: &Parts, limits: &Limits) -> Result<(), Problem> {
    let url = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if url > size(limits.max_url_bytes) {
        return Err(Problem::UrlTooLong(limits.max_url_bytes));
    }
    if parts.headers.len() > size(limits.max_headers) {
        return Err(Problem::TooManyHeaders(limits.max_headers));
    }
    let bytes: usize = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes > size(limits.max_header_bytes) { Err(Problem::HeadersTooLarge(limits.max_header_bytes)) } else { Ok(()) }
}
