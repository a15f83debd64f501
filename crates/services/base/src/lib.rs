//! The base of all kinds of service: HTTP with its limits and errors, the parts of stores that several kinds use, and the
//! sidecar, which serves one kind.
//!
//! A kind is a crate beside this one that exports a [`Kind`]. `tenon-services` lists them, so a change of one kind compiles
//! that kind alone.

pub mod base64;
mod error;
pub mod host;
pub mod http;
pub mod kind;
pub mod lease;
mod limits;
pub mod postgres_health;
pub mod postgres_mark;
pub mod postgres_reason;
pub mod postgres_tables;
pub mod redis_link;
mod sidecar;
pub mod sqlite_file;
pub mod store_error;
#[cfg(feature = "testing")]
pub mod testing;

pub use error::ServicesError;
pub use kind::{Flag, FlagValue, Kind, SidecarFiles};
pub use limits::Limits;
pub use sidecar::{Backend, InProcessSidecar, Listen, Sidecar, SidecarOptions};
