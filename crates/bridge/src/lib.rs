//! The bridge: serves an `sdk:core/handler` on every server that implements `wasi:http`.
//!
//! It owns the translation between the streaming, resource-based `wasi:http` and the handler, which takes requests and gives
//! responses whole or piece by piece, and nothing else: no routing, no retries, no opinion on content. Whatever goes
//! wrong on the way (a body that is too large or breaks off, a response that HTTP does not allow) is answered with problem
//! details (RFC 9457).
//!
//! - [`request`] reads a `wasi:http` request into the handler's record.
//! - [`response`] writes the handler's record, or a problem, as a `wasi:http` response.
//! - [`pieces`] goes on with a response that the handler streams.
//! - [`upload`] gives the handler the body of a request piece by piece.
//! - [`problem`] holds the failures and their JSON.
//! - [`handler`] calls the handler.
//!
//! The feature `component` makes a component of its own, which is composed with a handler. Without it, this is a part of the engine
//! that the handler runs in (`crates/engine`).
#![no_std]

extern crate alloc;

#[path = "../../abi/src/lib.rs"]
mod abi;
#[cfg(feature = "component")]
mod component;
#[cfg(not(feature = "component"))]
mod engine;
mod handler;
mod pieces;
mod problem;
mod request;
mod response;
mod upload;

mod bindings {
    #![allow(missing_docs)]
    wit_bindgen::generate!({ path: "../../wit", world: "bridge", generate_all });
}

use bindings::wasi::http::types::{IncomingRequest, ResponseOutparam};

/// Answers a request.
fn answer(incoming: IncomingRequest, out: ResponseOutparam) {
    match request::read(incoming) {
        Ok((request, None)) => {
            let head = request.method == "HEAD";
            response::send(handler::handle(&request), head, None, out);
        }
        Ok((request, Some(mut upload))) => {
            let head = request.method == "HEAD";
            match upload::begin(request, &mut upload) {
                Ok(response) => response::send(response, head, Some(upload), out),
                Err(problem) => {
                    upload.leave();
                    response::send_problem(problem, out);
                }
            }
        }
        Err(problem) => response::send_problem(problem, out),
    }
}
