//! RSASSA-PKCS1-v1_5.
//!
//! The encoded message is built here, and compared as a whole, so that no padding is ever parsed.

use super::generate::write;
use super::{key, random};
use crate::arguments::{Arguments, FAILED, INVALID};
use alloc::vec;
use alloc::vec::Vec;
use rsa::BoxedUint;
use rsa::hazmat::{rsa_decrypt_and_check, rsa_encrypt};
use rsa::traits::PublicKeyParts;

/// Signs a digest.
///
/// Block: private key, digest, 32 bytes of seed, as many bytes as the modulus has for the signature.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_pkcs1_sign(
    block: *mut u8,
    size: usize,
    hash: u32,
    modulus: usize,
    exponent: usize,
    digest: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let Some(key) = key::private(&mut parts, modulus, exponent) else { return INVALID };
    let (digest, seed, out) = (parts.take(digest), parts.take(32), parts.take(modulus));
    let Some(encoded) = encoded(hash, digest, modulus) else { return FAILED };
    let Ok(number) = BoxedUint::from_be_slice(&encoded, key.n_bits_precision()) else { return FAILED };
    let Ok(signature) = rsa_decrypt_and_check(&key, Some(&mut random(seed)), &number) else { return FAILED };
    write(&signature, out);
    0
}

/// Returns 1 for a valid signature.
///
/// Block: public key, digest, signature as long as the modulus.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_pkcs1_verify(
    block: *mut u8,
    size: usize,
    hash: u32,
    modulus: usize,
    exponent: usize,
    digest: usize,
) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let Some(key) = key::public(&mut parts, modulus, exponent) else { return INVALID };
    let (digest, signature) = (parts.take(digest), parts.take(modulus));
    let Some(expected) = encoded(hash, digest, modulus) else { return 0 };
    let Ok(number) = BoxedUint::from_be_slice(signature, key.n_bits_precision()) else { return 0 };
    if number >= *key.n().as_ref() {
        return 0;
    }
    let Ok(opened) = rsa_encrypt(&key, &number) else { return 0 };
    let mut found = vec![0; modulus];
    write(&opened, &mut found);
    i32::from(found == expected)
}

/// Encodes a digest (EMSA-PKCS1-v1_5). Returns `None` when it does not fit the modulus.
fn encoded(hash: u32, digest: &[u8], modulus: usize) -> Option<Vec<u8>> {
    let prefix = prefix(hash)?;
    let padding = modulus.checked_sub(prefix.len() + digest.len() + 3)?;
    if padding < 8 {
        return None;
    }
    let mut message = vec![0xff; modulus];
    message[..2].copy_from_slice(&[0, 1]);
    message[2 + padding] = 0;
    message[3 + padding..][..prefix.len()].copy_from_slice(prefix);
    message[3 + padding + prefix.len()..].copy_from_slice(digest);
    Some(message)
}

/// Returns the DER encoding of `DigestInfo` that precedes a digest (RFC 8017, section 9.2, note 1).
fn prefix(hash: u32) -> Option<&'static [u8]> {
    Some(match hash {
        1 => &[0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14],
        256 => &[0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20],
        384 => &[0x30, 0x41, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2, 5, 0, 4, 0x30],
        512 => &[0x30, 0x51, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3, 5, 0, 4, 0x40],
        _ => return None,
    })
}
