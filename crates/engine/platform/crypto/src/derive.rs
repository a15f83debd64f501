//! Keys from secrets: HKDF (RFC 5869), PBKDF2 (RFC 8018) and scrypt (RFC 7914).
//!
//! A hash function is given by its number for [`with_hash`].

use crate::arguments::{Arguments, FAILED, INVALID, with_hash};
use alloc::vec::Vec;
use core::hint::black_box;

/// Block: key, salt, info, output.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_hkdf(
    block: *mut u8,
    size: usize,
    hash: u32,
    key: usize,
    salt: usize,
    info: usize,
    out: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, salt, info, out) = (parts.take(key), parts.take(salt), parts.take(info), parts.take(out));
    with_hash!(hash, expand(key, salt, info, out))
}

/// Block: password, salt, output.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_pbkdf2(
    block: *mut u8,
    size: usize,
    hash: u32,
    password: usize,
    salt: usize,
    rounds: u32,
    out: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (password, salt, out) = (parts.take(password), parts.take(salt), parts.take(out));
    if rounds == 0 {
        return INVALID;
    }
    with_hash!(hash, iterate(password, salt, rounds, out))
}

/// The cost is 2 to the power of `log_cost`, and takes 128 bytes of memory times `block_size` each. Fails without that memory.
///
/// Block: password, salt, output.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_scrypt(
    block: *mut u8,
    size: usize,
    password: usize,
    salt: usize,
    log_cost: u32,
    block_size: u32,
    parallel: u32,
    out: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (password, salt, out) = (parts.take(password), parts.take(salt), parts.take(out));
    let log_cost = u8::try_from(log_cost).unwrap_or(u8::MAX);
    let Ok(params) = scrypt::Params::new(log_cost, block_size, parallel) else { return INVALID };
    if !has_memory(128 * u64::from(block_size) * ((1 << log_cost) + u64::from(parallel) + 1)) {
        return FAILED;
    }
    scrypt::scrypt(password, salt, &params, out).map_or(INVALID, |()| 0)
}

/// Tells whether bytes can be allocated. A failed allocation inside of a crate would end the instance.
fn has_memory(bytes: u64) -> bool {
    let mut memory = Vec::<u8>::new();
    let is_there = usize::try_from(bytes).is_ok_and(|bytes| memory.try_reserve_exact(bytes).is_ok());
    // The compiler would remove an allocation that nothing uses.
    black_box(&memory);
    is_there
}

fn expand<D: hmac::EagerHash>(key: &[u8], salt: &[u8], info: &[u8], out: &mut [u8]) -> i32 {
    hkdf::Hkdf::<D>::new(Some(salt), key).expand(info, out).map_or(FAILED, |()| 0)
}

fn iterate<D: hmac::EagerHash>(password: &[u8], salt: &[u8], rounds: u32, out: &mut [u8]) -> i32 {
    pbkdf2::pbkdf2_hmac::<D>(password, salt, rounds, out);
    0
}
