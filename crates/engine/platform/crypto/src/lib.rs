//! Cryptography that only the full engine has: RSA, elliptic curves, AES, and key derivation.
//!
//! `crates/engine/src/crypto.c` calls each function with one block of memory and the lengths of the inputs in it (see
//! [`arguments`]). The crate keeps nothing between calls, and random bytes are inputs, too.
#![no_std]

extern crate alloc;

mod aes;
mod arguments;
mod derive;
mod montgomery;
mod rsa;
mod weierstrass;
