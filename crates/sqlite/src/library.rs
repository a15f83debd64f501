//! The compiled library, which all connections of the process share.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tenon_packed::{Packed, packed};
use wasmtime::{Config, Engine, InstancePre, Linker};

use crate::Error;
use crate::host::{self, Host};
use crate::ticker::Ticker;

/// SQLite and `guest/`, built by `guest/build.sh`.
static SQLITE: Packed = packed!("sqlite.wasm");

/// Extension of the stored code.
const CODE: &str = "sqlite";

/// Native stack of a call in bytes. The thread that calls has at least twice as much.
const STACK: usize = 1 << 20;

/// SQLite, ready to open files. Clones share the code.
#[derive(Clone)]
pub struct Library {
    pub(crate) connection: InstancePre<Host>,
    pub(crate) ticker: Ticker,
}

impl fmt::Debug for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Library").finish_non_exhaustive()
    }
}

impl Library {
    /// Loads the library once for the process. Its machine code is stored in the folder `cache`; errors of that folder are
    /// logged and only cost the time to compile, about a second.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] when it does not compile.
    pub fn load(cache: Option<&Path>) -> Result<Self, Error> {
        static LOADED: Mutex<Option<Library>> = Mutex::new(None);
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = &*loaded {
            return Ok(library.clone());
        }
        let library = Self::link(cache).map_err(Error::Start)?;
        Ok(loaded.insert(library).clone())
    }

    fn link(cache: Option<&Path>) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        // Shared memory is mapped at places in the instance's memory, which must stay where it is.
        config.epoch_interruption(true).max_wasm_stack(STACK).memory_may_move(false);
        let engine = Engine::new(&config)?;
        let module = tenon_module_cache::load(&engine, SQLITE.packed(), || SQLITE.bytes(), CODE, cache)?;
        let mut linker = Linker::new(&engine);
        host::link(&mut linker)?;
        Ok(Self { connection: linker.instantiate_pre(&module)?, ticker: Ticker::start(engine)? })
    }
}
