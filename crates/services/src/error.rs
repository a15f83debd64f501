//! Why services cannot be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why services cannot be started. None of its texts has a password or a token in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServicesError {
    /// Another program listens there.
    #[error("{0} is in use")]
    AddressInUse(String),
    /// The address cannot be listened on for another reason.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address as it was given.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The folder or the file cannot be used.
    #[error("{} cannot be used: {reason}", path.display())]
    Folder {
        /// The folder or the file.
        path: PathBuf,
        /// What the system or SQLite said.
        reason: String,
    },
    /// An option that makes no sense.
    #[error("{0}")]
    Config(String),
    /// The database, cache or store cannot be reached, or does not let us in.
    #[error("{what}: {reason}")]
    Backend {
        /// What was being connected to, by kind.
        what: &'static str,
        /// What it said.
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

    /// A failed listen, told apart by its cause.
    pub(crate) fn listen(address: impl Into<String>, source: io::Error) -> Self {
        let address = address.into();
        if source.kind() == io::ErrorKind::AddrInUse {
            Self::AddressInUse(address)
        } else {
            Self::Listen { address, source }
        }
    }
}
