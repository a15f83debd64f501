//! New keys.

use super::random;
use crate::arguments::{Arguments, FAILED, INVALID};
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{BoxedUint, PrivateKey};
use zeroize::Zeroizing;

/// Generates a key, whose modulus has a multiple of 16 bits. The exponent is odd and at least 3, because no primes fit
/// another one and the search would not end.
///
/// Block: 32 bytes of seed, public exponent; then the output: modulus, private exponent, and with half as many bytes the
/// primes p and q, d mod (p - 1), d mod (q - 1), and the inverse of q modulo p.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_rsa_generate(block: *mut u8, size: usize, modulus: usize, exponent: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    let (seed, exponent) = (parts.take(32), parts.take(exponent));
    let is_odd = exponent.last().is_some_and(|last| last % 2 == 1);
    let exponent = BoxedUint::from_be_slice_vartime(exponent);
    if !is_odd || exponent < BoxedUint::from(3u8) {
        return INVALID;
    }
    let Ok(key) = PrivateKey::new_with_exp(&mut random(seed), modulus * 8, exponent) else { return FAILED };
    let (Some(dp), Some(dq), Some(inverse)) = (key.dp(), key.dq(), key.crt_coefficient()) else { return FAILED };
    let [p, q] = key.primes() else { return FAILED };
    let half = modulus / 2;
    write(key.n().as_ref(), parts.take(modulus));
    write(key.d(), parts.take(modulus));
    for number in [p.as_ref(), q.as_ref(), dp, dq, &inverse] {
        write(number, parts.take(half));
    }
    0
}

/// Writes a number with leading zeros.
pub fn write(number: &BoxedUint, out: &mut [u8]) {
    let bytes = Zeroizing::new(number.to_be_bytes());
    let used = bytes.len().min(out.len());
    let start = out.len() - used;
    out[start..].copy_from_slice(&bytes[bytes.len() - used..]);
}
