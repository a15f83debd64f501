//! The files that an instance can reach: its database with what belongs to it, and temporary ones without a name.

#[cfg(unix)]
#[path = "files/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "files/windows.rs"]
mod system;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::budget::Budget;
use crate::codes;
use crate::error::TEMPORARY_FULL;
use crate::locks;
use crate::shared_memory::SharedMemory;
pub(crate) use system::Mode;
use system::{mode_of, open, read_at, sync_folder, write_all_at};

/// Limit of open files of one connection.
const MAX_OPEN: usize = 256;

/// The role of a file for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Database,
    Journal,
    Log,
    Temporary,
}

impl Kind {
    /// Reads a `SQLITE_OPEN_*` flag.
    pub(crate) fn read(kind: i32) -> Option<Self> {
        Some(match kind {
            codes::OPEN_MAIN_DB => Self::Database,
            codes::OPEN_MAIN_JOURNAL => Self::Journal,
            codes::OPEN_WAL => Self::Log,
            codes::OPEN_TEMP_DB => Self::Temporary,
            _ => return None,
        })
    }
}

struct Open {
    kind: Kind,
    file: File,
    /// The level of the lock on a database.
    level: i32,
    shared: Option<SharedMemory>,
    /// Bytes of a temporary file that the budget has counted.
    charged: usize,
}

/// The files of one connection.
pub(crate) struct Files {
    /// The database; none for one in memory.
    path: Option<PathBuf>,
    open: Vec<Option<Open>>,
    budget: Budget,
}

impl Files {
    pub(crate) fn new(path: Option<&Path>, budget: Budget) -> io::Result<Self> {
        Ok(Self { path: path.map(resolved).transpose()?, open: Vec::new(), budget })
    }

    /// Opens a file and returns its handle.
    pub(crate) fn open(&mut self, kind: Kind, flags: i32) -> Result<i32, i32> {
        let index = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        let handle = i32::try_from(index).map_err(|_| codes::CANTOPEN)?;
        if index == MAX_OPEN {
            return Err(codes::CANTOPEN);
        }
        let opened = match kind {
            Kind::Temporary => tempfile::tempfile(),
            Kind::Database => self.path(kind).and_then(|path| open(&path, is_new(flags), Mode::default())),
            Kind::Journal | Kind::Log => self.path(kind).and_then(|path| {
                let file = open(&path, is_new(flags), self.mode())?;
                sync_folder(&path)?;
                Ok(file)
            }),
        };
        let file = opened.map_err(|error| {
            tracing::debug!("SQLite: a file cannot be opened: {error}");
            codes::CANTOPEN
        })?;
        let open = Open { kind, file, level: codes::LOCK_NONE, shared: None, charged: 0 };
        match self.open.get_mut(index) {
            Some(free) => *free = Some(open),
            None => self.open.push(Some(open)),
        }
        Ok(handle)
    }

    pub(crate) fn close(&mut self, handle: i32) {
        let Some(open) = usize::try_from(handle).ok().and_then(|at| self.open.get_mut(at)).and_then(Option::take)
        else {
            return;
        };
        self.budget.give_file_back(open.charged);
    }

    fn at(&mut self, handle: i32) -> Option<&mut Open> {
        self.open.get_mut(usize::try_from(handle).ok()?)?.as_mut()
    }

    /// Fills `into`, and returns the number of bytes that the file has there.
    pub(crate) fn read(&mut self, handle: i32, into: &mut [u8], offset: i64) -> Option<usize> {
        let (open, mut offset) = (self.at(handle)?, u64::try_from(offset).ok()?);
        let mut read = 0;
        while read < into.len() {
            match read_at(&open.file, &mut into[read..], offset) {
                Ok(0) => break,
                Ok(count) => {
                    read += count;
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(read)
    }

    pub(crate) fn write(&mut self, handle: i32, from: &[u8], offset: i64) -> i32 {
        let (budget, database) = (self.budget.clone(), self.path.clone());
        let (Some(open), Ok(offset)) = (self.at(handle), u64::try_from(offset)) else { return codes::IOERR_WRITE };
        if open.kind == Kind::Temporary {
            let end = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(from.len()));
            let more = end.map(|end| end.saturating_sub(open.charged));
            match more {
                Some(more) if budget.take_file(more, || size_of(database.as_deref())) => open.charged += more,
                _ => return TEMPORARY_FULL,
            }
        }
        match write_all_at(&open.file, from, offset) {
            Ok(()) => codes::OK,
            Err(error) if error.kind() == io::ErrorKind::StorageFull => codes::FULL,
            Err(_) => codes::IOERR_WRITE,
        }
    }

    pub(crate) fn truncate(&mut self, handle: i32, bytes: i64) -> i32 {
        let budget = self.budget.clone();
        let (Some(open), Ok(bytes)) = (self.at(handle), u64::try_from(bytes)) else { return codes::IOERR_TRUNCATE };
        let kept = usize::try_from(bytes).unwrap_or(usize::MAX);
        // A file only grows by writes, which are counted.
        if open.kind == Kind::Temporary && kept > open.charged {
            return codes::IOERR_TRUNCATE;
        }
        if open.file.set_len(bytes).is_err() {
            return codes::IOERR_TRUNCATE;
        }
        if kept < open.charged {
            budget.give_file_back(open.charged - kept);
            open.charged = kept;
        }
        codes::OK
    }

    pub(crate) fn sync(&mut self, handle: i32) -> i32 {
        match self.at(handle) {
            Some(open) if open.kind == Kind::Temporary || open.file.sync_data().is_ok() => codes::OK,
            _ => codes::IOERR_FSYNC,
        }
    }

    pub(crate) fn size(&mut self, handle: i32) -> Option<i64> {
        i64::try_from(self.at(handle)?.file.metadata().ok()?.len()).ok()
    }

    pub(crate) fn lock(&mut self, handle: i32, level: i32) -> i32 {
        let Some(open) = self.at(handle).filter(|open| open.kind == Kind::Database) else { return codes::OK };
        match locks::raise(&open.file, open.level, level) {
            Ok(held) => {
                open.level = held;
                if held >= level { codes::OK } else { codes::BUSY }
            }
            Err(_) => codes::IOERR_LOCK,
        }
    }

    pub(crate) fn unlock(&mut self, handle: i32, level: i32) -> i32 {
        let Some(open) = self.at(handle).filter(|open| open.kind == Kind::Database) else { return codes::OK };
        match locks::lower(&open.file, open.level, level) {
            Ok(()) => {
                open.level = open.level.min(level);
                codes::OK
            }
            Err(_) => codes::IOERR_UNLOCK,
        }
    }

    pub(crate) fn is_reserved(&mut self, handle: i32) -> Option<bool> {
        let open = self.at(handle)?;
        if open.kind != Kind::Database || open.level >= codes::LOCK_RESERVED {
            return Some(open.level >= codes::LOCK_RESERVED);
        }
        locks::is_reserved(&open.file).ok()
    }

    pub(crate) fn remove(&mut self, kind: Kind) -> i32 {
        let removed = match kind {
            Kind::Database | Kind::Temporary => return codes::IOERR_DELETE,
            Kind::Journal | Kind::Log => self.path(kind).and_then(|path| {
                std::fs::remove_file(&path)?;
                sync_folder(&path)
            }),
        };
        match removed {
            Ok(()) => codes::OK,
            Err(error) if error.kind() == io::ErrorKind::NotFound => codes::IOERR_DELETE_NOENT,
            Err(_) => codes::IOERR_DELETE,
        }
    }

    /// Reports whether a file exists and is not empty, which is how SQLite finds a journal to play back.
    pub(crate) fn exists(&self, kind: Kind) -> bool {
        self.path(kind).and_then(|path| path.metadata()).is_ok_and(|file| !file.is_file() || file.len() > 0)
    }

    /// The shared memory of a database, opened at its first use.
    pub(crate) fn shared(&mut self, handle: i32) -> Result<&mut SharedMemory, i32> {
        let mode = self.mode();
        let path = self.beside("-shm").map_err(|_| codes::IOERR_SHMOPEN)?;
        let open = self.at(handle).filter(|open| open.kind == Kind::Database).ok_or(codes::IOERR_SHMOPEN)?;
        if open.shared.is_none() {
            open.shared = Some(SharedMemory::open(&path, mode)?);
        }
        open.shared.as_mut().ok_or(codes::IOERR_SHMOPEN)
    }

    /// Takes the shared memory from a database that has some.
    pub(crate) fn take_shared(&mut self, handle: i32) -> Option<SharedMemory> {
        self.at(handle)?.shared.take()
    }

    fn path(&self, kind: Kind) -> io::Result<PathBuf> {
        self.beside(match kind {
            Kind::Database => "",
            Kind::Journal => "-journal",
            Kind::Log => "-wal",
            Kind::Temporary => return Err(io::ErrorKind::NotFound.into()),
        })
    }

    fn beside(&self, ending: &str) -> io::Result<PathBuf> {
        let mut name: OsString = self.path.as_deref().ok_or(io::ErrorKind::NotFound)?.into();
        name.push(ending);
        Ok(name.into())
    }

    /// The permissions of the database, which are those of the files beside it.
    fn mode(&self) -> Mode {
        self.path.as_deref().and_then(mode_of).unwrap_or_default()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for open in self.open.iter().flatten() {
            self.budget.give_file_back(open.charged);
        }
    }
}

/// The bytes of the database. A VACUUM writes a copy of it into a temporary file.
fn size_of(database: Option<&Path>) -> usize {
    let size = database.and_then(|path| path.metadata().ok()).map_or(0, |file| file.len());
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Reports whether a file is made when there is none.
fn is_new(flags: i32) -> bool {
    flags & codes::OPEN_CREATE != 0
}

/// Follows the links to a file, because its journal is beside the file and not beside the link.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(path),
        Err(error) => Err(error),
    }
}
