//! The folder of recordings, with a bound of bytes and of age. The oldest are removed first.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tenon_trusted_folder::Folder;

use crate::file::{MAX_BYTES, Meta};

/// The extension of recordings.
pub const EXTENSION: &str = "tape";

/// Characters of a request id in a file's name.
const ID: usize = 40;

/// Time until the folder is read again: this long, or this many times the duration of the last reading, because a folder can have a
/// million files.
const LOOK: Duration = Duration::from_secs(10);
const LOOK_SHARE: u32 = 100;

/// A folder of recordings. Others may write to it and remove from it meanwhile.
pub struct TapeFolder {
    folder: Folder,
    max_bytes: u64,
    max_age: Option<Duration>,
    /// The files and their sizes, the oldest first.
    files: VecDeque<(String, u64)>,
    bytes: u64,
    written: u64,
    /// The id of this process, a part of the names.
    process: u32,
    /// The time at which the folder is read again.
    next_look: Instant,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// The result of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is in the folder.
    Whole,
    /// It is larger than the folder may be.
    TooLarge,
}

impl TapeFolder {
    /// Makes the folder, which only this user may read.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or another user may write to it.
    pub fn open(path: &Path, max_bytes: u64, max_age: Option<Duration>) -> io::Result<Self> {
        let folder = Folder::open(path)?;
        let (files, process, next_look) = (VecDeque::new(), std::process::id(), Instant::now());
        let mut opened = Self { folder, max_bytes, max_age, files, bytes: 0, written: 0, process, next_look };
        opened.look()?;
        Ok(opened)
    }

    /// Reads which files there are.
    fn look(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        self.files = self.folder.list(EXTENSION)?.into();
        self.bytes = self.files.iter().map(|(_, size)| size).sum();
        self.next_look = Instant::now() + LOOK.max(begun.elapsed() * LOOK_SHARE);
        Ok(())
    }

    /// Writes a recording, and removes older ones where that is needed.
    ///
    /// # Errors
    ///
    /// An I/O error; nothing of the recording is left then.
    pub fn write(&mut self, meta: &Meta, file: &[u8]) -> io::Result<Written> {
        let size = file.len() as u64;
        if size > self.max_bytes || file.len() > MAX_BYTES {
            return Ok(Written::TooLarge);
        }
        if Instant::now() >= self.next_look {
            // Another process may have removed some, or added.
            self.look()?;
        }
        self.remove_to(self.max_bytes - size, SystemTime::now())?;
        self.written += 1;
        let name = name(meta, self.process, self.written);
        self.folder.write_alone(&name, file)?;
        self.files.push_back((name, size));
        self.bytes += size;
        Ok(Written::Whole)
    }

    /// Removes files that are too old, and the oldest until so many bytes are left. Returns how many it has removed.
    ///
    /// # Errors
    ///
    /// An I/O error.
    pub fn remove_to(&mut self, bytes: u64, now: SystemTime) -> io::Result<usize> {
        let oldest = self.max_age.and_then(|age| now.checked_sub(age)).map(stamp);
        let mut removed = 0;
        while let Some((name, size)) = self.files.pop_front() {
            let is_old = oldest.as_ref().is_some_and(|oldest| name < *oldest);
            if self.bytes <= bytes && !is_old {
                self.files.push_front((name, size));
                break;
            }
            self.folder.remove_alone(&name)?;
            self.bytes = self.bytes.saturating_sub(size);
            removed += 1;
        }
        Ok(removed)
    }

    /// The files, the oldest first.
    pub fn files(&self) -> impl Iterator<Item = Listed> {
        self.files.iter().map(|(name, size)| Listed { name: name.clone(), size: *size })
    }

    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The path of a file for messages.
    #[must_use]
    pub fn shown(&self, name: &str) -> PathBuf {
        self.folder.shown(name)
    }

    /// Reads a file. None when it is not there any more, is another user's, or is too large.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let most = MAX_BYTES as u64 + 1;
        self.folder.open_alone(name)?.take(most).read_to_end(&mut bytes).ok()?;
        (bytes.len() <= MAX_BYTES).then_some(bytes)
    }
}

/// The name of a recording's file: sorted by name, files are sorted by time.
fn name(meta: &Meta, process: u32, number: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_nanos(meta.time);
    let id: String = meta.request_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(ID).collect();
    format!("{}-{process:x}-{number:x}-{id}.{EXTENSION}", stamp(time))
}

/// A time as the first part of a name: milliseconds, with as many digits until the year 2286.
fn stamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:013}", since.as_millis())
}
