//! Requests and responses without a socket: between JavaScript's strings and the `http` crate's types.

use bytes::Bytes;
use http::response::Parts;
use http_body_util::{Either, Full};
use napi::bindgen_prelude::{Buffer, BufferSlice, ToNapiValue};
use napi::{Env, Result, sys};
use napi_derive::napi;
use tenon_runtime::{Peer, ResponseBody};

use crate::failure::Failure;
use crate::streams::Streams;
use crate::uploads::Upload;

/// A response of the `http` crate with its body.
pub(crate) type ModuleResponse = (Parts, ModuleBody);

/// The body of a response.
pub(crate) enum ModuleBody {
    Whole(Bytes),
    Streamed(ResponseBody),
}

/// The answer of a module.
#[napi(object, object_from_js = false)]
pub struct NativeResponse {
    /// 200 to 599.
    pub status: u16,
    /// Names and values in turn, with a line feed between each two; its characters are bytes (U+0000 to U+00FF).
    #[napi(ts_type = "string")]
    pub head: Latin1,
    /// The whole body; empty when there is none, and when the response is streamed.
    #[napi(ts_type = "Buffer<ArrayBuffer>")]
    pub body: Whole,
    /// The number of the stream that `Calls.piece` reads the body from, when the response is streamed.
    pub stream: Option<u32>,
}

/// The other end of a connection on which a request reached the program.
#[napi(object, object_to_js = false)]
pub struct NativePeer {
    /// Its IP address.
    pub address: String,
    /// True when the connection is encrypted.
    pub secure: bool,
}

/// A peer of the runtime; none for an address that is not one.
pub(crate) fn peer_of(peer: Option<NativePeer>) -> Option<Peer> {
    let NativePeer { address, secure } = peer?;
    // The zone of a link-local address (`fe80::1%eth0`) is this machine's alone.
    let address = address.split('%').next()?.parse().ok()?;
    Some(Peer { address, secure })
}

/// The body of a request.
pub(crate) type RequestBody = Either<Full<Bytes>, Upload>;

/// A whole body; empty when there is none.
pub(crate) fn whole(body: Option<&[u8]>) -> RequestBody {
    Either::Left(Full::new(body.map_or_else(Bytes::new, Bytes::copy_from_slice)))
}

/// A request of the `http` crate, from lines as `Calls.begin` takes them.
pub(crate) fn lower(head: &[u8], body: RequestBody) -> std::result::Result<http::Request<RequestBody>, Failure> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let (method, url) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    // As on a connection of HTTP/2, nobody has to send a body that is not read.
    let mut builder = http::Request::builder().version(http::Version::HTTP_2).method(method).uri(url);
    while let (Some(name), Some(value)) = (lines.next(), lines.next()) {
        builder = builder.header(name, value);
    }
    builder.body(body).map_err(|error| Failure::new("REQUEST", error.to_string()))
}

/// A response for JavaScript. The body of a streamed one is kept in `streams`.
pub(crate) fn lift((parts, body): ModuleResponse, streams: &Streams) -> NativeResponse {
    let mut head = Vec::with_capacity(256);
    for (name, value) in &parts.headers {
        if !head.is_empty() {
            head.push(b'\n');
        }
        head.extend_from_slice(name.as_str().as_bytes());
        head.push(b'\n');
        head.extend_from_slice(value.as_bytes());
    }
    let (body, stream) = match body {
        ModuleBody::Whole(body) => (body, None),
        ModuleBody::Streamed(body) => (Bytes::new(), Some(streams.add(body))),
    };
    NativeResponse { status: parts.status.as_u16(), head: Latin1(head), body: Whole(body), stream }
}

/// Bytes that become a string of the characters U+0000 to U+00FF.
pub struct Latin1(Vec<u8>);

impl ToNapiValue for Latin1 {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let text = env.create_string_latin1(text.0)?;
        // SAFETY: the value was made in this environment.
        unsafe { ToNapiValue::to_napi_value(env.raw(), text) }
    }
}

/// Size from which a body is passed without a copy. Copying a smaller one is cheaper than recording its owner.
const HANDED_OVER: usize = 32 * 1024;

/// Bytes that become a buffer.
pub struct Whole(pub(crate) Bytes);

impl ToNapiValue for Whole {
    unsafe fn to_napi_value(env: sys::napi_env, bytes: Self) -> Result<sys::napi_value> {
        if bytes.0.len() >= HANDED_OVER {
            // SAFETY: `env` is the caller's.
            return unsafe { ToNapiValue::to_napi_value(env, Buffer::from(Vec::from(bytes.0))) };
        }
        let copy = BufferSlice::copy_from(&Env::from_raw(env), bytes.0)?;
        // SAFETY: the value was made in this environment.
        unsafe { ToNapiValue::to_napi_value(env, &copy) }
    }
}
