//! Errors of composition.

use thiserror::Error;

/// The reason why two components cannot be composed. Each message names the component, the problem, and what it offers.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// The bytes are not a binary component.
    #[error("the {role} is not a WebAssembly component: {reason}")]
    NotAComponent {
        /// `handler` or `bridge`.
        role: &'static str,
        /// The validator's reason.
        reason: String,
    },

    /// The handler exports `wasi:http/incoming-handler` already, so it needs no bridge.
    #[error("the component is composed already: it exports {export}; serve it as it is")]
    AlreadyComposed {
        /// The `wasi:http` export, with its version.
        export: String,
    },

    /// The handler does not export the interface that the bridge calls.
    #[error("the handler does not export {wanted}; it exports {}", list(.exports))]
    MissingInterface {
        /// The interface, with its version.
        wanted: String,
        /// All exports of the handler.
        exports: Vec<String>,
    },

    /// The handler exports the interface with other types.
    #[error("the handler's {interface} differs from the one that the bridge calls: {reason}")]
    DifferentInterface {
        /// The handler's export.
        interface: String,
        /// The first difference.
        reason: String,
    },

    /// The bridge imports no handler.
    #[error("the bridge does not import sdk:core/handler; it imports {}", list(.imports))]
    NotABridge {
        /// All imports of the bridge.
        imports: Vec<String>,
    },

    /// The two fit, but their imports conflict.
    #[error("the components cannot be wired: {reason}")]
    Wiring {
        /// The composition graph's error, with its causes.
        reason: String,
    },
}

impl ComposeError {
    pub(crate) fn wiring(error: impl std::error::Error) -> Self {
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            reason.push_str(": ");
            reason.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::Wiring { reason }
    }

    /// Returns a stable name of the variant, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAComponent { .. } => "NOT_A_COMPONENT",
            Self::AlreadyComposed { .. } => "ALREADY_COMPOSED",
            Self::MissingInterface { .. } => "MISSING_INTERFACE",
            Self::DifferentInterface { .. } => "DIFFERENT_INTERFACE",
            Self::NotABridge { .. } => "NOT_A_BRIDGE",
            Self::Wiring { .. } => "WIRING",
        }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_string() } else { names.join(", ") }
}
