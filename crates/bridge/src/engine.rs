//! The bridge as a part of the engine: its export.

use crate::bindings::wasi::http::types::{IncomingRequest, ResponseOutparam};

/// `wasi:http/incoming-handler#handle`: a request and the place for its response, by their handles.
#[unsafe(no_mangle)]
pub extern "C" fn bridge_handle(incoming: u32, out: u32) {
    // SAFETY: the host gives both to this call, which owns them.
    let (incoming, out) = unsafe { (IncomingRequest::from_handle(incoming), ResponseOutparam::from_handle(out)) };
    crate::answer(incoming, out);
}
