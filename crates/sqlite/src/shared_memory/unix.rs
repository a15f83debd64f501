//! A file that all connections map, also those of other processes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

use super::CHUNK;
use crate::codes;
use crate::files::Mode;
use crate::locks::{self, Kind};

/// The answer for a chunk that does not exist yet.
const EMPTY: i32 = 16;
const IOERR_SHMSIZE: i32 = codes::IOERR | (19 << 8);
const IOERR_SHMLOCK: i32 = codes::IOERR | (20 << 8);

const UNLOCK: i32 = 1;
const EXCLUSIVE: i32 = 8;
/// Number of locks on shared memory.
const LOCKS: i32 = 8;

/// The bytes that SQLite locks in the file (`sqlite3.c`, `UNIX_SHM_BASE` and `UNIX_SHM_DMS`).
const BASE: i64 = 120;
const ALIVE: i64 = BASE + LOCKS as i64;

/// Bytes of a page on most systems. On others it divides the size of a page.
const PAGE: u64 = 4096;

/// The file, and the addresses where an instance has mapped it.
pub(crate) struct SharedMemory {
    path: PathBuf,
    file: File,
    mapped: Vec<*mut u8>,
}

// SAFETY: the pointers are into the memory of the instance that owns this value, and are used with exclusive access to it.
unsafe impl Send for SharedMemory {}
// SAFETY: no method reads or writes through the pointers with `&self`.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Opens or makes the file. The first connection of all empties it.
    pub(crate) fn open(path: &Path, Mode(mode): Mode) -> Result<Self, i32> {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(mode).open(path);
        let file = options.map_err(|_| codes::IOERR_SHMOPEN)?;
        let alive = |error: io::Error| {
            tracing::warn!("{}: {error}", path.display());
            codes::IOERR_LOCK
        };
        match locks::held(&file, ALIVE, 1).map_err(alive)? {
            Kind::Write => return Err(codes::BUSY),
            Kind::Read => {}
            Kind::None => {
                // Another connection may be as quick. It empties the file then, and this one only waits for it.
                if !locks::set(&file, Kind::Write, ALIVE, 1).map_err(alive)? {
                    return Err(codes::BUSY);
                }
                file.set_len(3).map_err(|_| codes::IOERR_SHMOPEN)?;
            }
        }
        if !locks::set(&file, Kind::Read, ALIVE, 1).map_err(alive)? {
            return Err(codes::BUSY);
        }
        Ok(Self { path: path.to_path_buf(), file, mapped: Vec::new() })
    }

    /// Maps a chunk at an address, which must be the page-aligned start of [`CHUNK`] bytes. Without `extend`, a chunk that does
    /// not exist yet is the error [`EMPTY`].
    ///
    /// # Safety
    ///
    /// The bytes at `at` belong to the instance, and nothing else refers to them until [`SharedMemory::unmap`].
    pub(crate) unsafe fn map(&mut self, chunk: usize, at: *mut u8, extend: bool) -> Result<(), i32> {
        let (start, end) = ((chunk * CHUNK) as u64, ((chunk + 1) * CHUNK) as u64);
        let size = self.file.metadata().map_err(|_| IOERR_SHMSIZE)?.len();
        if size <= start && !extend {
            return Err(EMPTY);
        }
        if size < end {
            allocate(&self.file, size, end).map_err(|_| IOERR_SHMSIZE)?;
        }
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: the caller promises that the address is the instance's, and the file is as long as the mapping.
        unsafe { mmap(at.cast(), CHUNK, access, flags, &self.file, start) }.map_err(|_| codes::IOERR_SHMMAP)?;
        self.mapped.push(at);
        Ok(())
    }

    /// Puts memory of the instance's own back, and removes the file on demand.
    pub(crate) fn unmap(&mut self, remove: bool) -> Result<(), i32> {
        for at in self.mapped.drain(..) {
            let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED);
            // SAFETY: `map` mapped these bytes, which are the instance's again.
            unsafe { mmap_anonymous(at.cast(), CHUNK, access, flags) }.map_err(|_| codes::IOERR_SHMMAP)?;
        }
        if remove {
            // Another process may have removed it.
            let _ = std::fs::remove_file(&self.path);
        }
        Ok(())
    }

    /// Locks or unlocks `count` of the file's eight locks.
    pub(crate) fn lock(&self, first: i32, count: i32, flags: i32) -> i32 {
        if first < 0 || count < 1 || first.saturating_add(count) > LOCKS {
            return IOERR_SHMLOCK;
        }
        let kind = match flags {
            _ if flags & UNLOCK != 0 => Kind::None,
            _ if flags & EXCLUSIVE != 0 => Kind::Write,
            _ => Kind::Read,
        };
        // The kernel orders the accesses of other processes; this is for those of this one.
        fence(Ordering::SeqCst);
        match locks::set(&self.file, kind, BASE + i64::from(first), count.into()) {
            Ok(true) => codes::OK,
            Ok(false) => codes::BUSY,
            Err(_) => IOERR_SHMLOCK,
        }
    }
}

/// Extends a file by blocks on the disk. A page without a block would end the process when it is written to a full disk.
fn allocate(file: &File, size: u64, end: u64) -> io::Result<()> {
    // On macOS it would cut off what another process has added.
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;

        match fallocate(file, FallocateFlags::empty(), size, end - size) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            done => return Ok(done?),
        }
    }
    for page in size / PAGE..end / PAGE {
        let last = (page + 1) * PAGE - 1;
        // Another process may have extended the file and written there meanwhile.
        if file.read_at(&mut [0], last)? == 0 {
            file.write_all_at(&[0], last)?;
        }
    }
    Ok(())
}
