//! Makes a component from a bundle of JavaScript, with the engine of `crates/engine`: QuickJS-ng, bound to `sdk:core/handler` and
//! `sdk:core/calls`. The engine runs the bundle's top level, and its memory becomes the component's initial memory.
//!
//! The engine never changes, so its preparation is done once ([`prepare()`]) and stored on disk:
//!
//! ```text
//!  engine ─► export its mutable globals (wasmtime-wizer) ─► compile ─► code that runs top levels
//!  engine, without memory ─► put into the wrapper of a handler (`tenon_compose::wrap`) ─► template
//! ```
//!
//! A build ([`Engine::build`]) instantiates the code, evaluates the bundle, answers the calls of one rehearsal ([`request`]), and writes
//! memory and globals into the template. Nothing is compiled or encoded. [`host`] lists the functions that the engine calls.

mod engine;
mod error;
mod host;
mod prepare;
mod random;
mod request;
mod run;
mod template;
#[cfg(test)]
mod tests;
mod wasmtime_engine;

pub use engine::{Built, Engine};
pub use error::SnapshotError;
pub use prepare::{Variant, compile_shipped, install, prepare, revision};
pub use tenon_code::Target;
