//! RSASSA-PSS.

use super::{key, random};
use crate::arguments::{Arguments, FAILED, INVALID, with_hash};
use rsa::pss::Pss;
use rsa::rand_core::CryptoRng;
use rsa::{PrivateKey, PublicKey};
use sha2::digest::{Digest, FixedOutputReset};

/// Signs a digest.
///
/// Block: private key, digest, 32 bytes of seed, as many bytes as the modulus has for the signature.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_pss_sign(
    block: *mut u8,
    size: usize,
    hash: u32,
    modulus: usize,
    exponent: usize,
    digest: usize,
    salt: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let Some(key) = key::private(&mut parts, modulus, exponent) else { return INVALID };
    let (digest, seed, out) = (parts.take(digest), parts.take(32), parts.take(modulus));
    with_hash!(hash, sign(&key, digest, salt, &mut random(seed), out))
}

/// Returns 1 for a valid signature.
///
/// Block: public key, digest, signature as long as the modulus.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_pss_verify(
    block: *mut u8,
    size: usize,
    hash: u32,
    modulus: usize,
    exponent: usize,
    digest: usize,
    salt: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let Some(key) = key::public(&mut parts, modulus, exponent) else { return INVALID };
    let (digest, signature) = (parts.take(digest), parts.take(modulus));
    with_hash!(hash, verify(&key, digest, salt, signature))
}

fn sign<D>(key: &PrivateKey, digest: &[u8], salt: usize, random: &mut impl CryptoRng, out: &mut [u8]) -> i32
where
    D: Digest + FixedOutputReset,
{
    let Ok(signature) = key.sign_with_rng(random, Pss::<D>::new_blinded_with_salt(salt), digest) else { return FAILED };
    out.copy_from_slice(&signature);
    0
}

fn verify<D>(key: &PublicKey, digest: &[u8], salt: usize, signature: &[u8]) -> i32
where
    D: Digest + FixedOutputReset,
{
    i32::from(key.verify(Pss::<D>::new_with_salt(salt), digest, signature).is_ok())
}
