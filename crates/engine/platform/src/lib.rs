//! The parts of the web platform that the engine takes from Rust crates, as a static library for the C of `crates/engine`.
//!
//! `platform.h` declares what the library exports. It owns no globals, so all its state is in linear memory and belongs to a
//! snapshot. Strings of JavaScript arrive as UTF-8 in which lone surrogates are encoded, too ([`text`]).
#![no_std]

extern crate alloc;
#[cfg(feature = "server")]
extern crate tenon_bridge;
#[cfg(feature = "server")]
extern crate tenon_calls;
#[cfg(feature = "crypto")]
extern crate tenon_crypto;
#[cfg(feature = "digests")]
extern crate tenon_digests;

#[cfg(feature = "compression")]
mod compression;
#[cfg(feature = "encoding")]
mod encoding;
mod memory;
#[cfg(feature = "url")]
mod text;
#[cfg(feature = "url")]
mod url;

/// A borrowed text, `struct tenon_text` in C.
#[repr(C)]
pub struct Text {
    start: *const u8,
    length: usize,
}

impl Text {
    fn of(text: &str) -> Self {
        Self { start: text.as_ptr(), length: text.len() }
    }
}

/// Borrows bytes of the caller.
///
/// # Safety
/// `start` points to `length` readable bytes that nothing writes during `'a`, or `length` is 0.
unsafe fn bytes<'a>(start: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: by the caller's promise `length` readable bytes are there, and nothing writes them.
    unsafe { core::slice::from_raw_parts(start, length) }
}
