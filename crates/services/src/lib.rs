//! Key-value, SQL, storage, queues, cron and others' APIs over HTTP: the sidecars of handlers.
//!
//! Development and production share the code and the contract. Nothing here depends on Node; the trait [`Host`] is the view
//! of a runtime.
//!
//! Each kind is a crate in a folder beside `src`, with its routes and stores, and an entry in [`kinds`]. All of them use
//! `tenon-service`, in `base`, for HTTP, limits and errors.
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
//!                                └─► http::routes    ─► Upstream           ─► somebody else's API
//! ```

mod dev;
mod kinds;
mod page;
mod settings;

pub use dev::{DevOptions, DevServices};
pub use kinds::sidecar_kinds;
pub use settings::SidecarSettings;
pub use tenon_service::host::{Host, NotSent, RecentRequest, SendingAgain, SentAgain};
pub use tenon_service::sqlite_file::compile_sqlite;
pub use tenon_service::{
    Backend, Flag, FlagValue, InProcessSidecar, Kind, Limits, Listen, ServicesError, Sidecar, SidecarFiles,
    SidecarOptions,
};
pub use tenon_service_cron::schedule_problem;
