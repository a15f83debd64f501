//! Errors of this crate.

use std::io;

use tenon_link::LinkError;

/// The reason why there is no component or no engine.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The bundle's top level failed. The text is the engine's output, with positions in the bundle.
    #[error("{0}")]
    TopLevel(String),
    /// The top level called a host function that exists only during a request.
    #[error("the top level calls {0}, which exists only while a request is answered")]
    HostCall(String),
    /// The top level did not end.
    #[error("the top level ran for {0} seconds and did not end")]
    Endless(u64),
    /// The top level needs more memory than a handler may have.
    #[error("the top level needs more than {0} MiB of memory")]
    Memory(usize),
    /// A WebAssembly module that the bundle imports cannot be linked.
    #[error("{0}")]
    Link(#[from] LinkError),
    /// The engine cannot be prepared from the ingredients, or its code cannot run.
    #[error("the JavaScript engine cannot be prepared: {0}")]
    Engine(String),
    /// The prepared engine cannot be stored.
    #[error("the prepared JavaScript engine cannot be stored: {0}")]
    Keep(#[from] io::Error),
}

impl SnapshotError {
    /// A stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TopLevel(_) => "TOP_LEVEL",
            Self::HostCall(_) => "TOP_LEVEL_CALL",
            Self::Endless(_) => "TOP_LEVEL_ENDLESS",
            Self::Memory(_) => "TOP_LEVEL_MEMORY",
            Self::Link(_) => "BUILD",
            Self::Engine(_) => "ENGINE",
            Self::Keep(_) => "WRITE",
        }
    }

    pub(crate) fn engine(error: impl std::fmt::Display) -> Self {
        Self::Engine(format!("{error:#}"))
    }
}
