//! Records that a file's digest was verified (inode, size, ctime, boot id), so that it is not read again.
//!
//! The system updates a file's change time at every write and every change of its name or rights, and no program can
//! set it. So a file with the same inode, size and change time has the same content, with two exceptions. A second
//! change within the same tick of the clock does not update it. So a seal is written only some ticks after the last
//! change. A crash of the machine may lose writes, so a seal is valid until the machine restarts.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// Minimum age of a file's last change: many ticks of the slowest clock that file systems use.
const SETTLED: Duration = Duration::from_millis(100);

/// File with Linux's boot id. Other systems seal nothing.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// The identity of a file's current content.
pub(crate) struct Seal {
    text: String,
    changed: Duration,
}

impl Seal {
    /// Reads it. None when the system does not report enough.
    pub(crate) fn of(file: &File) -> Option<Self> {
        let mut text = fs::read_to_string(BOOT).ok()?;
        let metadata = file.metadata().ok()?;
        let changed = Duration::new(u64::try_from(metadata.ctime()).ok()?, u32::try_from(metadata.ctime_nsec()).ok()?);
        let (device, inode, size) = (metadata.dev(), metadata.ino(), metadata.size());
        write!(text, "{device} {inode} {size} {}", changed.as_nanos()).ok()?;
        Some(Self { text, changed })
    }

    /// Returns whether the record at `path` belongs to this very file, and nothing has changed since.
    pub(crate) fn is_noted(&self, path: &Path) -> bool {
        fs::read_to_string(path).is_ok_and(|noted| noted == self.text)
    }

    /// Records at `path`, in `folder`, that the file was verified in the state of this seal. Does nothing when the last
    /// change is too recent. A record that cannot be written only costs time.
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
            tracing::debug!("the seal cannot be written: {}: {error}", path.display());
        }
    }
}
