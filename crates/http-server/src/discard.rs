//! Discarding of bodies that nobody reads.
//!
//! A client that is still sending when its connection is closed sees an error instead of the answer. So an answer waits
//! until the body is read. A client that does not stop after [`DISCARD_BYTES`] has to live with the error.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::EXPECT;
use http_body::Body;
use http_body_util::BodyExt;

/// Bytes of a body that are read and thrown away.
pub const DISCARD_BYTES: usize = 32 * 1024 * 1024;

/// Reads the rest of a request's body and throws it away. A client that takes too long sees its connection close.
pub async fn discard<B: Body<Data = Bytes>>(headers: &HeaderMap, body: B, timeout: Duration) {
    if !asks_first(headers) {
        discard_rest(body, timeout).await;
    }
}

/// Returns true for a client that waits for `100 Continue`, and so has not begun to send (RFC 9110, section 10.1.1).
#[must_use]
pub fn asks_first(headers: &HeaderMap) -> bool {
    headers.contains_key(EXPECT)
}

/// Does the same as [`discard`] for a client that has begun to send.
pub async fn discard_rest<B: Body<Data = Bytes>>(body: B, timeout: Duration) {
    if body.is_end_stream() {
        return;
    }
    let mut body = pin!(body);
    let rest = async {
        let mut left = DISCARD_BYTES;
        while left > 0
            && let Some(Ok(frame)) = body.frame().await
        {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    };
    let _ = tokio::time::timeout(timeout, rest).await;
}
