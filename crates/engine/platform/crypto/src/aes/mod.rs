//! AES in the modes GCM, CBC, CTR and KW.
//!
//! AES and GHASH are the bit-sliced, constant-time implementations of `RustCrypto`.

mod cbc;
mod counter;
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
            16 => $function::<::aes::Aes128>($key, $($argument),*),
            24 => $function::<::aes::Aes192>($key, $($argument),*),
            32 => $function::<::aes::Aes256>($key, $($argument),*),
            _ => $crate::arguments::INVALID,
        }
    };
}
use with_aes;

/// Makes the cipher of a key, whose length was checked.
fn cipher_of<C: Aes>(key: &[u8]) -> C {
    C::new_from_slice(key).unwrap_or_else(|_| unreachable!())
}
