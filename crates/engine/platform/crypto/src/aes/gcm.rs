//! AES-GCM (NIST SP 800-38D), with nonces of any length and tags of 4 to 16 bytes.
//!
//! The crate `aes-gcm` fixes both lengths at compile time, so the mode is composed here from the same crates `aes`, `ctr` and
//! `ghash`. The counter and the tag are available apart, because `node:crypto` encrypts piece by piece.

use super::{Aes, cipher_of, with_aes};
use crate::arguments::{Arguments, FAILED, INVALID};
use cipher::{Array, InnerIvInit, StreamCipher};
use ctr::{Ctr32BE, CtrCore};
use ghash::{GHash, universal_hash::UniversalHash};
use subtle::ConstantTimeEq;

type Block = Array<u8, cipher::consts::U16>;

/// Encrypts the data in place, and writes the tag after them.
///
/// Block: key, nonce, additional data, data, tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_gcm_encrypt(
    block: *mut u8,
    size: usize,
    key: usize,
    nonce: usize,
    extra: usize,
    data: usize,
    tag: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, nonce, extra) = (parts.take(key), parts.take(nonce), parts.take(extra));
    let (data, tag) = (parts.take(data), parts.take(tag));
    with_aes!(key, encrypt(nonce, extra, data, tag))
}

/// Decrypts the data in place, if the tag is right.
///
/// Block: key, nonce, additional data, data, tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_gcm_decrypt(
    block: *mut u8,
    size: usize,
    key: usize,
    nonce: usize,
    extra: usize,
    data: usize,
    tag: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, nonce, extra) = (parts.take(key), parts.take(nonce), parts.take(extra));
    let (data, tag) = (parts.take(data), parts.take(tag));
    with_aes!(key, decrypt(nonce, extra, data, tag))
}

/// Writes the counter block that the nonce gives, whose successor encrypts the first block of data.
///
/// Block: key, nonce, 16 bytes for the counter block.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_gcm_counter(block: *mut u8, size: usize, key: usize, nonce: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, nonce, out) = (parts.take(key), parts.take(nonce), parts.take(16));
    with_aes!(key, write_counter(nonce, out))
}

/// Writes the tag of data that are encrypted already.
///
/// Block: key, nonce, additional data, encrypted data, tag.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_gcm_tag(
    block: *mut u8,
    size: usize,
    key: usize,
    nonce: usize,
    extra: usize,
    data: usize,
    tag: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, nonce, extra) = (parts.take(key), parts.take(nonce), parts.take(extra));
    let (data, tag) = (parts.take(data), parts.take(tag));
    with_aes!(key, write_tag(nonce, extra, data, tag))
}

fn encrypt<C: Aes>(key: &[u8], nonce: &[u8], extra: &[u8], data: &mut [u8], tag: &mut [u8]) -> i32 {
    let Some(mode) = Gcm::<C>::new(key, nonce, tag.len()) else { return INVALID };
    let (mask, mut stream) = mode.streams();
    stream.apply_keystream(data);
    tag.copy_from_slice(&mode.tag(extra, data, &mask)[..tag.len()]);
    0
}

fn decrypt<C: Aes>(key: &[u8], nonce: &[u8], extra: &[u8], data: &mut [u8], tag: &mut [u8]) -> i32 {
    let Some(mode) = Gcm::<C>::new(key, nonce, tag.len()) else { return INVALID };
    let (mask, mut stream) = mode.streams();
    let expected = mode.tag(extra, data, &mask);
    if !bool::from(expected[..tag.len()].ct_eq(tag)) {
        return FAILED;
    }
    stream.apply_keystream(data);
    0
}

fn write_counter<C: Aes>(key: &[u8], nonce: &[u8], out: &mut [u8]) -> i32 {
    let Some(mode) = Gcm::<C>::new(key, nonce, 16) else { return INVALID };
    out.copy_from_slice(&mode.first);
    0
}

fn write_tag<C: Aes>(key: &[u8], nonce: &[u8], extra: &[u8], data: &[u8], tag: &mut [u8]) -> i32 {
    let Some(mode) = Gcm::<C>::new(key, nonce, tag.len()) else { return INVALID };
    let (mask, _) = mode.streams();
    tag.copy_from_slice(&mode.tag(extra, data, &mask)[..tag.len()]);
    0
}

/// The mode for one key and nonce.
struct Gcm<C> {
    cipher: C,
    hash: GHash,
    /// The counter block of the nonce (`J0` in the standard).
    first: Block,
}

impl<C: Aes> Gcm<C> {
    fn new(key: &[u8], nonce: &[u8], tag: usize) -> Option<Self> {
        if nonce.is_empty() || !(4..=16).contains(&tag) {
            return None;
        }
        let cipher = cipher_of::<C>(key);
        let mut hash_key = Block::default();
        cipher.encrypt_block(&mut hash_key);
        let hash = GHash::new(&hash_key);
        let first = if nonce.len() == 12 {
            let mut first = Block::default();
            first[..12].copy_from_slice(nonce);
            first[15] = 1;
            first
        } else {
            let mut hash = hash.clone();
            hash.update_padded(nonce);
            hash.update(&[lengths(0, nonce.len())]);
            hash.finalize()
        };
        Some(Gcm { cipher, hash, first })
    }

    /// The bytes that mask the tag, and the stream that encrypts the data.
    fn streams(&self) -> (Block, Ctr32BE<C>) {
        let core = CtrCore::inner_iv_init(self.cipher.clone(), &self.first);
        let mut stream = Ctr32BE::from_core(core);
        let mut mask = Block::default();
        stream.apply_keystream(&mut mask);
        (mask, stream)
    }

    fn tag(&self, extra: &[u8], data: &[u8], mask: &Block) -> Block {
        let mut hash = self.hash.clone();
        hash.update_padded(extra);
        hash.update_padded(data);
        hash.update(&[lengths(extra.len(), data.len())]);
        let mut tag = hash.finalize();
        for (byte, mask) in tag.iter_mut().zip(mask) {
            *byte ^= mask;
        }
        tag
    }
}

/// Two lengths in bits, which end what is hashed.
fn lengths(extra: usize, data: usize) -> Block {
    let mut block = Block::default();
    block[..8].copy_from_slice(&(extra as u64 * 8).to_be_bytes());
    block[8..].copy_from_slice(&(data as u64 * 8).to_be_bytes());
    block
}
