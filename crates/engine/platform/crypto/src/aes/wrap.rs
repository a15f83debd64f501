//! AES Key Wrap (RFC 3394).

use super::{Aes, cipher_of, with_aes};
use crate::arguments::{Arguments, FAILED};
use aes_kw::AesKw;
use cipher::common::InnerInit;

/// Wraps a key.
///
/// Block: key, data, and behind them the wrapped key, which has 8 bytes more than the data.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_kw_wrap(block: *mut u8, size: usize, key: usize, data: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, data, out) = (parts.take(key), parts.take(data), parts.take(data + 8));
    with_aes!(key, wrap(data, out))
}

/// Unwraps a key, if it is authentic.
///
/// Block: key, wrapped key, and behind them the data, which have 8 bytes less.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_kw_unwrap(block: *mut u8, size: usize, key: usize, wrapped: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, data) = (parts.take(key), parts.take(wrapped));
    if wrapped < 24 {
        return FAILED;
    }
    let out = parts.take(wrapped - 8);
    with_aes!(key, unwrap(data, out))
}

fn wrap<C: Aes>(key: &[u8], data: &[u8], out: &mut [u8]) -> i32 {
    if data.len() < 16 {
        return FAILED;
    }
    AesKw::inner_init(cipher_of::<C>(key)).wrap_key(data, out).map_or(FAILED, |_| 0)
}

fn unwrap<C: Aes>(key: &[u8], data: &[u8], out: &mut [u8]) -> i32 {
    AesKw::inner_init(cipher_of::<C>(key)).unwrap_key(data, out).map_or(FAILED, |_| 0)
}
