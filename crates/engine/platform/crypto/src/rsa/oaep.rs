//! RSAES-OAEP.
//!
//! The padding is removed here, because `rsa` 0.10.0 accepts one whose first byte is not 0 (RFC 8017, section 7.1.2, step 3g).

use super::generate::write;
use super::{key, random};
use crate::arguments::{Arguments, FAILED, INVALID, length, with_hash};
use alloc::vec;
use rsa::hazmat::rsa_decrypt_and_check;
use rsa::oaep::Oaep;
use rsa::rand_core::CryptoRng;
use rsa::traits::PublicKeyParts;
use rsa::{BoxedUint, PrivateKey, PublicKey};
use sha2::digest::{Digest, FixedOutputReset};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

/// Encrypts data.
///
/// Block: public key, label, data, 32 bytes of seed, as many bytes as the modulus has for the output.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_oaep_encrypt(
    block: *mut u8,
    size: usize,
    hash: u32,
    modulus: usize,
    exponent: usize,
    label: usize,
    data: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let Some(key) = key::public(&mut parts, modulus, exponent) else { return INVALID };
    let (label, data, seed, out) = (parts.take(label), parts.take(data), parts.take(32), parts.take(modulus));
    with_hash!(hash, encrypt(&key, label, data, &mut random(seed), out))
}

/// Decrypts data, and returns their length.
///
/// Block: private key, label, encrypted data as long as the modulus, 32 bytes of seed. The output takes the place of the data.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_oaep_decrypt(
    block: *mut u8,
    size: usize,
    hash: u32,
    modulus: usize,
    exponent: usize,
    label: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let Some(key) = key::private(&mut parts, modulus, exponent) else { return INVALID };
    let (label, data, seed) = (parts.take(label), parts.take(modulus), parts.take(32));
    with_hash!(hash, decrypt(&key, label, data, &mut random(seed)))
}

fn encrypt<D>(key: &PublicKey, label: &[u8], data: &[u8], random: &mut impl CryptoRng, out: &mut [u8]) -> i32
where
    D: Digest + FixedOutputReset,
{
    let Ok(encrypted) = key.encrypt(random, Oaep::<D>::new_with_label(label), data) else { return FAILED };
    out.copy_from_slice(&encrypted);
    0
}

fn decrypt<D: Digest>(key: &PrivateKey, label: &[u8], data: &mut [u8], random: &mut impl CryptoRng) -> i32 {
    let Ok(sealed) = BoxedUint::from_be_slice(data, key.n_bits_precision()) else { return FAILED };
    let Ok(number) = rsa_decrypt_and_check(key, Some(random), &sealed) else { return FAILED };
    let mut padded = Zeroizing::new(vec![0; data.len()]);
    write(&number, &mut padded);
    let Some(message) = unpad::<D>(label, &mut padded) else { return FAILED };
    data[..message.len()].copy_from_slice(message);
    length(message.len())
}

/// Removes the padding. The time depends on the result alone, whatever is wrong with the padding (Manger's attack).
fn unpad<'a, D: Digest>(label: &[u8], padded: &'a mut [u8]) -> Option<&'a [u8]> {
    let size = <D as Digest>::output_size();
    if padded.len() < 2 * size + 2 {
        return None;
    }
    let (first, rest) = padded.split_at_mut(1);
    let (seed, block) = rest.split_at_mut(size);
    mask::<D>(block, seed);
    mask::<D>(seed, block);
    let (hash, message) = block.split_at(size);
    let mut valid = first[0].ct_eq(&0) & hash.ct_eq(&D::digest(label));
    // Zeros, a 1, and the message.
    let mut searching = Choice::from(1);
    let mut start = 0_u32;
    for (at, byte) in (1_u32..).zip(message) {
        let is_end = searching & byte.ct_eq(&1);
        start.conditional_assign(&at, is_end);
        searching &= !is_end;
        valid &= !searching | byte.ct_eq(&0);
    }
    bool::from(valid & !searching).then(|| &message[start as usize..])
}

/// Masks bytes by MGF1 of a seed.
fn mask<D: Digest>(seed: &[u8], bytes: &mut [u8]) {
    for (counter, piece) in (0_u32..).zip(bytes.chunks_mut(<D as Digest>::output_size())) {
        let mask = D::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
        for (byte, mask) in piece.iter_mut().zip(&mask) {
            *byte ^= mask;
        }
    }
}
