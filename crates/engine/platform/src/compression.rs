//! Compression and decompression (Compression Standard) by the crate `miniz_oxide`. `platform.h` documents the functions.
mod deflate;
mod gzip;
mod inflate;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::bytes;
use deflate::Compressor;
use inflate::Decompressor;

/// The formats of the Compression Standard, numbered as `enum tenon_format`.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(dead_code, reason = "C makes the values")]
pub enum Format {
    /// "deflate", the zlib format (RFC 1950).
    Zlib,
    /// "deflate-raw" (RFC 1951).
    Raw,
    /// "gzip" (RFC 1952).
    Gzip,
}

enum Direction {
    Compress(Compressor),
    Decompress(Decompressor),
}

/// A stream that is being compressed or decompressed.
pub struct Codec {
    direction: Direction,
    /// Input that was pushed, of which `consumed` bytes are used up.
    input: Vec<u8>,
    consumed: usize,
    /// No input follows.
    finished: bool,
}

/// The progress of one step.
struct Step {
    consumed: usize,
    produced: usize,
}

/// The input is not valid.
struct Corrupt;

#[unsafe(no_mangle)]
pub extern "C" fn tenon_codec_new(format: Format, decompress: bool) -> Box<Codec> {
    let direction = if decompress {
        Direction::Decompress(Decompressor::new(format))
    } else {
        Direction::Compress(Compressor::new(format))
    };
    Box::new(Codec { direction, input: Vec::new(), consumed: 0, finished: false })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_codec_push(codec: &mut Codec, input: *const u8, length: usize) -> bool {
    // SAFETY: the caller passes a readable range.
    let input = unsafe { bytes(input, length) };
    codec.input.drain(..codec.consumed);
    codec.consumed = 0;
    if codec.input.try_reserve(input.len()).is_err() {
        return false;
    }
    codec.input.extend_from_slice(input);
    true
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_codec_finish(codec: &mut Codec) {
    codec.finished = true;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_codec_pull(codec: &mut Codec, output: *mut u8, space: usize) -> isize {
    // SAFETY: the caller passes a writable range.
    let output = unsafe { core::slice::from_raw_parts_mut(output, space) };
    let input = &codec.input[codec.consumed..];
    let step = match &mut codec.direction {
        Direction::Compress(compressor) => Ok(compressor.step(input, output, codec.finished)),
        Direction::Decompress(decompressor) => decompressor.step(input, output, codec.finished),
    };
    let Ok(Step { consumed, produced }) = step else { return -1 };
    codec.consumed += consumed;
    produced as isize
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_codec_free(codec: Option<Box<Codec>>) {
    drop(codec);
}
