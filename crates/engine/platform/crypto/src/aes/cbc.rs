//! AES-CBC (NIST SP 800-38A) with the padding of PKCS #7, or without.

use super::{Aes, cipher_of, with_aes};
use crate::arguments::{Arguments, FAILED, length};
use cipher::block_padding::{NoPadding, Pkcs7};
use cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit};

/// Encrypts the data in place, and returns the new length.
///
/// Block: key, 16 bytes of initialization vector, data, 16 bytes for the padding.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_cbc_encrypt(block: *mut u8, size: usize, key: usize, data: usize, padded: i32) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, start, buffer) = (parts.take(key), parts.take(16), parts.take(data + 16));
    with_aes!(key, encrypt(start, buffer, data, padded != 0))
}

/// Decrypts the data in place, and returns the length without the padding.
///
/// Block: key, 16 bytes of initialization vector, data.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_cbc_decrypt(block: *mut u8, size: usize, key: usize, data: usize, padded: i32) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (key, start, data) = (parts.take(key), parts.take(16), parts.take(data));
    with_aes!(key, decrypt(start, data, padded != 0))
}

/// A slice of 16 bytes as the array that ciphers take.
fn vector(start: &[u8]) -> Array<u8, cipher::consts::U16> {
    Array::try_from(start).unwrap_or_else(|_| unreachable!())
}

fn encrypt<C: Aes>(key: &[u8], start: &[u8], buffer: &mut [u8], data: usize, padded: bool) -> i32 {
    let mode = cbc::Encryptor::inner_iv_init(cipher_of::<C>(key), &vector(start));
    let result = if padded {
        mode.encrypt_padded::<Pkcs7>(buffer, data)
    } else {
        mode.encrypt_padded::<NoPadding>(buffer, data)
    };
    result.map_or(FAILED, |encrypted| length(encrypted.len()))
}

fn decrypt<C: Aes>(key: &[u8], start: &[u8], data: &mut [u8], padded: bool) -> i32 {
    let mode = cbc::Decryptor::inner_iv_init(cipher_of::<C>(key), &vector(start));
    let result = if padded { mode.decrypt_padded::<Pkcs7>(data) } else { mode.decrypt_padded::<NoPadding>(data) };
    result.map_or(FAILED, |decrypted| length(decrypted.len()))
}
