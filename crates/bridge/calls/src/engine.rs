//! The adapter as a part of the engine: the functions that the engine imports, with the records as the Canonical ABI has them
//! (`crates/engine/src/abi.h`).

use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::copy_nonoverlapping;
use core::slice;

use crate::bindings::exports::sdk::core::calls::{Bodies, Failure, Piece, Request, Response};
use crate::bindings::exports::sdk::core::log::Output;
use crate::{log, running};

unsafe extern "C" {
    /// Allocates memory that belongs to the engine's call.
    fn cabi_realloc(old: *mut u8, was: usize, alignment: usize, size: usize) -> *mut u8;
}

#[link(wasm_import_module = "wasi:cli/environment@0.2.10")]
unsafe extern "C" {
    /// The linker makes two imports of one function one, and the engine's results belong to its call.
    #[link_name = "get-environment"]
    fn environment(into: *mut Pairs);
}

#[repr(C)]
struct Pairs {
    at: *const Pair,
    count: usize,
}

/// Returns a copy of the environment.
pub fn get_environment() -> Vec<(String, String)> {
    let mut pairs = Pairs { at: core::ptr::null(), count: 0 };
    // SAFETY: the host writes a list of pairs of texts.
    unsafe {
        environment(&raw mut pairs);
        let pairs = match pairs.count {
            0 => &[],
            count => slice::from_raw_parts(pairs.at, count),
        };
        pairs.iter().map(|pair| (text(pair.name.get()), text(pair.value.get()))).collect()
    }
}

/// Borrows bytes of the engine.
///
/// # Safety
/// There are so many bytes at the address, and nothing writes them meanwhile.
unsafe fn bytes<'a>(at: *const u8, length: usize) -> &'a [u8] {
    match length {
        0 => &[],
        // SAFETY: by the caller's promise there are so many bytes at the address, and nothing writes them.
        length => unsafe { slice::from_raw_parts(at, length) },
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    at: *const u8,
    length: usize,
}

impl Bytes {
    /// # Safety
    /// As of [`bytes`].
    unsafe fn get<'a>(self) -> &'a [u8] {
        // SAFETY: by the caller's promise the bytes are there, and nothing writes them.
        unsafe { bytes(self.at, self.length) }
    }

    /// Copies bytes into memory of the engine's.
    fn copy(from: &[u8]) -> Self {
        // SAFETY: the block has room for the copy.
        unsafe {
            let at = cabi_realloc(core::ptr::null_mut(), 0, 1, from.len());
            copy_nonoverlapping(from.as_ptr(), at, from.len());
            Self { at, length: from.len() }
        }
    }
}

/// A header.
#[repr(C)]
pub struct Pair {
    name: Bytes,
    value: Bytes,
}

/// `option<tuple<u32, result<response, failure>>>`.
#[repr(C)]
pub struct Outcome {
    is_some: bool,
    call: u32,
    is_failure: bool,
    content: Content,
}

#[repr(C)]
union Content {
    response: Answer,
    failure: Refusal,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Answer {
    status: u16,
    headers: *const Pair,
    header_count: usize,
    body: Bytes,
}

impl Answer {
    fn of(response: &Response) -> Self {
        let pair =
            |(name, value): &(String, Vec<u8>)| Pair { name: Bytes::copy(name.as_bytes()), value: Bytes::copy(value) };
        let pairs: Vec<Pair> = response.headers.iter().map(pair).collect();
        // SAFETY: the block has room for the copy.
        let headers = unsafe {
            let headers =
                cabi_realloc(core::ptr::null_mut(), 0, align_of::<Pair>(), size_of_val(&*pairs)).cast::<Pair>();
            copy_nonoverlapping(pairs.as_ptr(), headers, pairs.len());
            headers
        };
        Self { status: response.status, headers, header_count: pairs.len(), body: Bytes::copy(&response.body) }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Refusal {
    reason: u8,
    detail: Bytes,
}

impl Refusal {
    fn of(failure: &Failure) -> Self {
        Self { reason: failure.reason as u8, detail: Bytes::copy(failure.detail.as_bytes()) }
    }
}

/// `piece`.
#[repr(C)]
pub struct Part {
    kind: u8,
    content: PartContent,
}

#[repr(C)]
union PartContent {
    bytes: Bytes,
    failure: Refusal,
}

/// `option<u32>`.
#[repr(C)]
pub struct Number {
    is_some: bool,
    value: u32,
}

impl From<Option<u32>> for Number {
    fn from(number: Option<u32>) -> Self {
        Self { is_some: number.is_some(), value: number.unwrap_or_default() }
    }
}

const _: () = assert!(
    size_of::<Pair>() == 16 && size_of::<Outcome>() == 32 && size_of::<Part>() == 16 && size_of::<Number>() == 8
);

fn text(from: &[u8]) -> String {
    String::from_utf8_lossy(from).into_owned()
}

/// # Safety
/// There are so many pairs at the address, and nothing writes them meanwhile.
unsafe fn pairs(at: *const Pair, count: usize) -> Vec<(String, Vec<u8>)> {
    let pairs = match count {
        0 => &[],
        // SAFETY: by the caller's promise there are so many pairs at the address, and nothing writes them.
        count => unsafe { slice::from_raw_parts(at, count) },
    };
    // SAFETY: by the caller's promise each pair has the addresses of its two texts.
    pairs.iter().map(|pair| unsafe { (text(pair.name.get()), pair.value.get().to_vec()) }).collect()
}

/// `sdk:core/calls#start`.
///
/// # Safety
/// The arguments are those of the Canonical ABI.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calls_start(
    method: *const u8,
    method_length: usize,
    url: *const u8,
    url_length: usize,
    headers: *const Pair,
    header_count: usize,
    has_body: u32,
    body: *const u8,
    body_length: usize,
    timeout_ms: u32,
    max_bytes: u32,
    bodies: u32,
) -> u32 {
    // SAFETY: the engine passes what the Canonical ABI does.
    let request = unsafe {
        Request {
            method: text(bytes(method, method_length)),
            url: text(bytes(url, url_length)),
            headers: pairs(headers, header_count),
            body: (has_body != 0).then(|| bytes(body, body_length).to_vec()),
            timeout_ms,
            max_bytes,
        }
    };
    let bodies = match bodies {
        0 => Bodies::Whole,
        1 => Bodies::Streamed,
        _ => Bodies::StreamedWithMore,
    };
    running::with(|running| running.start(request, bodies))
}

/// `sdk:core/calls#wait`.
#[unsafe(no_mangle)]
pub extern "C" fn calls_wait(timeout_us: u32) -> u32 {
    u32::from(running::with(|running| running.wait(timeout_us)))
}

/// `sdk:core/calls#take`.
///
/// # Safety
/// The address has room for an outcome.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calls_take(into: *mut Outcome) {
    let ended = running::with(running::Running::take);
    // SAFETY: by the caller's promise the address has room for an outcome.
    let outcome = unsafe { &mut *into };
    outcome.is_some = ended.is_some();
    let Some((call, result)) = ended else { return };
    outcome.call = call;
    outcome.is_failure = result.is_err();
    outcome.content = match result {
        Ok(response) => Content { response: Answer::of(&response) },
        Err(failure) => Content { failure: Refusal::of(&failure) },
    };
}

/// `sdk:core/calls#ready`.
///
/// # Safety
/// The address has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calls_ready(into: *mut Number) {
    let call = running::with(running::Running::ready).into();
    // SAFETY: by the caller's promise the address has room for a number.
    unsafe { into.write(call) };
}

/// `sdk:core/calls#read`.
///
/// # Safety
/// The address has room for a part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calls_read(call: u32, into: *mut Part) {
    let nothing = PartContent { bytes: Bytes { at: core::ptr::null(), length: 0 } };
    let (kind, content) = match running::with(|running| running.read(call)) {
        Piece::Bytes(piece) => (0, PartContent { bytes: Bytes::copy(&piece) }),
        Piece::Later => (1, nothing),
        Piece::End => (2, nothing),
        Piece::Failed(failure) => (3, PartContent { failure: Refusal::of(&failure) }),
    };
    // SAFETY: by the caller's promise the address has room for a part.
    unsafe { into.write(Part { kind, content }) };
}

/// `sdk:core/calls#write`.
///
/// # Safety
/// The arguments are those of the Canonical ABI, and the address has room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calls_write(call: u32, has_piece: u32, piece: *const u8, length: usize, into: *mut Number) {
    // SAFETY: the Canonical ABI gives the address of `length` bytes, and of room for a number.
    unsafe {
        let piece = (has_piece != 0).then(|| bytes(piece, length));
        into.write(running::with(|running| running.write(call, piece)).into());
    }
}

/// `sdk:core/calls#cancel`.
#[unsafe(no_mangle)]
pub extern "C" fn calls_cancel(call: u32) {
    running::with(|running| running.cancel(call));
}

/// `sdk:core/log#write`.
///
/// # Safety
/// The arguments are those of the Canonical ABI.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn log_write(output: u32, text: *const u8, length: usize) {
    let output = if output == 0 { Output::Out } else { Output::Err };
    // SAFETY: the Canonical ABI gives the address of `length` bytes.
    log::write(output, unsafe { bytes(text, length) });
}
