//! Locks of handles, compatible with SQLite's own on Windows. A lock cannot be changed: it is removed, and the other one is set.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED};
use windows_sys::Win32::Storage::FileSystem::{
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

use super::{PENDING, RESERVED, SHARED, SHARED_BYTES};
use crate::codes::{LOCK_EXCLUSIVE, LOCK_NONE, LOCK_PENDING, LOCK_RESERVED, LOCK_SHARED};

/// The kind of a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

/// The part of a file that begins at an offset.
fn part(start: i64) -> OVERLAPPED {
    let mut part = OVERLAPPED::default();
    let [low, high] = [start & 0xffff_ffff, start >> 32].map(|half| u32::try_from(half).unwrap_or(u32::MAX));
    (part.Anonymous.Anonymous.Offset, part.Anonymous.Anonymous.OffsetHigh) = (low, high);
    part
}

fn size(bytes: i64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Sets a lock; false when another one is in the way.
fn set(file: &File, kind: Kind, start: i64, bytes: i64) -> io::Result<bool> {
    let flags = LOCKFILE_FAIL_IMMEDIATELY | if kind == Kind::Write { LOCKFILE_EXCLUSIVE_LOCK } else { 0 };
    let mut part = part(start);
    // SAFETY: the handle is open and synchronous, so the call uses `part` only until it returns.
    if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, size(bytes), 0, &raw mut part) } != 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => Ok(false),
        _ => Err(error),
    }
}

/// Removes a lock that was set on the same bytes. It may be missing.
fn remove(file: &File, start: i64, bytes: i64) -> io::Result<()> {
    let mut part = part(start);
    // SAFETY: the handle is open and synchronous, so the call uses `part` only until it returns.
    if unsafe { UnlockFileEx(file.as_raw_handle(), 0, size(bytes), 0, &raw mut part) } != 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error().map(i32::cast_unsigned) == Some(ERROR_NOT_LOCKED) { Ok(()) } else { Err(error) }
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
            let shared = set(file, Kind::Read, SHARED, SHARED_BYTES);
            remove(file, PENDING, 1)?;
            Ok(if shared? { LOCK_SHARED } else { LOCK_NONE })
        }
        LOCK_RESERVED => Ok(if set(file, Kind::Write, RESERVED, 1)? { LOCK_RESERVED } else { from }),
        LOCK_EXCLUSIVE => {
            if from < LOCK_PENDING && !set(file, Kind::Write, PENDING, 1)? {
                return Ok(from);
            }
            // No new reader comes while the pending byte is locked, so this one's lock is there to be set again.
            remove(file, SHARED, SHARED_BYTES)?;
            if set(file, Kind::Write, SHARED, SHARED_BYTES)? {
                return Ok(LOCK_EXCLUSIVE);
            }
            if set(file, Kind::Read, SHARED, SHARED_BYTES)? {
                return Ok(LOCK_PENDING);
            }
            Err(io::ErrorKind::WouldBlock.into())
        }
        _ => Ok(from),
    }
}

/// Lowers the lock on a database to `LOCK_SHARED` or `LOCK_NONE`.
pub(crate) fn lower(file: &File, from: i32, to: i32) -> io::Result<()> {
    if from <= to {
        return Ok(());
    }
    if from >= LOCK_EXCLUSIVE || to == LOCK_NONE {
        remove(file, SHARED, SHARED_BYTES)?;
    }
    if from >= LOCK_EXCLUSIVE && to == LOCK_SHARED && !set(file, Kind::Read, SHARED, SHARED_BYTES)? {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    if from > LOCK_SHARED {
        remove(file, RESERVED, 1)?;
    }
    if from >= LOCK_PENDING {
        remove(file, PENDING, 1)?;
    }
    Ok(())
}

/// Reports whether another connection intends to write.
pub(crate) fn is_reserved(file: &File) -> io::Result<bool> {
    let free = set(file, Kind::Write, RESERVED, 1)?;
    if free {
        remove(file, RESERVED, 1)?;
    }
    Ok(!free)
}
