//! Errors of making a runtime and of listening. Errors of a request are responses (see `problem`).

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

/// Each message names the module or address it is about.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The configuration contradicts itself.
    #[error("{0}")]
    Config(String),
    /// The WebAssembly engine cannot be set up on this machine.
    #[error("the WebAssembly engine cannot be set up: {0:#}")]
    Engine(wasmtime::Error),
    /// A component's file cannot be read.
    #[error("module {name}: cannot read {}: {source}", .path.display())]
    Read {
        /// The module's name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not a component, or cannot be compiled.
    #[error("module {name}: {} is not a component that can be compiled: {reason}", .path.display())]
    Compile {
        /// The module's name.
        name: String,
        /// The file.
        path: PathBuf,
        /// The compiler's error.
        reason: String,
    },
    /// A component takes too long to compile.
    #[error("module {name}: {reason}")]
    Timeout {
        /// The module's name.
        name: String,
        /// The limit.
        reason: String,
    },
    /// A component imports something that this runtime does not offer, or exports nothing that it can call.
    #[error("module {name}: {reason}")]
    Link {
        /// The module's name.
        name: String,
        /// The missing part.
        reason: String,
    },
    /// The loader itself failed: it has a defect, or the system has no thread for it.
    #[error("module {name}: loading failed: {reason}")]
    Internal {
        /// The module's name.
        name: String,
        /// The panic's message, or the system's.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Host and port.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

impl RuntimeError {
    /// A stable name of the kind of failure, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(_) => "CONFIG",
            Self::Engine(_) => "ENGINE",
            Self::Read { .. } => "MODULE_READ",
            Self::Compile { .. } => "MODULE_COMPILE",
            Self::Timeout { .. } => "MODULE_TIMEOUT",
            Self::Link { .. } => "MODULE_LINK",
            Self::Internal { .. } => "INTERNAL",
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => "ADDRESS_IN_USE",
            Self::Listen { .. } => "LISTEN",
        }
    }
}
