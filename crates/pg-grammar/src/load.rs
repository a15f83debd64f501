//! The parser's module: checked, compiled once, and stored on disk.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;
use wasmtime::{Config, Engine, InstancePre, Linker};

use crate::imports::{self, Host};

/// SHA-256 of `libpg-query.wasm` 18.1.5. The build assigns one-letter names to its imports, so another build would need
/// other imports: see `imports`.
pub const DIGEST: &str = "378b64e6182f65c71ad5dbd2c31c81e9dfed7d2f2debfb4b51c0d0de8fa2ae36";

/// The module's memory section. Its memory begins with 2,048 pages, most of which nothing needs.
const MEMORY: [u8; 9] = [5, 7, 1, 1, 0x80, 0x10, 0x80, 0x80, 1];

/// The same section with [`FIXED_PAGES`], so that all of the heap is allocated by `memory.grow`, which is limited.
const SMALLER_MEMORY: [u8; 9] = [5, 7, 1, 1, 0x8f, 0x04, 0x80, 0x80, 1];

/// Pages of the parser's constants and stack. The heap begins in the last of them.
pub(crate) const FIXED_PAGES: usize = 527;

/// Extension of the stored code.
const CODE: &str = "grammar";

/// Native stack of the parser in bytes. The thread that parses has at least twice as much.
const STACK: usize = 1 << 20;

/// The reason why the parser cannot be loaded.
#[derive(Debug, Error)]
pub enum GrammarError {
    /// The file cannot be read.
    #[error("{} cannot be read: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: io::Error,
    },
    /// The file is another build of the parser.
    #[error("{} is not libpg-query 18.1.5: install Tenon's packages again", .0.display())]
    OtherBuild(PathBuf),
    /// The module does not compile or link.
    #[error("the SQL parser does not load: {0:#}")]
    Module(wasmtime::Error),
}

/// PostgreSQL's grammar, ready to parse. Clones share the code.
#[derive(Clone)]
pub struct Grammar {
    pub(crate) parser: InstancePre<Host>,
}

impl fmt::Debug for Grammar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Grammar").finish_non_exhaustive()
    }
}

impl Grammar {
    /// Loads the parser from `libpg-query.wasm`. Its machine code is stored in `cache`; errors of that folder are
    /// logged and only cost the time to compile.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is another build of the parser.
    pub fn load(file: &Path, cache: Option<&Path>) -> Result<Self, GrammarError> {
        let bytes = std::fs::read(file).map_err(|reason| GrammarError::File { path: file.to_path_buf(), reason })?;
        if hex::encode(Sha256::digest(&bytes)) != DIGEST {
            return Err(GrammarError::OtherBuild(file.to_path_buf()));
        }
        let bytes = with_smaller_memory(bytes).ok_or_else(|| GrammarError::OtherBuild(file.to_path_buf()))?;
        Self::link(&bytes, cache).map_err(GrammarError::Module)
    }

    fn link(bytes: &[u8], cache: Option<&Path>) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.epoch_interruption(true).max_wasm_stack(STACK);
        let engine = Engine::new(&config)?;
        let module = tenon_module_cache::load(&engine, bytes, || bytes, CODE, cache)?;
        let mut linker = Linker::new(&engine);
        imports::link(&mut linker, &module)?;
        Ok(Self { parser: linker.instantiate_pre(&module)? })
    }
}

/// Replaces the module's one memory section.
fn with_smaller_memory(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let mut places = bytes.windows(MEMORY.len()).enumerate().filter(|(_, found)| *found == MEMORY);
    let (Some((place, _)), None) = (places.next(), places.next()) else { return None };
    bytes[place..place + MEMORY.len()].copy_from_slice(&SMALLER_MEMORY);
    Some(bytes)
}
