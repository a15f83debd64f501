//! The digest by which a recording names its component.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The SHA-256 of a component.
pub(crate) type ComponentDigest = [u8; 32];

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Reads a component and computes its digest.
pub(crate) fn digest(mut component: impl Read) -> io::Result<ComponentDigest> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        match component.read(&mut piece)? {
            0 => return Ok(digest.finalize().into()),
            read => digest.update(&piece[..read]),
        }
    }
}
