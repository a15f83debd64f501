//! Makes a component from a bundle of JavaScript. The engine runs the bundle's top level, and its memory becomes the
//! component's initial memory.
//!
//! The engine never changes, so its preparation is done once ([`prepare`]) and stored on disk:
//!
//! ```text
//!  engine, with its real imports ─► instrument (wasmtime-wizer) ─► compile ──────────► to run top levels in
//!  the same, unused imports stubbed ─► encode as a component (wit-component) ─► template: a component without memory
//! ```
//!
//! A build ([`Engine::build`]) instantiates the one and runs the top level. It sends requests to the handler
//! ([`starlingmonkey::rehearsal`]), and clears freed memory ([`starlingmonkey::garbage`]). Then it writes memory and
//! globals into the other. Nothing is compiled or encoded. With an engine for weval ([`SpecializableEngine`]) the
//! template is a core module, which is encoded after weval has specialized it to the handler. Stubbing changes
//! functions only, so the memory of the first engine fits the second. While it runs, the engine sees two files and a
//! clock: see [`wasi`].
//!
//! componentize-js does the splicing. It gets the engine without the function bodies that it does not read
//! ([`hollow()`], [`fill`]).

mod calls;
mod encode;
mod engine;
mod error;
mod files;
mod graft;
mod prepare;
pub mod quickjs;
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
