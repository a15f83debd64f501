//! AES and the derivation of keys from secrets and passwords, for `crypto.subtle` and `node:crypto`.
//!
//! AES and GHASH are the bit-sliced, constant-time implementations of `RustCrypto`.
//! [`tenon_crypto_abi`] describes how the functions are called.
#![no_std]

extern crate alloc;

mod cbc;
mod counter;
mod derive;
mod gcm;
mod wrap;

use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U16};

/// AES with one length of key.
trait Aes: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + KeyInit + Clone {}
impl<C: BlockCipherEncrypt<BlockSize = U16> + BlockCipherDecrypt + KeyInit + Clone> Aes for C {}

/// Calls a function that is generic over AES with the cipher of a key's length.
macro_rules! with_aes {
    ($key:expr, $function:ident($($argument:expr),*)) => {
        match $key.len() {
            16 => $function::<aes::Aes128>($key, $($argument),*),
            24 => $function::<aes::Aes192>($key, $($argument),*),
            32 => $function::<aes::Aes256>($key, $($argument),*),
            _ => tenon_crypto_abi::INVALID,
        }
    };
}
use with_aes;

/// Makes the cipher of a key, whose length was checked.
fn cipher_of<C: Aes>(key: &[u8]) -> C {
    C::new_from_slice(key).unwrap_or_else(|_| unreachable!())
}
