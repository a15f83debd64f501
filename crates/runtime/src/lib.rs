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
//! A request passes the folders in this order; `config`, `metering` and `telemetry` are beside them.
//!
//! ```text
//!  server ─► request ─► runtime ─► body ─► admission ─► module ─► instance ─► executor ─► response
//!
//!  instance::call::direct      a bare sdk:core/handler
//!  instance::call::wasi_http   a composed or foreign wasi:http component
//!  instance::call::service     a service of WASI 0.3
//! ```

mod admission;
mod body;
mod config;
#[cfg(test)]
mod crossing;
mod error;
mod executor;
mod instance;
#[cfg(test)]
mod isolation;
mod metering;
mod module;
mod request;
mod response;
mod runtime;
mod server;
mod tape;
mod telemetry;

pub use config::environment::{SECRET_PREFIX, sidecar_token};
pub use config::error::ConfigError;
pub use config::{
    Allowance, Isolation, LimitKey, Limits, ModuleBudget, ModulePolicy, ModuleSource, RecordConfig, RuntimeConfig,
    TlsFiles, TrustedProxies, WhenSpent,
};
pub use error::RuntimeError;
pub use executor::inline_poll::InlinePoll;
pub use metering::budget::{BudgetPart, Remainder, Remainders};
pub use metering::meter::{Meter, MeterLimit, MeterLimits, MeterLine, Usage};
pub use metering::{RequestUsage, UsageListener};
pub use module::engine::{compile_ahead, compile_child, compile_shared, install_shared, precompile};
pub use request::origin::Peer;
pub use request::pages::Page;
pub use response::{BodyError, ResponseBody};
pub use runtime::{Runtime, SentAgain};
pub use server::{Server, Socket};
pub use tape::{AskedCall, Change, Difference, DifferenceKind, LogLine, Replayed, Verdict, meta_view, tape_view};
pub use telemetry::recent::RecentRequest;
/// For programs that serve and do nothing else: it changes the allocator of the whole process.
pub use tenon_memory::keep_little;

#[cfg(test)]
mod properties;
