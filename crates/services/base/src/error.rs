//! Errors of starting services.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason why services cannot be started. No text contains a password or a token.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServicesError {
    /// Another program listens on the address.
    #[error("{0} is in use")]
    AddressInUse(String),
    /// Listening fails for another reason.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address as it was given.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The folder or the file cannot be used.
    #[error("{} cannot be used: {reason}", path.display())]
    Folder {
        /// The folder or the file.
        path: PathBuf,
        /// The error of the system or of SQLite.
        reason: String,
    },
    /// An invalid option.
    #[error("{0}")]
    Config(String),
    /// The database, cache or store is unreachable, or refuses the login.
    #[error("{what}: {reason}")]
    Backend {
        /// The kind of store.
        what: &'static str,
        /// The store's error.
        reason: String,
    },
}

impl ServicesError {
    /// A stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AddressInUse(_) => "ADDRESS_IN_USE",
            Self::Listen { .. } => "LISTEN",
            Self::Folder { .. } => "FOLDER",
            Self::Config(_) => "CONFIG",
            Self::Backend { .. } => "BACKEND",
        }
    }

    /// Converts an error of listening by its kind.
    pub fn listen(address: impl Into<String>, source: io::Error) -> Self {
        let address = address.into();
        if source.kind() == io::ErrorKind::AddrInUse {
            Self::AddressInUse(address)
        } else {
            Self::Listen { address, source }
        }
    }
}
