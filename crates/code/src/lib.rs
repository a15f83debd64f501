//! Cache of machine code: compiled once, kept on disk, and shared by components that differ only in their data.
//!
//! A component that Tenon builds has two parts. One is a JavaScript engine of 10 MB, the same in every component. The
//! other is the engine's memory after the handler's top level has run. Compiling the engine takes seconds, and its code
//! does not depend on the memory. So the next component reuses that code with its own memory.
//!
//! ```text
//!  component ─► store ─► the entry for these bytes, mapped from disk
//!                    └─► screen: depths, counts and sizes, before any other code reads the bytes
//!                    └─► state: the parts that a snapshot changes, and a digest of everything else
//!                          ├─► artifact: the code for that digest with this state put in, and stored
//!                          └─► the compiler, in a separate process: validates the component, adds the function that
//!                              restores its instances, compiles; the next component with that digest reuses its code
//! ```

mod ahead;
mod artifact;
mod child;
mod code;
mod compile;
mod compiler;
mod elf;
#[cfg(test)]
mod fixture;
mod image;
mod store;
mod validate;

pub use ahead::{AheadError, compile_ahead, load_ahead};
pub use child::serve;
pub use code::Code;
pub use compiler::{Compiler, OverBound};
pub use elf::content_of as section_of_code;
pub use store::{cached, cached_bytes, compile, load, load_bytes, opened};
pub use tenon_compose::HANDLER;
pub use tenon_rewrite::{EngineModule, RESTORE, SERVICE, is_service};
