//! Work that a server does without a client: messages of queues, runs of cron jobs, and migrations of a database.
//!
//! It owns the requests to the sidecars that hold the work, the loop that leases it, and the calls of routes. It leaves the stores to
//! `tenon-services` and the modules to `tenon-runtime`.
//!
//! 1. [`Work::new`] takes the [`Tasks`] of a configuration, and finds the sidecars `queue` and `cron`.
//! 2. [`Consumers::start`] does the work until [`Consumers::close`]; [`Consumers::change`] applies another configuration.
//! 3. [`migrate`] applies the files of a folder to the database behind a sidecar `sql`.
//!
//! ```text
//!  Consumers ─► Service::ask (lease) ─► Runtime::handle ─► Service::ask (done, retry)
//!  migrate   ─► script (statements of a file) ─► Service::ask (/sql/batch, /sql/transaction)
//! ```

mod apply;
mod consumer;
mod cron;
mod migrate;
mod queue;
mod route;
mod script;
mod service;
mod work;

pub use consumer::Report;
pub use cron::Declaration;
pub use migrate::{MigrateError, Migrated, migrate};
pub use queue::QueueOptions;
pub use script::GrammarFile;
pub use service::{AskError, Service, SidecarAddress, SidecarResponse, TokenError};
pub use work::{Consumers, Tasks, Work, WorkError};

#[cfg(test)]
mod tests;
