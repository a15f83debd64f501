//! Holding the head of a request to its limits. (Those of the body are held in `body`, those of instances in `host`.)

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;

use crate::config::{Limits, size};
use crate::request::problem::Problem;

/// Refuses a request whose length is ambiguous (RFC 9112, section 6.3).
pub(crate) fn check_length(parts: &Parts) -> Result<(), Problem> {
    let both = parts.headers.contains_key(TRANSFER_ENCODING) && parts.headers.contains_key(CONTENT_LENGTH);
    if both { Err(Problem::AmbiguousLength) } else { Ok(()) }
}

/// Longest name of a method; `UPDATEREDIRECTREF`, the longest that is registered, has 17 bytes.
const MAX_METHOD_BYTES: usize = 32;

/// 400 for a long method, 414 for a long path and query, 431 for many or long headers.
pub(crate) fn check_head(parts: &Parts, limits: &Limits) -> Result<(), Problem> {
    if parts.method.as_str().len() > MAX_METHOD_BYTES {
        return Err(Problem::LongMethod);
    }
    let url = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if url > size(limits.max_url_bytes) {
        return Err(Problem::UrlTooLong(limits.max_url_bytes));
    }
    if parts.headers.len() > size(limits.max_headers) {
        return Err(Problem::TooManyHeaders(limits.max_headers));
    }
    let bytes = header_bytes(parts);
    if bytes > size(limits.max_header_bytes) { Err(Problem::HeadersTooLarge(limits.max_header_bytes)) } else { Ok(()) }
}

fn header_bytes(parts: &Parts) -> usize {
    parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The size of a head: path, query and headers.
pub(crate) fn head_bytes(parts: &Parts) -> usize {
    parts.uri.path_and_query().map_or(0, |path| path.as_str().len()) + header_bytes(parts)
}
