//! The digest of a memory: of its size, and of the blocks that differ from its initial content, with their places. Which blocks were
//! written makes no difference, so equal memories have equal digests, on every system.

use xxhash_rust::xxh3::Xxh3;

/// Bytes of a block. Every page of a system is a multiple.
pub(crate) const BLOCK: usize = 4096;

/// A block of zeros.
pub(crate) static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Computes a digest.
pub(crate) struct MemoryDigest(Xxh3);

impl MemoryDigest {
    /// Begins with the size of the memory, in bytes.
    pub(crate) fn new(size: usize) -> Self {
        let mut digest = Xxh3::new();
        digest.update(&(size as u64).to_le_bytes());
        Self(digest)
    }

    /// Adds a block that differs from the initial content. Blocks come in the order of their places.
    pub(crate) fn add(&mut self, at: usize, block: &[u8]) {
        self.0.update(&(at as u64).to_le_bytes());
        self.0.update(block);
    }

    pub(crate) fn end(&self) -> u128 {
        self.0.digest128()
    }
}
