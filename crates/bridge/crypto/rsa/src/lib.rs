//! RSA, for `crypto.subtle`: generation of keys, RSASSA-PSS and RSAES-OAEP (RFC 8017).
//!
//! Private keys are used with blinding and constant-time arithmetic. Decryption by PKCS #1 v1.5 is not there, because its
//! padding is an oracle whatever the arithmetic does. [`tenon_crypto_abi`] describes how the functions are called.
//!
//! A hash function is given by its number for [`tenon_crypto_abi::with_hash`]. Numbers are big-endian.
#![no_std]

extern crate alloc;

mod generate;
mod key;
mod oaep;
mod pss;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;

/// Makes a generator of random bytes from a seed of 32 bytes.
fn random(seed: &[u8]) -> ChaCha20Rng {
    ChaCha20Rng::from_seed(seed.try_into().unwrap_or_else(|_| unreachable!()))
}
