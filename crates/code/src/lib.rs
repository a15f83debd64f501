//! Machine code: compiled once, kept on disk, and shared by components that differ in their data only.
//!
//! A component that Tenon builds is a JavaScript engine of 10 MB, the same in every component, and the memory that the
//! engine had when the handler's top level had run. Compiling the engine takes seconds, and nothing that is compiled
//! depends on the memory: so the code of one such component, with another memory put in, is the code of the next.
//!
//! ```text
//!  component ─► store ─► the entry for these bytes, mapped from disk
//!                    └─► screen: depths, counts and sizes, before any other code reads the bytes
//!                    └─► state: what a snapshot changes, and a digest of everything else
//!                          ├─► artifact: the code for that digest with this state put in, and stored
//!                          └─► the compiler, in a process of its own: validates the component, adds what restores its
//!                              instances, compiles; its code is stored, and serves the next component with that digest
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
mod folder;
mod handler;
mod image;
mod private;
mod restore;
pub mod rewrite;
mod seal;
pub mod section;
mod state;
mod store;
mod trusted_path;
mod validate;

pub use ahead::{AheadError, Cpu, compile_ahead, load_ahead};
pub use child::serve;
pub use code::Code;
pub use compiler::{Compiler, OverBound};
pub use elf::content_of as section_of_code;
pub use folder::{Folder, hex};
pub use handler::HANDLER;
pub use restore::RESTORE;
pub use state::{Engine, Global, Segment, State, StateError, constant};
pub use store::{cached, cached_bytes, compile, load, load_bytes};
