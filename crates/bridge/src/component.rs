//! The bridge as a component.

use crate::bindings::exports::wasi::http::incoming_handler::Guest;
use crate::bindings::wasi::http::types::{IncomingRequest, ResponseOutparam};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

struct Bridge;

impl Guest for Bridge {
    fn handle(incoming: IncomingRequest, out: ResponseOutparam) {
        crate::answer(incoming, out);
    }
}

crate::bindings::export!(Bridge with_types_in crate::bindings);
