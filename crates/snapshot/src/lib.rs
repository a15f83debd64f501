//! From a bundle of JavaScript to a component: the engine runs the bundle's top level, and its memory becomes the
//! component's initial memory.
//!
//! The engine never changes, so all that can be done with it is done once ([`prepare`]) and kept on disk:
//!
//! ```text
//!  engine, with its real imports ─► instrument (wasmtime-wizer) ─► compile ──────────► to run top levels in
//!  the same, unused imports stubbed ─► encode as a component (wit-component) ─► template: a component without memory
//! ```
//!
//! A build ([`Engine::build`]) instantiates the one, runs the top level, has it answer ([`starlingmonkey::rehearsal`]), clears what the
//! engine has freed ([`starlingmonkey::garbage`]), and writes memory and globals into the other. Nothing is compiled, nothing is encoded. With an engine for weval
//! ([`SpecializableEngine`]) the template is a core module, and is encoded once weval has specialized it to the handler.
//! Stubbing changes functions only, so the memory of the first engine is right for the second. While it runs, the engine
//! sees two files and a clock: see [`wasi`].
//!
//! Splicing is left to componentize-js, which gets the engine without the functions that it does not look into
//! ([`hollow()`], [`fill`]).

mod calls;
mod encode;
mod engine;
mod error;
mod files;
mod graft;
mod prepare;
mod random;
mod request;
mod run;
mod specialize;
mod starlingmonkey;
mod template;
#[cfg(test)]
mod tests;
mod wasi;

pub use engine::{Built, Engine};
pub use error::SnapshotError;
pub use prepare::{Ingredients, install, prepare, prepare_shipped, prepare_specializable, revision};
pub use specialize::{Snapshot, SpecializableEngine};
pub use starlingmonkey::hollow::{fill, hollow};
