//! Hash functions and HMAC, which every engine has.
//!
//! `crates/engine/src/digest.c` calls these functions. A hash function is given by a number: the one in its name, 5 for MD5
//! and 1 for SHA-1.
#![no_std]

use core::ptr;
use core::slice;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::{Digest, block_api::BlockSizeUser};
use sha2::{Sha224, Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq;

/// Defines the functions that do the same for each hash function.
macro_rules! define {
    ($($number:literal $hash:ident),*) => {
        /// A hash in progress.
        #[allow(clippy::large_enum_variant, reason = "a state lives in one block of the engine's memory")]
        #[derive(Clone)]
        enum Hash {
            $($hash($hash),)*
        }

        impl Hash {
            fn new(hash: u32) -> Option<Self> {
                Some(match hash {
                    $($number => Hash::$hash($hash::new()),)*
                    _ => return None,
                })
            }

            fn update(&mut self, data: &[u8]) {
                match self { $(Hash::$hash(hash) => hash.update(data),)* }
            }

            /// Writes the digest to the first bytes, and returns how many it has.
            fn finish(self, out: &mut [u8; LARGEST]) -> usize {
                match self { $(Hash::$hash(hash) => write(&hash.finalize(), out),)* }
            }
        }

        /// The bytes of a digest and of a block; 0 for an unknown hash function.
        fn sizes(hash: u32) -> (usize, usize) {
            match hash {
                $($number => (<$hash as Digest>::output_size(), $hash::block_size()),)*
                _ => (0, 0),
            }
        }
    };
}
define! { 5 Md5, 1 Sha1, 224 Sha224, 256 Sha256, 384 Sha384, 512 Sha512 }

/// The bytes of the largest digest.
const LARGEST: usize = 64;
/// The bytes of the largest block.
const LARGEST_BLOCK: usize = 128;

fn write(digest: &[u8], out: &mut [u8; LARGEST]) -> usize {
    out[..digest.len()].copy_from_slice(digest);
    digest.len()
}

/// A hash, or an HMAC, in progress.
#[derive(Clone)]
struct State {
    inner: Hash,
    /// The hash around the inner one, for an HMAC.
    outer: Option<Hash>,
}

impl State {
    fn new(hash: u32, key: Option<&[u8]>) -> Option<Self> {
        let (mut inner, mut outer) = (Hash::new(hash)?, None);
        if let Some(key) = key {
            let block = sizes(hash).1;
            let (mut padded, mut shortened) = ([0; LARGEST_BLOCK], [0; LARGEST]);
            let key = if key.len() > block {
                let mut long = Hash::new(hash)?;
                long.update(key);
                let used = long.finish(&mut shortened);
                &shortened[..used]
            } else {
                key
            };
            padded[..key.len()].copy_from_slice(key);
            let mut around = Hash::new(hash)?;
            inner.update(&padded.map(|byte| byte ^ 0x36)[..block]);
            around.update(&padded.map(|byte| byte ^ 0x5c)[..block]);
            outer = Some(around);
        }
        Some(State { inner, outer })
    }

    fn finish(self, out: &mut [u8; LARGEST]) {
        let used = self.inner.finish(out);
        if let Some(mut outer) = self.outer {
            outer.update(&out[..used]);
            outer.finish(out);
        }
    }
}

/// # Safety
/// The address has as many bytes, which nothing writes meanwhile. It may be anything when there are none.
unsafe fn bytes<'a>(data: *const u8, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller gives `length` bytes at the address, which nothing writes meanwhile.
    unsafe { slice::from_raw_parts(data, length) }
}

/// Returns the bytes of a digest; 0 for an unknown hash function.
#[unsafe(no_mangle)]
extern "C" fn tenon_digest_size(hash: u32) -> usize {
    sizes(hash).0
}

/// Returns the bytes of a [`State`].
#[unsafe(no_mangle)]
extern "C" fn tenon_digest_state() -> usize {
    size_of::<State>()
}

/// Hashes data at once.
///
/// # Safety
/// The hash function is known, and the output has [`LARGEST`] bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_digest(hash: u32, data: *const u8, length: usize, out: *mut [u8; LARGEST]) {
    let Some(mut running) = Hash::new(hash) else { return };
    // SAFETY: the caller gives `length` bytes of data, and room for the largest digest.
    let (data, out) = unsafe { (bytes(data, length), &mut *out) };
    running.update(data);
    running.finish(out);
}

/// Computes an HMAC at once.
///
/// # Safety
/// The hash function is known, and the output has [`LARGEST`] bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_hmac(
    hash: u32,
    key: *const u8,
    key_length: usize,
    data: *const u8,
    length: usize,
    out: *mut [u8; LARGEST],
) {
    // SAFETY: the caller gives the bytes of the key and of the data, and room for the largest digest.
    let (key, data, out) = unsafe { (bytes(key, key_length), bytes(data, length), &mut *out) };
    let Some(mut state) = State::new(hash, Some(key)) else { return };
    state.inner.update(data);
    state.finish(out);
}

/// Begins a hash, or with a key an HMAC. A null key is none.
///
/// # Safety
/// The state has [`tenon_digest_state`] bytes with an alignment of 16, and the hash function is known.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_digest_begin(state: *mut State, hash: u32, key: *const u8, key_length: usize) {
    // SAFETY: the caller gives a key of `key_length` bytes, or null.
    let key = (!key.is_null()).then(|| unsafe { bytes(key, key_length) });
    if let Some(begun) = State::new(hash, key) {
        // SAFETY: the caller passes a place for a state.
        unsafe { ptr::write(state, begun) };
    }
}

/// # Safety
/// The state was begun.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_digest_update(state: *mut State, data: *const u8, length: usize) {
    // SAFETY: the caller gives a state that was begun, and `length` bytes of data.
    unsafe { (*state).inner.update(bytes(data, length)) };
}

/// Writes the digest of a copy of the state, so that the state can go on.
///
/// # Safety
/// The state was begun, and the output has [`LARGEST`] bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_digest_finish(state: *const State, out: *mut [u8; LARGEST]) {
    // SAFETY: the caller gives a state that was begun, and room for the largest digest.
    unsafe { (*state).clone().finish(&mut *out) };
}

/// Returns 1 for equal bytes, in a time that depends on their number alone.
///
/// # Safety
/// Both addresses have as many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_is_same(a: *const u8, b: *const u8, length: usize) -> i32 {
    // SAFETY: both addresses have `length` bytes.
    i32::from(bool::from(unsafe { bytes(a, length).ct_eq(bytes(b, length)) }))
}
