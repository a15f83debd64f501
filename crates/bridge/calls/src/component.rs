//! The adapter as a component.

use alloc::vec::Vec;

use crate::bindings::exports::sdk::core::calls::{Failure, Guest as Calls, Request, Response};
use crate::bindings::exports::sdk::core::log::{Guest as Log, Output};
use crate::{log, running};

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

crate::bindings::export!(Adapter with_types_in crate::bindings);
