//! Decoders of the Encoding Standard by the crate `encoding_rs`. `platform.h` documents the functions.
use alloc::boxed::Box;
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding};

use crate::{Text, bytes};

/// A decoder with the options that it was made with, which its successor needs when a text has ended.
pub struct TextDecoder {
    encoding: &'static Encoding,
    fatal: bool,
    ignore_bom: bool,
    decoder: Decoder,
}

fn decoder_for(encoding: &'static Encoding, ignore_bom: bool) -> Decoder {
    if ignore_bom { encoding.new_decoder_without_bom_handling() } else { encoding.new_decoder_with_bom_removal() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_decoder_new(
    label: *const u8,
    length: usize,
    fatal: bool,
    ignore_bom: bool,
) -> Option<Box<TextDecoder>> {
    // SAFETY: the caller passes a readable range.
    let label = unsafe { bytes(label, length) };
    let encoding = Encoding::for_label_no_replacement(label)?;
    let decoder = decoder_for(encoding, ignore_bom);
    Some(Box::new(TextDecoder { encoding, fatal, ignore_bom, decoder }))
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_decoder_encoding(decoder: &TextDecoder) -> Text {
    Text::of(decoder.encoding.name())
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_decoder_space(decoder: &TextDecoder, length: usize) -> usize {
    let space = if decoder.fatal {
        decoder.decoder.max_utf8_buffer_length_without_replacement(length)
    } else {
        decoder.decoder.max_utf8_buffer_length(length)
    };
    space.unwrap_or(usize::MAX)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tenon_decoder_decode(
    decoder: &mut TextDecoder,
    input: *const u8,
    length: usize,
    output: *mut u8,
    space: usize,
    stream: bool,
) -> isize {
    // SAFETY: the caller passes a readable and a writable range, which do not overlap.
    let (input, output) = unsafe { (bytes(input, length), core::slice::from_raw_parts_mut(output, space)) };
    let (whole, written) = if decoder.fatal {
        let (result, _, written) = decoder.decoder.decode_to_utf8_without_replacement(input, output, !stream);
        (result == DecoderResult::InputEmpty, written)
    } else {
        let (result, _, written, _) = decoder.decoder.decode_to_utf8(input, output, !stream);
        (result == CoderResult::InputEmpty, written)
    };
    if !stream {
        decoder.decoder = decoder_for(decoder.encoding, decoder.ignore_bom);
    }
    if whole { written as isize } else { -1 }
}

#[unsafe(no_mangle)]
pub extern "C" fn tenon_decoder_free(decoder: Option<Box<TextDecoder>>) {
    drop(decoder);
}
