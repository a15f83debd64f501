//! Parts that the core modules behind `crypto.subtle` share: memory for the caller, and the reading of arguments.
//!
//! A module imports nothing and keeps nothing between calls. The caller (`guest/src/polyfills/subtle/core-module.ts`) does four steps:
//!
//! 1. `allocate` a block, and write all inputs into it, one behind the other.
//! 2. Call a function with the block's address and the lengths of the inputs. Outputs stand in the same block, where the
//!    function's documentation says.
//! 3. Read the output. A negative result is [`FAILED`] or [`INVALID`].
//! 4. `release` the block, which overwrites it with zeros, because it holds keys.
//!
//! Random bytes are inputs, too.
#![no_std]

extern crate alloc;

use alloc::alloc::{Layout, alloc_zeroed, dealloc};
use core::marker::PhantomData;
use core::slice;
use zeroize::Zeroize;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// The data are not authentic, or the computation has no result.
pub const FAILED: i32 = -1;
/// A key or another argument is not valid.
pub const INVALID: i32 = -2;

/// Calls a function that is generic over a hash function with the one of a number, which is the one in its name: 1, 256, 384 or
/// 512. The caller's crate has `sha1` and `sha2`.
#[macro_export]
macro_rules! with_hash {
    ($hash:expr, $function:ident($($argument:expr),*)) => {
        match $hash {
            1 => $function::<sha1::Sha1>($($argument),*),
            256 => $function::<sha2::Sha256>($($argument),*),
            384 => $function::<sha2::Sha384>($($argument),*),
            512 => $function::<sha2::Sha512>($($argument),*),
            _ => $crate::INVALID,
        }
    };
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.max(1), 16).ok()
}

/// Returns the address of a block of zeros, or 0 when there is no memory for it.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(size: usize) -> *mut u8 {
    // SAFETY: the size is not 0.
    layout(size).map_or(core::ptr::null_mut(), |layout| unsafe { alloc_zeroed(layout) })
}

/// Overwrites a block with zeros and frees it.
///
/// # Safety
/// The block is one of `allocate`, with the same size, and is released once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(block: *mut u8, size: usize) {
    let Some(layout) = layout(size) else { return };
    // SAFETY: the caller passes a block that `allocate` returned for this size.
    unsafe {
        slice::from_raw_parts_mut(block, size).zeroize();
        dealloc(block, layout);
    }
}

/// Splits a block into the arguments that stand in it, one behind the other.
pub struct Arguments<'a> {
    next: *mut u8,
    block: PhantomData<&'a mut [u8]>,
}

impl<'a> Arguments<'a> {
    /// Begins at the start of a block.
    ///
    /// # Safety
    /// The block has the bytes that are taken, and nothing else uses them meanwhile.
    pub unsafe fn of(block: *mut u8) -> Self {
        Arguments { next: block, block: PhantomData }
    }

    /// Returns the next bytes.
    pub fn take(&mut self, length: usize) -> &'a mut [u8] {
        let start = self.next;
        // SAFETY: the block has these bytes, and no other argument overlaps them.
        unsafe {
            self.next = start.add(length);
            slice::from_raw_parts_mut(start, length)
        }
    }
}

/// Encodes a length, or a count of bytes, as a result.
pub fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(FAILED)
}
