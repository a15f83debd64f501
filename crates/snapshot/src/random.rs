//! Random bytes during a build.

use sha2::{Digest, Sha256};

/// Bytes derived from a seed. The engine seeds its hash tables with them, and the seeds stay in the snapshot. They come
/// from the bundle, so the same bundle gives the same component, and nobody without the bundle can guess them.
pub(crate) struct Random {
    seed: [u8; 32],
    block: u64,
}

impl Random {
    pub(crate) fn from_bundle(bundle: &[u8]) -> Self {
        Self { seed: Sha256::digest(bundle).into(), block: 0 }
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for piece in bytes.chunks_mut(32) {
            let block = Sha256::new().chain_update(self.seed).chain_update(self.block.to_le_bytes()).finalize();
            self.block += 1;
            piece.copy_from_slice(&block[..piece.len()]);
        }
    }
}
