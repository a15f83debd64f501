//! Reads and rewrites WebAssembly, and compiles nothing.
//!
//! - [`EngineModule`] splits a component into its engine and the state that a snapshot gave it.
//! - [`with_restore`] adds the function that resets an instance to its just-instantiated state.
//! - [`inner_handler`] finds the handler in a composed component.
//! - [`delta`] compresses a component against its engine, and expands it again.
//! - [`is_service`] tells services of WASI 0.3 from other components.
//! - [`section`] lists the sections of modules and components.

pub mod delta;
mod handler;
mod restore;
mod rewrite;
pub mod section;
mod service;
mod state;

pub use handler::inner_handler;
pub use restore::{GLOBALS, RESTORE, exports_restore, with_restore};
pub use service::{SERVICE, is_service};
pub use state::{Apart, EngineModule, Global, Segment, State, StateError, constant};
