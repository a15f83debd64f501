//! Work that a server does without a client: messages of queues, runs of cron jobs, and migrations of a database.
//!
//! It owns the requests to the sidecars that hold the work, the loop that leases it, and the calls of routes. It leaves the stores to
//! `tenon-services` and the modules to `tenon-runtime`.
//!
//! 1. [`SidecarAddress::find`] gets the sidecar `queue` or `cron` of a configuration.
//! 2. [`consume_queue`] and [`consume_cron`] start a [`Consumer`], which runs until [`Consumer::close`].
//! 3. [`migrate`] applies the files of a folder to the database behind a sidecar `sql`.
//!
//! ```text
//!  Consumer ─► Service::ask (lease) ─► Runtime::handle ─► Service::ask (done, retry)
//!  migrate  ─► Service::ask (/sql/batch)
//! ```

mod consumer;
mod cron;
mod migrate;
mod queue;
mod route;
mod service;
mod statements;

pub use consumer::Consumer;
pub use cron::{Declaration, consume_cron};
pub use migrate::{MigrateError, Migrated, migrate};
pub use queue::{QueueOptions, consume_queue};
pub use service::{Answer, AskError, Service, SidecarAddress};

#[cfg(test)]
mod tests;
