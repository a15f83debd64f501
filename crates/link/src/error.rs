//! Errors of linking.

use crate::limits::MAX_BYTES;

/// The reason why a module cannot be linked. Each message continues "the module …", or names the count that is beyond a
/// limit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The bytes are no WebAssembly.
    #[error("is not WebAssembly: it does not begin with the bytes of a module")]
    NotWebAssembly,
    /// The bytes are the text format.
    #[error("is WebAssembly in the text format; convert it, as with `wasm-tools parse image.wat -o image.wasm`")]
    Text,
    /// The module is invalid, or uses a proposal that the runtime lacks.
    #[error("is not valid WebAssembly, or uses a feature that components cannot count on: {0}")]
    Invalid(String),
    /// The module is too large.
    #[error("has {0} bytes; {most} are allowed", most = MAX_BYTES)]
    TooLarge(usize),
    /// The module imports something. The names are `module.name`.
    #[error("imports {}, and nothing provides that; {}", .0.join(", "), import_advice(.0))]
    Imports(Vec<String>),
    /// A memory is shared between threads or has addresses of 64 bits.
    #[error("has a memory that is {0}, which JavaScript cannot read here")]
    Memory(&'static str),
    /// Too many modules, memories, parameters.
    #[error("there are {found} {what}; {most} are allowed")]
    TooMany {
        /// The counted things.
        what: &'static str,
        /// Their number.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// The component has no engine that modules can be linked to.
    #[error("cannot be linked to the JavaScript engine: {0}")]
    Engine(String),
}

impl LinkError {
    pub(crate) fn engine(error: impl std::fmt::Display) -> Self {
        Self::Engine(error.to_string())
    }

    pub(crate) fn invalid(error: impl std::fmt::Display) -> Self {
        Self::Invalid(error.to_string())
    }
}

fn import_advice(imports: &[String]) -> &'static str {
    if imports.iter().any(|import| import.starts_with("wasi")) {
        "build it without WASI, as Rust does for wasm32-unknown-unknown"
    } else if imports.iter().any(|import| import.starts_with("__wbindgen") || import.contains("wbg")) {
        "wasm-bindgen makes modules for browsers: export functions with #[no_mangle] instead"
    } else {
        "build it so that it imports nothing"
    }
}
