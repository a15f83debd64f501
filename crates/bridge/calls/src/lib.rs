//! The implementation of `sdk:core/calls` and `sdk:core/log` on servers other than Tenon's.
//!
//! It translates calls, which are records and numbers, to the streams and resources of `wasi:http`. It has no retries,
//! redirects or cookies. It is a part of the engine (`crates/engine`), and a component of its kind plugs it
//! into the engine's imports (`crates/engine/wrappers.mjs`). Tenon's runtime has an implementation of its own.
//!
//! - [`engine`] has the functions that the engine imports.
//! - [`running`] has the calls, and waits for several at once.
//! - [`call`] is one call: it sends the request and reads the response.
//! - [`request`] makes a `wasi:http` request from the record.
//! - [`failure`] maps the failures of `wasi:http`.
//! - [`log`] writes lines to standard output and standard error.
#![no_std]

extern crate alloc;

mod call;
mod engine;
mod failure;
mod log;
mod request;
mod running;

mod bindings {
    #![allow(missing_docs)]
    wit_bindgen::generate!({ path: "../../../wit", world: "calls-adapter", generate_all });
}
