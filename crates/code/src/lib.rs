//! Cache of machine code: compiled once, kept on disk, and shared by components that differ only in their data.
//!
//! A component that Tenon builds has two parts. One is a JavaScript engine of 1 MB, the same in every component. The
//! other is the engine's memory after the handler's top level has run. Compiling the engine takes seconds, and its code
//! does not depend on the memory. So the next component reuses that code with its own memory.
//!
//! ```text
//!  component ─► store ─► the entry for these bytes, mapped from disk
//!                    └─► screen: depths, counts and sizes, before any other code reads the bytes
//!                    └─► snapshot: the engine's memory, as an image in a file, and the rest
//!                          ├─► machine: the code of the same rest, loaded once
//!                          └─► the compiler, in a separate process: validates the rest, adds the function that restores
//!                              its instances, compiles; the next component with the same rest shares its code
//! ```

mod ahead;
mod child;
mod code;
mod compile;
mod compiler;
mod cpu;
#[cfg(test)]
mod fixture;
mod image;
mod machine;
mod shipped;
mod store;
mod target;
mod trailer;
mod validate;

pub use ahead::{AheadError, compile_ahead, load_ahead};
pub use child::serve;
pub use code::Code;
pub use compiler::{Compiler, OverBound};
pub use cpu::{Cpu, UnknownCpu};
pub use shipped::{compile_shared, install_shared};
pub use store::{cached, cached_bytes, compile, load, load_bytes, opened};
pub use target::{Target, UnknownTarget};
pub use tenon_compose::HANDLER;
pub use tenon_rewrite::{EngineModule, GLOBALS, RESTORE, SERVICE, is_service};
