//! Key-value, SQL, storage, queues, cron and others' APIs over HTTP: the sidecars of handlers.
//!
//! Development and production share the code and the contract. The crate contains the routes, their limits and their
//! errors, and the stores: SQLite or Redis, SQLite or PostgreSQL, a folder or S3. It does not depend on Node; the trait
//! [`Host`] is its view of a runtime. `tenon_pg_grammar` parses PostgreSQL's statements, and this crate decides which
//! are allowed.
//!
//! The kinds are the entries of [`registry::KINDS`](registry).
//!
//! 1. For development, [`DevServices::start`] serves all kinds from one folder on one port, with a page for inspection.
//! 2. For production, [`Sidecar::start`] serves one kind from one store, on a Unix socket or a TCP address, and
//!    [`InProcessSidecar`] to a runtime of the same process.
//!
//! ```text
//!  http ─► guard, token, metrics ─► kv::routes      ─► trait KvStore      ─► SQLite │ Redis
//!                                ├─► sql::routes     ─► trait SqlStore     ─► SQLite │ PostgreSQL
//!                                ├─► storage::routes ─► trait ObjectStore  ─► folder │ S3
//!                                ├─► queue::routes   ─► trait QueueStore   ─► SQLite │ PostgreSQL │ Redis
//!                                ├─► cron::routes    ─► trait CronStore    ─► SQLite │ PostgreSQL
//!                                └─► proxy::routes   ─► Upstream           ─► somebody else's API
//! ```

mod cron;
mod dev;
mod error;
mod host;
mod http;
mod kv;
mod lease;
mod limits;
mod page;
mod postgres_health;
mod postgres_mark;
mod postgres_reason;
mod postgres_tables;
mod proxy;
mod queue;
mod redis_link;
mod registry;
mod settings;
mod sidecar;
mod sql;
mod sqlite_file;
mod storage;
mod store_error;
#[cfg(test)]
mod testing;

pub use cron::schedule_problem;
pub use dev::{DevOptions, DevServices};
pub use error::ServicesError;
pub use host::{Host, RecentRequest, SendingAgain, SentAgain};
pub use limits::Limits;
pub use registry::{Flag, FlagValue, Kind, sidecar_kinds};
pub use settings::{SidecarFiles, SidecarSettings};
pub use sidecar::{Backend, InProcessSidecar, Listen, Sidecar, SidecarOptions};
pub use sqlite_file::compile_sqlite;
