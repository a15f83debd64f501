//! Ed25519 (RFC 8032) and X25519 (RFC 7748).

use crate::arguments::{Arguments, FAILED};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use x25519_dalek::{PublicKey, StaticSecret};

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or_else(|_| unreachable!())
}

/// Block: 32 bytes of seed, 32 bytes for the public key.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ed25519_public(block: *mut u8, size: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (seed, out) = (parts.take(32), parts.take(32));
    out.copy_from_slice(SigningKey::from_bytes(&array(seed)).verifying_key().as_bytes());
    0
}

/// Block: 32 bytes of seed, message, 64 bytes for the signature.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ed25519_sign(block: *mut u8, size: usize, message: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (seed, message, out) = (parts.take(32), parts.take(message), parts.take(64));
    out.copy_from_slice(&SigningKey::from_bytes(&array(seed)).sign(message).to_bytes());
    0
}

/// Returns 1 for a valid signature. Keys and points of small order are refused, as the Web Cryptography API demands.
///
/// Block: 32 bytes of public key, message, 64 bytes of signature.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ed25519_verify(block: *mut u8, size: usize, message: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, message, signature) = (parts.take(32), parts.take(message), parts.take(64));
    let Ok(key) = VerifyingKey::from_bytes(&array(key)) else { return 0 };
    i32::from(key.verify_strict(message, &Signature::from_bytes(&array(signature))).is_ok())
}

/// Block: 32 bytes of private key, 32 bytes for the public key.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_x25519_public(block: *mut u8, size: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, out) = (parts.take(32), parts.take(32));
    out.copy_from_slice(PublicKey::from(&StaticSecret::from(array(key))).as_bytes());
    0
}

/// Agrees on a secret, unless the other key is of small order.
///
/// Block: 32 bytes of private key, 32 bytes of the other public key, 32 bytes for the secret.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_x25519_agree(block: *mut u8, size: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, other, out) = (parts.take(32), parts.take(32), parts.take(32));
    let secret = StaticSecret::from(array(key)).diffie_hellman(&PublicKey::from(array::<32>(other)));
    out.copy_from_slice(secret.as_bytes());
    if secret.was_contributory() { 0 } else { FAILED }
}
