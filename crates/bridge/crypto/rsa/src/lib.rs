//! RSA, for `crypto.subtle`: generation of keys, RSASSA-PSS and RSAES-OAEP (RFC 8017).
//!
//! Private keys are used with blinding and constant-time arithmetic. Decryption by PKCS #1 v1.5 is not there, because its
//! padding is an oracle whatever the arithmetic does. [`tenon_crypto_abi`] describes how the functions are called.
//!
//! A hash function is given by the number in its name: 1, 256, 384 or 512. Numbers are big-endian.
#![no_std]

extern crate alloc;

mod generate;
mod key;
mod oaep;
mod pss;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;

/// Calls a function that is generic over a hash function with the one of a number.
macro_rules! with_hash {
    ($hash:expr, $function:ident($($argument:expr),*)) => {
        match $hash {
            1 => $function::<sha1::Sha1>($($argument),*),
            256 => $function::<sha2::Sha256>($($argument),*),
            384 => $function::<sha2::Sha384>($($argument),*),
            512 => $function::<sha2::Sha512>($($argument),*),
            _ => tenon_crypto_abi::INVALID,
        }
    };
}
use with_hash;

/// Makes a generator of random bytes from a seed of 32 bytes.
fn random(seed: &[u8]) -> ChaCha20Rng {
    ChaCha20Rng::from_seed(seed.try_into().unwrap_or_else(|_| unreachable!()))
}
