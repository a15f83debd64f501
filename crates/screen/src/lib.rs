//! The first reader of a component: it checks depths, counts and sizes before any other code sees the bytes.
//!
//! Parsers, validators and compilers recurse over nested components, copy what nesting repeats, and expand instances of
//! instances. A small file can therefore overflow their stack or fill the memory. [`screen`] reads the whole file once,
//! without recursion and without keeping more than a few words per nesting level, and refuses a file beyond [`BOUNDS`].
//!
//! It lists the sections that it knows, and refuses all others: a section that nobody counts has no bound. It does not validate. A component that passes here is small enough for a validator, and may still be invalid.

mod bounds;
mod census;
mod core;
mod expansion;
mod reader;
mod types;

pub use bounds::{BOUNDS, Bound, MAX_BYTES};
pub use census::Census;
pub use reader::screen;

/// The reason for which a component is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A section ends early, or has bytes that no encoding starts with.
    #[error("it is malformed: {0}")]
    Malformed(#[from] wasmparser::BinaryReaderError),
    /// A count, size or depth is beyond its bound.
    #[error("it has {found} {what}; at most {most} are allowed")]
    TooMuch {
        /// The bound's name.
        what: &'static str,
        /// The count when the reader stopped; the file may contain more.
        found: u64,
        /// The bound.
        most: u64,
    },
    /// A nested module or component does not begin as one.
    #[error("it is malformed: no WebAssembly begins at offset {0:#x}")]
    Preamble(usize),
    /// A section that no part of the language of guests has.
    #[error(
        "{whose} in it has a section of the unknown kind {id} at offset {at:#x}; components must have known ones only"
    )]
    Section {
        /// The section's identifier.
        id: u8,
        /// Where it is.
        whose: &'static str,
        /// The offset of its content.
        at: usize,
    },
    /// A component is instantiated whose definition this component does not contain.
    #[error("it instantiates a component that it does not define itself")]
    ForeignComponent,
}

#[cfg(test)]
mod tests;
