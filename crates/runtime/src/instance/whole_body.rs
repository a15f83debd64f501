//! Whole bodies in the form that `wasi:http` takes.

use bytes::Bytes;
use http_body_util::BodyExt;
use wasmtime_wasi_http::{Error, WasiBody};

/// A whole body in the form that `wasi:http` takes.
pub(crate) fn whole(bytes: Bytes) -> WasiBody {
    http_body_util::Full::new(bytes).map_err(Error::from).boxed_unsync()
}
