//! Elliptic curves, for `crypto.subtle`: ECDSA and ECDH over P-256, P-384 and P-521, Ed25519, and X25519.
//!
//! Arithmetic with private keys is constant-time. Verification is not, because its inputs are public.
//! [`tenon_crypto_abi`] describes how the functions are called.
#![no_std]

extern crate alloc;

mod montgomery;
mod weierstrass;
