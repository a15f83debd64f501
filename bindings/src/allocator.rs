//! The allocator of this process.

use napi_derive::napi;

/// Makes the allocator of this process keep little memory, for `tenon run`. A program that embeds a runtime has an allocator of
/// its own, which it sets up itself.
#[napi]
pub fn keep_little_memory() {
    tenon_runtime::keep_little();
}
