//! Failures of the server program.

use std::io;
use std::path::PathBuf;

use tenon_jobs::{AskError, MigrateError, TokenError, WorkError};
use tenon_log::LogError;
use tenon_runtime::RuntimeError;
use tenon_services::ServicesError;
use thiserror::Error;

/// The reason why the server does not start. No message has the value of a secret or a URL with a password.
#[derive(Debug, Error)]
pub(crate) enum ServerError {
    /// The configuration is not JSON of the expected shape.
    #[error("{}: {reason}; `tenon build --server` writes this file", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A secret or the URL of a store is not there, one line each.
    #[error("{0}")]
    Values(String),
    /// An option that makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A sidecar in this process.
    #[error("{name}: {source}")]
    Sidecar {
        /// Its place in the configuration.
        name: String,
        /// The reason.
        source: ServicesError,
    },
    /// A sidecar of its own process.
    #[error(transparent)]
    Services(#[from] ServicesError),
    /// A sidecar that is asked for work.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A token that no request can have.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Queues or jobs that cannot be done.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// Migrations that were not applied.
    #[error("{error}{hint}", error = .0, hint = .0.hint().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Migrate(#[from] MigrateError),
    /// The runtime or one of its modules.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refuses threads.
    #[error("the server cannot start its threads: {0}")]
    Threads(io::Error),
    /// The system does not name this program.
    #[error("the path of this program is not known: {0}")]
    Program(io::Error),
    /// The system refuses to announce signals.
    #[error("signals cannot be received: {0}")]
    Signals(io::Error),
    /// A file or folder that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}
