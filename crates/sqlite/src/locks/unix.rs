//! Locks of open files, compatible with SQLite's own on Unix.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::{PENDING, RESERVED, SHARED, SHARED_BYTES};
use crate::codes::{LOCK_EXCLUSIVE, LOCK_NONE, LOCK_PENDING, LOCK_RESERVED, LOCK_SHARED};

/// The kind of a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    None,
    Read,
    Write,
}

/// The system's numbers.
#[allow(clippy::cast_possible_truncation, reason = "the constants are small, and their types differ between systems")]
mod number {
    pub(super) const NONE: libc::c_short = libc::F_UNLCK as libc::c_short;
    pub(super) const READ: libc::c_short = libc::F_RDLCK as libc::c_short;
    pub(super) const WRITE: libc::c_short = libc::F_WRLCK as libc::c_short;
    pub(super) const FROM_START: libc::c_short = libc::SEEK_SET as libc::c_short;
}

/// Sets or removes a lock; false when another one is in the way.
pub(crate) fn set(file: &File, kind: Kind, start: i64, bytes: i64) -> io::Result<bool> {
    match control(file, libc::F_OFD_SETLK, kind, start, bytes) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The lock that is in the way of a writer.
pub(crate) fn held(file: &File, start: i64, bytes: i64) -> io::Result<Kind> {
    let found = control(file, libc::F_OFD_GETLK, Kind::Write, start, bytes)?;
    Ok(match found {
        number::NONE => Kind::None,
        number::READ => Kind::Read,
        _ => Kind::Write,
    })
}

fn control(file: &File, command: i32, kind: Kind, start: i64, bytes: i64) -> io::Result<libc::c_short> {
    // SAFETY: all bytes zero are a valid `flock`.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = match kind {
        Kind::None => number::NONE,
        Kind::Read => number::READ,
        Kind::Write => number::WRITE,
    };
    lock.l_whence = number::FROM_START;
    (lock.l_start, lock.l_len) = (start, bytes);
    loop {
        // SAFETY: the descriptor is open, and the commands of locks take a pointer to a `flock`.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } != -1 {
            return Ok(lock.l_type);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Raises the lock on a database from `from` to `to`. Returns the level that is held afterwards, which is less than `to` when
/// another lock is in the way.
pub(crate) fn raise(file: &File, from: i32, to: i32) -> io::Result<i32> {
    if from >= to {
        return Ok(from);
    }
    match to {
        LOCK_SHARED => {
            // A writer that waits holds the pending byte, so that no new reader gets before it.
            if !set(file, Kind::Read, PENDING, 1)? {
                return Ok(LOCK_NONE);
            }
            let shared = set(file, Kind::Read, SHARED, SHARED_BYTES)?;
            set(file, Kind::None, PENDING, 1)?;
            Ok(if shared { LOCK_SHARED } else { LOCK_NONE })
        }
        LOCK_RESERVED => Ok(if set(file, Kind::Write, RESERVED, 1)? { LOCK_RESERVED } else { from }),
        LOCK_EXCLUSIVE => {
            if from < LOCK_PENDING && !set(file, Kind::Write, PENDING, 1)? {
                return Ok(from);
            }
            Ok(if set(file, Kind::Write, SHARED, SHARED_BYTES)? { LOCK_EXCLUSIVE } else { LOCK_PENDING })
        }
        _ => Ok(from),
    }
}

/// Lowers the lock on a database to `LOCK_SHARED` or `LOCK_NONE`.
pub(crate) fn lower(file: &File, from: i32, to: i32) -> io::Result<()> {
    if from <= to {
        return Ok(());
    }
    if from > LOCK_SHARED {
        if to == LOCK_SHARED && from == LOCK_EXCLUSIVE {
            set(file, Kind::Read, SHARED, SHARED_BYTES)?;
        }
        set(file, Kind::None, PENDING, 2)?;
    }
    if to == LOCK_NONE {
        set(file, Kind::None, PENDING, 2 + SHARED_BYTES)?;
    }
    Ok(())
}

/// Reports whether another connection intends to write.
pub(crate) fn is_reserved(file: &File) -> io::Result<bool> {
    Ok(held(file, RESERVED, 1)? != Kind::None)
}
