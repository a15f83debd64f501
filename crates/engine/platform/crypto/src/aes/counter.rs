//! AES-CTR (NIST SP 800-38A), whose counter is the last 1 to 128 bits of its block.

use super::{Aes, cipher_of, with_aes};
use crate::arguments::{Arguments, FAILED, INVALID};
use cipher::{InnerIvInit, StreamCipher};
use ctr::{Ctr128BE, CtrCore};

/// Encrypts or decrypts the data in place. More data than the counter has values fail.
///
/// Block: key, 16 bytes of the first counter block, data. `skipped` bytes of the first block's stream are left out.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ctr(block: *mut u8, size: usize, key: usize, bits: u32, data: usize, skipped: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, start, data) = (parts.take(key), parts.take(16), parts.take(data));
    if !(1..=128).contains(&bits) || skipped >= 16 {
        return INVALID;
    }
    with_aes!(key, apply(start, bits, data, skipped))
}

fn apply<C: Aes>(key: &[u8], start: &[u8], bits: u32, data: &mut [u8], skipped: usize) -> i32 {
    let start = u128::from_be_bytes(start.try_into().unwrap_or_else(|_| unreachable!()));
    let counter_mask = u128::MAX >> (128 - bits);
    let blocks = (data.len() + skipped).div_ceil(16) as u128;
    if blocks > 0 && blocks - 1 > counter_mask {
        return FAILED;
    }
    // The blocks until the counter begins again at 0, which leaves the bits before it alone.
    let until_wrap = (counter_mask - (start & counter_mask)).saturating_add(1);
    let first = usize::try_from(until_wrap.saturating_mul(16)).unwrap_or(usize::MAX).saturating_sub(skipped);
    let (before, after) = data.split_at_mut(first.min(data.len()));
    let cipher = cipher_of::<C>(key);
    let mut stream = stream_from(cipher.clone(), start);
    stream.apply_keystream(&mut [0; 16][..skipped]);
    stream.apply_keystream(before);
    stream_from(cipher, start & !counter_mask).apply_keystream(after);
    0
}

fn stream_from<C: Aes>(cipher: C, counter: u128) -> Ctr128BE<C> {
    Ctr128BE::from_core(CtrCore::inner_iv_init(cipher, &counter.to_be_bytes().into()))
}
