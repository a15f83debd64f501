//! The bridge: serves an `sdk:core/handler` on every server that implements `wasi:http`.
//!
//! It translates the streams and resources of `wasi:http` for the handler, which takes requests whole and returns
//! responses whole or piece by piece. It does not route or retry, and does not look at content. Any failure on the way
//! is answered with problem details (RFC 9457). Examples are a body that is too large or breaks off, and a response
//! that HTTP does not allow.
//!
//! - [`request`] reads a `wasi:http` request into the handler's record.
//! - [`response`] writes the handler's record, or a problem, as a `wasi:http` response.
//! - [`pieces`] continues a response that the handler streams.
//! - [`problem`] has the failures and their JSON.
#![no_std]

extern crate alloc;

mod pieces;
mod problem;
mod request;
mod response;

mod bindings {
    #![allow(missing_docs)]
    wit_bindgen::generate!({ path: "../../wit", world: "bridge", generate_all });
}

use bindings::exports::wasi::http::incoming_handler::Guest;
use bindings::sdk::core::handler;
use bindings::wasi::http::types::{IncomingRequest, ResponseOutparam};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Bridge;

impl Guest for Bridge {
    fn handle(incoming: IncomingRequest, out: ResponseOutparam) {
        match request::read(incoming) {
            Ok(request) => {
                let head = request.method == "HEAD";
                response::send(handler::handle(&request), head, out);
            }
            Err(problem) => response::send_problem(problem, out),
        }
    }
}

bindings::export!(Bridge with_types_in bindings);
