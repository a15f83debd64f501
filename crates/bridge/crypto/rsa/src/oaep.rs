//! RSAES-OAEP.

use crate::{key, random, with_hash};
use rsa::oaep::Oaep;
use rsa::rand_core::CryptoRng;
use rsa::{PrivateKey, PublicKey};
use sha2::digest::{Digest, FixedOutputReset};
use tenon_crypto_abi::{Arguments, FAILED, INVALID, length};
use zeroize::Zeroizing;

/// Encrypts data.
///
/// Block: public key, label, data, 32 bytes of seed, as many bytes as the modulus has for the output.
#[unsafe(no_mangle)]
unsafe extern "C" fn oaep_encrypt(
    block: *mut u8,
    hash: u32,
    modulus: usize,
    exponent: usize,
    label: usize,
    data: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block) };
    let Some(key) = key::public(&mut parts, modulus, exponent) else { return INVALID };
    let (label, data, seed, out) = (parts.take(label), parts.take(data), parts.take(32), parts.take(modulus));
    with_hash!(hash, encrypt(&key, label, data, &mut random(seed), out))
}

/// Decrypts data, and returns their length.
///
/// Block: private key, label, encrypted data as long as the modulus, 32 bytes of seed. The output takes the place of the data.
#[unsafe(no_mangle)]
unsafe extern "C" fn oaep_decrypt(block: *mut u8, hash: u32, modulus: usize, exponent: usize, label: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block) };
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

fn decrypt<D>(key: &PrivateKey, label: &[u8], data: &mut [u8], random: &mut impl CryptoRng) -> i32
where
    D: Digest + FixedOutputReset,
{
    let Ok(decrypted) = key.decrypt_blinded(random, Oaep::<D>::new_with_label(label), data) else { return FAILED };
    let decrypted = Zeroizing::new(decrypted);
    data[..decrypted.len()].copy_from_slice(&decrypted);
    length(decrypted.len())
}
