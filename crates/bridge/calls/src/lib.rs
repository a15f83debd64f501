//! The implementation of `sdk:core/calls` and `sdk:core/log` on servers other than Tenon's.
//!
//! It translates calls, which are whole records, to the streams and resources of `wasi:http`. It has no retries,
//! redirects or cookies. It is part of each component, around the handler that imports it (`tenon_compose::enclose`).
//! Tenon's runtime has an implementation of its own and leaves this one out.
//!
//! - [`running`] has the calls, and waits for several at once.
//! - [`call`] is one call: it sends the request and reads the response.
//! - [`request`] makes a `wasi:http` request from the record.
//! - [`failure`] maps the failures of `wasi:http`.
//! - [`log`] writes lines to standard output and standard error.
#![no_std]

extern crate alloc;

mod call;
mod failure;
mod log;
mod request;
mod running;

mod bindings {
    #![allow(missing_docs)]
    wit_bindgen::generate!({ path: "../../../wit", world: "calls-adapter", generate_all });
}

use alloc::vec::Vec;

use bindings::exports::sdk::core::calls::{Failure, Guest as Calls, Request, Response};
use bindings::exports::sdk::core::log::{Guest as Log, Output};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Adapter;

impl Calls for Adapter {
    fn start(request: Request) -> u32 {
        running::with(|running| running.start(request))
    }

    fn wait(timeout_us: u32) -> bool {
        running::with(|running| running.wait(timeout_us))
    }

    fn take() -> Option<(u32, Result<Response, Failure>)> {
        running::with(running::Running::take)
    }

    fn cancel(call: u32) {
        running::with(|running| running.cancel(call));
    }
}

impl Log for Adapter {
    fn write(output: Output, text: Vec<u8>) {
        log::write(output, &text);
    }
}

bindings::export!(Adapter with_types_in bindings);
