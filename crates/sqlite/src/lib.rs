//! SQLite in a wall of its own: compiled to WebAssembly, one instance for each connection.
//!
//! Statements come from modules and their clients, and SQLite is C. So a fault in it ends one connection, and neither the
//! process nor another connection. The wall also bounds what SQLite itself does not: a long function ends at the
//! deadline, because the code of the instance can be interrupted anywhere, and all that a statement allocates counts
//! against the memory of its instance and of all [`Connection`]s of a [`Budget`].
//!
//! 1. [`Library::load`] compiles SQLite, or maps the code that an earlier start stored.
//! 2. [`Connection::open`] makes an instance, which opens one file.
//! 3. [`Connection::prepare`], [`Connection::bind`] and [`Connection::step`] run a statement.
//!
//! The host's own statements take one call: [`Connection::all`], [`Connection::execute`] and the others of `own.rs`.
//!
//! The instance names no path. Its imports (`host.rs`) reach the database, its journal, its write-ahead log and its shared
//! memory, and temporary files without a name. Locks and shared memory are those of SQLite itself on this system, so other
//! programs can use the file at the same time. `guest/` has the C half and the script that builds it.
//!
//! This crate does not decide which statements are allowed: `crates/services` does, in [`Rules`].

mod action;
mod budget;
mod codes;
mod connection;
mod error;
mod files;
mod host;
mod library;
mod limits;
mod locks;
mod own;
mod row;
mod shared_memory;
mod statement;
mod ticker;
mod value;
mod watch;

pub use action::{Action, Rules};
pub use budget::Budget;
pub use connection::{Connection, Options};
pub use error::{Ended, Error, TEMPORARY_FULL};
pub use library::Library;
pub use limits::LIMITS;
pub use row::Row;
pub use statement::{Column, Prepared};
pub use value::{FromValue, Value, ValueRef};

/// The `journal_mode` of a new database. A write-ahead log lets readers and a writer work at the same time, and its index is
/// shared memory, which Windows cannot give an instance.
pub const JOURNAL_MODE: &str = if cfg!(windows) { "TRUNCATE" } else { "WAL" };
