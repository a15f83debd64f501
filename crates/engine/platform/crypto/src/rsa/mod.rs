//! RSA: generation of keys, RSASSA-PKCS1-v1_5, RSASSA-PSS and RSAES-OAEP (RFC 8017).
//!
//! Private keys are used with blinding and constant-time arithmetic. Decryption by PKCS #1 v1.5 is missing, because its
//! padding is an oracle whatever the arithmetic does.
//!
//! A hash function is given by its number for `with_hash`. Numbers are big-endian.

mod generate;
mod key;
mod oaep;
mod pkcs1;
mod pss;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;

/// Makes a generator of random bytes from a seed of 32 bytes.
fn random(seed: &[u8]) -> ChaCha20Rng {
    ChaCha20Rng::from_seed(seed.try_into().unwrap_or_else(|_| unreachable!()))
}
