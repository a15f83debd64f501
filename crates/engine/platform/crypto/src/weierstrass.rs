//! ECDSA and ECDH over P-256, P-384 and P-521 (SEC 1). A curve is given by the number in its name.
//!
//! A scalar has as many bytes as the curve's field, and a point is uncompressed.

use crate::arguments::{Arguments, INVALID};
use ecdsa::hazmat::{sign_prehashed_rfc6979, verify_prehashed};
use ecdsa::{EcdsaCurve, Signature, SignatureSize};
use p256::elliptic_curve::array::{ArraySize, typenum::Unsigned};
use p256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use p256::elliptic_curve::{CurveArithmetic, FieldBytes, FieldBytesSize, PublicKey, SecretKey};
use sha2::digest::{Digest, block_api::BlockSizeUser};

/// Calls a function that is generic over a curve with the one of a number, and with a hash function of its strength.
macro_rules! with_curve {
    ($curve:expr, $function:ident($($argument:expr),*)) => {
        match $curve {
            256 => $function::<p256::NistP256, sha2::Sha256>($($argument),*),
            384 => $function::<p384::NistP384, sha2::Sha384>($($argument),*),
            521 => $function::<p521::NistP521, sha2::Sha512>($($argument),*),
            _ => INVALID,
        }
    };
}

/// Writes the public key of a private one.
///
/// Block: private key, point.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ec_public(block: *mut u8, size: usize, curve: u32) -> i32 {
    // SAFETY: the block has the parts of this curve.
    let parts = unsafe { Arguments::of(block, size) };
    with_curve!(curve, public(parts))
}

/// Returns 0 when a point is on the curve and is no zero.
///
/// Block: point.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ec_check(block: *mut u8, size: usize, curve: u32) -> i32 {
    // SAFETY: the block has the parts of this curve.
    let parts = unsafe { Arguments::of(block, size) };
    with_curve!(curve, check(parts))
}

/// Writes a point without compression, which is given compressed.
///
/// Block: compressed point, point.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ec_expand(block: *mut u8, size: usize, curve: u32) -> i32 {
    // SAFETY: the block has the parts of this curve.
    let parts = unsafe { Arguments::of(block, size) };
    with_curve!(curve, expand(parts))
}

/// Agrees on a secret.
///
/// Block: private key, the other point, as many bytes as a private key for the secret.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ec_agree(block: *mut u8, size: usize, curve: u32) -> i32 {
    // SAFETY: the block has the parts of this curve.
    let parts = unsafe { Arguments::of(block, size) };
    with_curve!(curve, agree(parts))
}

/// Signs a digest. The nonce follows RFC 6979, with 32 random bytes added.
///
/// Block: private key, digest, 32 random bytes, twice the bytes of a private key for the signature.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ec_sign(block: *mut u8, size: usize, curve: u32, digest: usize) -> i32 {
    // SAFETY: the block has the parts of this curve.
    let parts = unsafe { Arguments::of(block, size) };
    with_curve!(curve, sign(parts, digest))
}

/// Returns 1 for a valid signature.
///
/// Block: point, digest, signature.
#[unsafe(no_mangle)]
unsafe extern "C" fn tenon_ec_verify(block: *mut u8, size: usize, curve: u32, digest: usize) -> i32 {
    // SAFETY: the block has the parts of this curve.
    let parts = unsafe { Arguments::of(block, size) };
    with_curve!(curve, verify(parts, digest))
}

/// A curve that the functions below take.
trait Curve:
    CurveArithmetic<AffinePoint: FromSec1Point<Self> + ToSec1Point<Self>, FieldBytesSize: ModulusSize> + EcdsaCurve
{
}
impl<C> Curve for C where
    C: CurveArithmetic<AffinePoint: FromSec1Point<C> + ToSec1Point<C>, FieldBytesSize: ModulusSize> + EcdsaCurve
{
}

fn width<C: Curve>() -> usize {
    FieldBytesSize::<C>::USIZE
}

fn private_key<C: Curve>(parts: &mut Arguments<'_>) -> Option<SecretKey<C>> {
    SecretKey::from_bytes(&FieldBytes::<C>::try_from(&*parts.take(width::<C>())).ok()?).ok()
}

fn point<C: Curve>(parts: &mut Arguments<'_>) -> Option<PublicKey<C>> {
    PublicKey::from_sec1_bytes(parts.take(1 + 2 * width::<C>())).ok()
}

fn public<C: Curve, D>(mut parts: Arguments<'_>) -> i32 {
    let Some(key) = private_key::<C>(&mut parts) else { return INVALID };
    let point = key.public_key().to_sec1_point(false);
    parts.take(1 + 2 * width::<C>()).copy_from_slice(point.as_bytes());
    0
}

fn check<C: Curve, D>(mut parts: Arguments<'_>) -> i32 {
    point::<C>(&mut parts).map_or(INVALID, |_| 0)
}

fn expand<C: Curve, D>(mut parts: Arguments<'_>) -> i32 {
    let Ok(key) = PublicKey::<C>::from_sec1_bytes(parts.take(1 + width::<C>())) else { return INVALID };
    parts.take(1 + 2 * width::<C>()).copy_from_slice(key.to_sec1_point(false).as_bytes());
    0
}

fn agree<C: Curve, D>(mut parts: Arguments<'_>) -> i32 {
    let (key, other) = (private_key::<C>(&mut parts), point::<C>(&mut parts));
    let (Some(key), Some(other)) = (key, other) else { return INVALID };
    parts.take(width::<C>()).copy_from_slice(key.diffie_hellman(&other).raw_secret_bytes());
    0
}

fn sign<C, D>(mut parts: Arguments<'_>, digest: usize) -> i32
where
    C: Curve,
    D: Digest + BlockSizeUser,
    SignatureSize<C>: ArraySize,
{
    let Some(key) = private_key::<C>(&mut parts) else { return INVALID };
    let (digest, random) = (parts.take(digest), parts.take(32));
    let (signature, _) = sign_prehashed_rfc6979::<C, D>(&key.to_nonzero_scalar(), digest, random);
    parts.take(2 * width::<C>()).copy_from_slice(&signature.to_bytes());
    0
}

fn verify<C, D>(mut parts: Arguments<'_>, digest: usize) -> i32
where
    C: Curve,
    SignatureSize<C>: ArraySize,
{
    let Some(key) = point::<C>(&mut parts) else { return INVALID };
    let (digest, signature) = (parts.take(digest), parts.take(2 * width::<C>()));
    let Ok(signature) = Signature::<C>::from_slice(signature) else { return 0 };
    i32::from(verify_prehashed::<C>(&key.to_projective(), digest, &signature).is_ok())
}
