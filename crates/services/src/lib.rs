//! Key-value, SQL, storage, queues and cron over HTTP: what handlers reach as their sidecars.
//!
//! One code base and one contract for development and production, so that the two cannot drift apart. It owns the routes,
//! their limits and their errors, and a store behind each: SQLite or Redis, SQLite or PostgreSQL, a folder or S3. It knows
//! nothing of Node; what it needs of a runtime is the trait [`Host`]. PostgreSQL's statements are parsed by
//! `tenon_pg_grammar`, and what they may do is decided here.
//!
//! The kinds are the entries of [`registry::KINDS`](registry).
//!
//! 1. For development, [`DevServices::start`] serves everything out of one folder on one port, and a page to look at it.
//! 2. For production, [`Sidecar::start`] serves one kind from one store, on a Unix socket or a TCP address, and
//!    [`InProcessSidecar`] to a runtime of the same process.
//!
//! ```text
//!  http ─► guard, token, metrics ─► kv::routes      ─► trait KvStore      ─► SQLite │ Redis
//!                                ├─► sql::routes     ─► trait SqlStore     ─► SQLite │ PostgreSQL
//!                                ├─► storage::routes ─► trait ObjectStore  ─► folder │ S3
//!                                ├─► queue::routes   ─► trait QueueStore   ─► SQLite │ PostgreSQL │ Redis
//!                                └─► cron::routes    ─► trait CronStore    ─► SQLite │ PostgreSQL
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
mod postgres_tables;
mod queue;
mod redis_link;
mod registry;
mod settings;
mod sidecar;
mod sql;
mod sqlite_file;
mod storage;
mod store_error;

pub use cron::schedule_problem;
pub use dev::{DevOptions, DevServices};
pub use error::ServicesError;
pub use host::{Host, ModuleCall, ModuleRequest, RecentRequest, SendingAgain, SentAgain};
pub use limits::Limits;
pub use settings::SidecarSettings;
pub use sidecar::{Backend, BackendOptions, InProcessSidecar, Listen, Sidecar, SidecarOptions};
pub use sql::{SqlAccess, SqlParser};
