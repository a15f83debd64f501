//! The runtime: serves WebAssembly components over HTTP, each request in an instance of its own.
//!
//! It owns the engine, the compiled code and its cache, the instances, the limits, the routes `/health` and
//! `/run/<module>/*`, and the answers when something goes wrong. It leaves connections to sidecars to `tenon-transport`,
//! making components to `tenon-compose` and the command line, and knows nothing of Node.
//!
//! 1. Describe what is wanted in a [`RuntimeConfig`]: modules, sidecars, environment, limits.
//! 2. [`Runtime::new`] compiles the modules, or maps their code from the cache.
//! 3. [`Runtime::handle`] answers one request; [`Runtime::listen`] serves a TCP address with it.
//!
//! ```text
//!  server ─► runtime::handle ─► route ─► admission ─► call::direct    (a bare sdk:core/handler)
//!                                                 └─► call::wasi_http (a composed or foreign wasi:http component)
//! ```

mod body;
mod cache;
mod call;
mod config;
mod engine;
mod error;
mod guest_log;
mod host;
mod module;
mod problem;
mod request_id;
mod route;
mod runtime;
mod server;

pub use body::{BodyError, ResponseBody};
pub use config::{Limits, ModuleSource, RuntimeConfig};
pub use error::RuntimeError;
pub use runtime::Runtime;
pub use server::Server;
