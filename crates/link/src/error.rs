//! Errors of linking.

use crate::limits::MAX_BYTES;

/// The reason why a module cannot be linked. Each message continues "the module …", or names the count that is beyond a
/// limit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// One of several modules cannot be linked.
    #[error("{name} {reason}")]
    Module {
        /// Its name.
        name: String,
        /// One of the variants about a module.
        reason: Box<LinkError>,
    },
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
    /// A function of a component has a type that JavaScript does not get.
    #[error("exports {function}, which has or is {what}; a handler calls functions of values only")]
    Unsupported {
        /// The function's name.
        function: String,
        /// The type, with an article.
        what: &'static str,
    },
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
    #[error("WebAssembly modules cannot be linked to the JavaScript engine: {0}")]
    Engine(String),
}

impl LinkError {
    /// Returns the same error with the module's name.
    pub(crate) fn of(self, name: &str) -> Self {
        Self::Module { name: name.to_owned(), reason: Box::new(self) }
    }

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
