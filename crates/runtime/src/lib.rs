//! The runtime: serves WebAssembly components over HTTP, each request in an instance of its own.
//!
//! It contains the engine, the instances, the limits, the routes `/health` and `/run/<module>/*`, and the error
//! answers. `tenon-code` compiles, `tenon-transport` connects to sidecars, and `tenon-compose` and the command line
//! make components. The crate does not depend on Node.
//!
//! 1. Configure modules in a [`RuntimeConfig`]: modules, sidecars, environment, limits.
//! 2. [`Runtime::new`] compiles the modules, or maps their code from the cache.
//! 3. [`Runtime::handle`] answers one request; [`Runtime::listen`] serves a TCP address with it.
//!
//! ```text
//!  server ─► runtime::handle ─► route ─► admission ─► call::direct    (a bare sdk:core/handler)
//!                                                 └─► call::wasi_http (a composed or foreign wasi:http component)
//! ```

mod admission;
mod body;
mod bounds;
mod call;
mod calls;
mod client;
mod compute;
mod config;
#[cfg(test)]
mod crossing;
mod crowding;
mod egress;
mod engine;
mod environment;
mod error;
mod exchange;
mod guest_log;
mod health;
mod host;
mod idle;
mod inherited;
mod inline_poll;
#[cfg(test)]
mod isolation;
mod limits;
mod masks;
mod metrics;
mod module;
mod mounts;
mod origin;
mod otlp;
mod pages;
mod problem;
mod recent;
mod recording;
mod registry;
mod request_id;
mod route;
mod runtime;
mod server;
mod sidecars;
mod slots;
mod source_map;
mod stopwatch;
mod target;
mod trace;
mod transactions;
mod warm;
mod watch;

pub use body::{BodyError, ResponseBody};
pub use config::{Isolation, LimitKey, Limits, ModulePolicy, ModuleSource, RuntimeConfig, TlsFiles};
pub use engine::{compile_ahead, compile_child, precompile};
pub use environment::{SECRET_PREFIX, sidecar_token};
pub use error::RuntimeError;
pub use inline_poll::InlinePoll;
pub use origin::TrustedProxies;
pub use pages::Page;
pub use recent::RecentRequest;
pub use runtime::{Runtime, SentAgain};
pub use server::Server;

#[cfg(test)]
mod properties;
