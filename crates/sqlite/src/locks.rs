//! Locks on ranges of a file, compatible with SQLite's own. They belong to an open file and not to the process, so that connections
//! of one process exclude each other.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Kind, held, is_reserved, lower, raise, set};
#[cfg(windows)]
pub(crate) use windows::{is_reserved, lower, raise};

/// The bytes that SQLite locks in a database (`sqlite3.c`, "The following constants are used to lock").
const PENDING: i64 = 0x4000_0000;
const RESERVED: i64 = PENDING + 1;
const SHARED: i64 = PENDING + 2;
const SHARED_BYTES: i64 = 510;
