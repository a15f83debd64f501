//! Requests and responses without a socket: between JavaScript's records and the `http` crate's types.

use bytes::Bytes;
use http_body_util::Full;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::failure::Failure;

/// A request for `handle`.
#[napi(object)]
pub struct NativeRequest {
    /// Such as `GET`.
    pub method: String,
    /// An absolute URL.
    pub url: String,
    /// Names and values; a value's characters are bytes (U+0000 to U+00FF), as in the Fetch standard.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Option<Buffer>,
}

/// The answer of `handle`.
#[napi(object)]
pub struct NativeResponse {
    /// 200 to 599.
    pub status: u16,
    /// Names and values, as in `NativeRequest`.
    pub headers: Vec<(String, String)>,
    /// The whole body; empty when there is none.
    pub body: Buffer,
}

/// A request of the `http` crate.
pub(crate) fn lower(request: NativeRequest) -> Result<http::Request<Full<Bytes>>, Failure> {
    let wrong = |what: String| Failure::new("REQUEST", what);
    let mut builder = http::Request::builder().method(request.method.as_str()).uri(request.url.as_str());
    for (name, value) in request.headers {
        let bytes: Option<Vec<u8>> = value.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes = bytes.ok_or_else(|| wrong(format!("header {name} has a character above U+00FF")))?;
        builder = builder.header(name, bytes);
    }
    let body = request.body.map_or_else(Bytes::new, |body| Bytes::from(Vec::from(body)));
    builder.body(Full::new(body)).map_err(|error| wrong(error.to_string()))
}

/// A response for JavaScript.
pub(crate) fn lift(parts: &http::response::Parts, body: Bytes) -> NativeResponse {
    NativeResponse {
        status: parts.status.as_u16(),
        headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
        body: Buffer::from(Vec::from(body)),
    }
}

/// Bytes as a string of the characters U+0000 to U+00FF.
fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
