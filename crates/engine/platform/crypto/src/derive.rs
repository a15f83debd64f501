//! Keys from secrets: HKDF (RFC 5869), PBKDF2 (RFC 8018), scrypt (RFC 7914) and Argon2 (RFC 9106).
//!
//! A hash function is given by its number for [`with_hash`].

use crate::arguments::{Arguments, FAILED, INVALID, with_hash};
use alloc::vec::Vec;
use argon2::{Algorithm, Argon2, AssociatedData, Block, ParamsBuilder, Version};
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

/// The variant is 0 for Argon2d, 1 for Argon2i and 2 for Argon2id. `memory` is in KiB. Fails without that memory.
///
/// Block: password, salt, secret, associated data, output.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_argon2(
    block: *mut u8,
    size: usize,
    variant: u32,
    memory: u32,
    passes: u32,
    lanes: u32,
    password: usize,
    salt: usize,
    secret: usize,
    data: usize,
    out: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (password, salt) = (parts.take(password), parts.take(salt));
    let (secret, data, out) = (parts.take(secret), parts.take(data), parts.take(out));
    let variant = match variant {
        0 => Algorithm::Argon2d,
        1 => Algorithm::Argon2i,
        _ => Algorithm::Argon2id,
    };
    let Ok(data) = AssociatedData::new(data) else { return INVALID };
    let params = ParamsBuilder::new().m_cost(memory).t_cost(passes).p_cost(lanes).data(data).output_len(out.len()).build();
    let Ok(params) = params else { return INVALID };
    let mut blocks = Vec::new();
    if blocks.try_reserve_exact(params.block_count()).is_err() {
        return FAILED;
    }
    blocks.resize(params.block_count(), Block::default());
    let Ok(argon2) = Argon2::new_with_secret(secret, variant, Version::V0x13, params) else { return INVALID };
    argon2.hash_password_into_with_memory(password, salt, out, &mut blocks).map_or(INVALID, |()| 0)
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
