//! SQLite's numbers (`sqlite3.h`) that cross the wall.

pub(crate) const OK: i32 = 0;
pub(crate) const DENY: i32 = 1;
pub(crate) const BUSY: i32 = 5;
pub(crate) const NOMEM: i32 = 7;
pub(crate) const IOERR: i32 = 10;
pub(crate) const FULL: i32 = 13;
pub(crate) const CANTOPEN: i32 = 14;
pub(crate) const TOOBIG: i32 = 18;
pub(crate) const ROW: i32 = 100;
pub(crate) const DONE: i32 = 101;

pub(crate) const IOERR_WRITE: i32 = IOERR | (3 << 8);
pub(crate) const IOERR_FSYNC: i32 = IOERR | (4 << 8);
pub(crate) const IOERR_TRUNCATE: i32 = IOERR | (6 << 8);
pub(crate) const IOERR_UNLOCK: i32 = IOERR | (8 << 8);
pub(crate) const IOERR_DELETE: i32 = IOERR | (10 << 8);
pub(crate) const IOERR_LOCK: i32 = IOERR | (15 << 8);
pub(crate) const IOERR_SHMOPEN: i32 = IOERR | (18 << 8);
pub(crate) const IOERR_SHMMAP: i32 = IOERR | (21 << 8);
pub(crate) const IOERR_DELETE_NOENT: i32 = IOERR | (23 << 8);

pub(crate) const OPEN_CREATE: i32 = 0x4;
pub(crate) const OPEN_MAIN_DB: i32 = 0x100;
pub(crate) const OPEN_TEMP_DB: i32 = 0x200;
pub(crate) const OPEN_MAIN_JOURNAL: i32 = 0x800;
pub(crate) const OPEN_WAL: i32 = 0x8_0000;

/// The levels of a lock on a database.
pub(crate) const LOCK_NONE: i32 = 0;
pub(crate) const LOCK_SHARED: i32 = 1;
pub(crate) const LOCK_RESERVED: i32 = 2;
pub(crate) const LOCK_PENDING: i32 = 3;
pub(crate) const LOCK_EXCLUSIVE: i32 = 4;

pub(crate) const STMTSTATUS_REPREPARE: i32 = 5;

/// The types of a value.
pub(crate) const INTEGER: i32 = 1;
pub(crate) const FLOAT: i32 = 2;
pub(crate) const TEXT: i32 = 3;
pub(crate) const BLOB: i32 = 4;
pub(crate) const NULL: i32 = 5;
