//! The index of a write-ahead log, in memory that all connections share.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::SharedMemory;
#[cfg(windows)]
pub(crate) use windows::SharedMemory;

/// Bytes of a chunk, a multiple of the page size of every system.
pub(crate) const CHUNK: usize = 64 * 1024;
