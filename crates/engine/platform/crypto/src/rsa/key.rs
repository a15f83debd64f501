//! Keys as arguments.

use crate::arguments::{Arguments, INVALID};
use alloc::vec;
use rsa::{BoxedUint, PrivateKey, PublicKey};

/// Reads a public key: modulus and exponent.
pub fn public(parts: &mut Arguments<'_>, modulus: usize, exponent: usize) -> Option<PublicKey> {
    let (n, e) = (integer(parts, modulus), integer(parts, exponent));
    PublicKey::new(n, e).ok()
}

/// Reads a private key: modulus, public exponent, private exponent (as long as the modulus), and two primes (half as long).
pub fn private(parts: &mut Arguments<'_>, modulus: usize, exponent: usize) -> Option<PrivateKey> {
    let (n, e, d) = (integer(parts, modulus), integer(parts, exponent), integer(parts, modulus));
    let half = modulus.div_ceil(2);
    let primes = vec![integer(parts, half), integer(parts, half)];
    PrivateKey::from_components(n, e, d, primes).ok()
}

/// The precision follows from the length, which is public.
fn integer(parts: &mut Arguments<'_>, length: usize) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(parts.take(length))
}

/// Returns 0 for a public key that can be used.
///
/// Block: the public key.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_rsa_check_public(block: *mut u8, size: usize, modulus: usize, exponent: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    public(&mut parts, modulus, exponent).map_or(INVALID, |_| 0)
}

/// Returns 0 for a private key whose numbers fit together.
///
/// Block: the private key.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_rsa_check_private(block: *mut u8, size: usize, modulus: usize, exponent: usize) -> i32 {
    // SAFETY: the block has these parts.
    let mut parts = unsafe { Arguments::of(block, size) };
    private(&mut parts, modulus, exponent).map_or(INVALID, |_| 0)
}
