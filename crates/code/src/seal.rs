//! What says that a file is the one that was found whole, without reading it.
//!
//! The system notes a file's change time at every write and every change of its name or rights, and no program can set it.
//! So a file with the same number, size and change time holds what it held. Two things that does not tell: a change within
//! the same tick of the clock, so a seal is noted only when the last change is some ticks ago; and what a crash of the
//! machine left of it, so a seal holds until the machine starts anew.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// How long ago a file's last change must be: many ticks of the slowest clock that systems stamp files with.
pub(crate) const SETTLED: Duration = Duration::from_millis(100);

/// Linux's name for the time from one start to the next. Elsewhere nothing is sealed.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A file as it is now.
pub(crate) struct Seal {
    text: String,
    changed: Duration,
}

impl Seal {
    /// None when the system does not tell enough.
    pub(crate) fn of(file: &File) -> Option<Self> {
        let mut text = fs::read_to_string(BOOT).ok()?;
        let metadata = file.metadata().ok()?;
        let changed = Duration::new(u64::try_from(metadata.ctime()).ok()?, u32::try_from(metadata.ctime_nsec()).ok()?);
        let (device, inode, size) = (metadata.dev(), metadata.ino(), metadata.size());
        write!(text, "{device} {inode} {size} {}", changed.as_nanos()).ok()?;
        Some(Self { text, changed })
    }

    /// Whether the note at `path` is of this very file, and nothing has changed since.
    pub(crate) fn is_noted(&self, path: &Path) -> bool {
        fs::read_to_string(path).is_ok_and(|noted| noted == self.text)
    }

    /// Notes at `path`, in `folder`, that the file was found whole as it was when the seal was taken, unless its last change
    /// is too recent to tell it from one that follows. A note that cannot be written costs time, no more.
    pub(crate) fn note(&self, folder: &Path, path: &Path) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        if now < self.changed + SETTLED {
            return;
        }
        let written = NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(self.text.as_bytes())?;
            Ok(file.persist(path)?)
        });
        if let Err(error) = written {
            tracing::debug!("no seal is noted: {}: {error}", path.display());
        }
    }
}
