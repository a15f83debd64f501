//! Builds with the engine of `crates/engine`: QuickJS-ng, bound to `sdk:core/handler` and `sdk:core/calls`.
//!
//! The engine needs no adapter and no bindings, so it is prepared in two steps:
//!
//! ```text
//!  engine ─► export its mutable globals (wasmtime-wizer) ─► compile ─► code that runs top levels
//!  engine, without memory ─► encode as a component ─► enclose with the adapter for calls ─► template
//! ```
//!
//! A build instantiates the code, evaluates the bundle, answers the calls of one rehearsal ([`request`]), and writes memory and
//! globals into the template. [`host`] lists the functions that the engine imports.

mod engine;
mod host;
mod prepare;
mod request;
mod run;
#[cfg(test)]
mod tests;

pub use engine::Engine;
pub use prepare::{Variant, prepare};
