//! A folder of files that only this user, root and this program can write.
//!
//! It holds machine code, and loading machine code means running it. So a file is trusted only if
//!
//! - the folder and the file belong to this user or to root, and nobody else may write to them,
//! - nobody else can put another folder in its place (`system`), or the folder is reached through its descriptor
//!   (`private`), and
//! - its digest equals the digest recorded when it was written. A damaged file is treated as missing.
//!
//! A folder that this user cannot write to, such as a container image's, is read only.
//!
//! The folder keeps attackers out. The digest only finds damage, because anyone who could write code could also write
//! its digest. So a verified file is not read again until it changes or the machine restarts (`seal`).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::private::Private;
use crate::seal::Seal;
use crate::system::{self, Opened, is_trusted};

/// Extension of a file's recorded digest.
const DIGEST: &str = "sha256";

/// Extension of the record that a file was verified.
const SEAL: &str = "seal";

/// Prefix of files that are being written, and the age after which such a file was left behind by a killed process.
const PARTIAL: &str = ".tmp";
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes of a file that are read at once to check it.
const PIECE: usize = 256 * 1024;

/// A block of zeros, which a file system need not store.
static ZEROS: [u8; 4096] = [0; 4096];

/// A folder that nobody but this user and root can write to.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// Set when the folder is reached through a descriptor; keeps it open.
    private: Option<Private>,
    is_read_only: bool,
}

impl Folder {
    /// Makes the folder. Refuses one that another user owns, may write to or could replace. In or below a shared folder
    /// of root's, this user gets a private one: `tenon-<user>`.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or another user may write to it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let Opened { path, private, is_read_only } = system::open(path)?;
        Ok(Self { path, private, is_read_only })
    }

    /// Returns whether files can only be read, because the folder is root's or its file system is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns the path of a file in the folder, which need not exist. It is valid while the folder lives.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the path of a file for messages.
    #[must_use]
    pub fn shown(&self, name: &str) -> PathBuf {
        self.private.as_ref().map_or(&*self.path, Private::shown).join(name)
    }

    /// Opens a file that only this user and root can write to.
    fn opened(&self, name: &str) -> Option<File> {
        let file = File::open(self.file(name)).ok()?;
        is_trusted(&file).ok()?.then_some(file)
    }

    /// Reads a file. None when there is no such file, or it cannot be trusted.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        self.opened(name)?.read_to_end(&mut content).ok()?;
        self.is_as_noted(name, &Sha256::digest(&content)).then_some(content)
    }

    /// Reports whether a file has a name with this end. It may be one that cannot be trusted.
    #[must_use]
    pub fn has_name_with(&self, end: &str) -> bool {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| name.as_encoded_bytes().ends_with(end.as_bytes()))
    }

    /// Returns whether there is a file that can be trusted, for a caller that maps it next. The file is read piece by
    /// piece, unless an earlier call has verified it and it has not changed since.
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        let Some(mut file) = self.opened(name) else { return false };
        let seal = Seal::of(&file);
        if seal.as_ref().is_some_and(|seal| seal.is_noted(&self.seal(name))) {
            self.mark_used(name);
            return true;
        }
        let whole = digest(&mut file).is_ok_and(|digest| self.is_as_noted(name, &digest));
        if whole
            && !self.is_read_only
            && let Some(seal) = seal
        {
            seal.note(&self.path, &self.seal(name));
        }
        whole
    }

    fn is_as_noted(&self, name: &str, digest: &[u8]) -> bool {
        let Ok(noted) = fs::read_to_string(self.note(name)) else { return false };
        if hex::encode(digest) != noted {
            tracing::warn!("a damaged file will be rebuilt: {}", self.shown(name).display());
            return false;
        }
        self.mark_used(name);
        true
    }

    /// Marks a file as used, so that it is removed last. The time is kept on its digest, because touching the file
    /// breaks its seal.
    pub fn mark_used(&self, name: &str) {
        let note = File::options().write(true).open(self.note(name));
        let _ = note.and_then(|note| note.set_modified(SystemTime::now()));
    }

    /// Writes a file. It is written under another name first, so that a reader sees all of it or nothing. Blocks of zeros
    /// take no room on the disk, because a memory's image is mostly zeros.
    ///
    /// # Errors
    ///
    /// An I/O error; `ReadOnlyFilesystem` when the folder can only be read.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        if self.is_read_only {
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the folder is read-only"));
        }
        let digest = hex::encode(Sha256::digest(content));
        for (path, content) in [(self.file(name), content), (self.note(name), digest.as_bytes())] {
            let file = tempfile::Builder::new().prefix(PARTIAL).tempfile_in(&self.path)?;
            write_sparse(file.as_file(), content)?;
            system::place(file, &path)?;
        }
        Ok(())
    }

    /// Writes a file that checks itself, without a digest beside it. Only this user may read it. It has no name or
    /// another one until it is whole, so that a reader sees all of it or nothing.
    ///
    /// # Errors
    ///
    /// As [`Folder::write`].
    pub fn write_alone(&self, name: &str, content: &[u8]) -> io::Result<()> {
        if self.is_read_only {
            return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the folder is read-only"));
        }
        #[cfg(target_os = "linux")]
        if system::write_unnamed(&self.path, &self.file(name), content)? {
            return Ok(());
        }
        let mut file = tempfile::Builder::new().prefix(PARTIAL).tempfile_in(&self.path)?;
        file.write_all(content)?;
        system::place(file, &self.file(name))
    }

    /// Opens a file of [`Folder::write_alone`] to read it. None when there is no such file, or it cannot be trusted.
    #[must_use]
    pub fn open_alone(&self, name: &str) -> Option<File> {
        self.opened(name)
    }

    /// Removes a file of [`Folder::write_alone`].
    ///
    /// # Errors
    ///
    /// An I/O error; none when there is no such file.
    pub fn remove_alone(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Lists the files with an extension, with their sizes in bytes, sorted by name. Removes abandoned partial files.
    ///
    /// # Errors
    ///
    /// An I/O error, when the folder cannot be read.
    pub fn list(&self, extension: &str) -> io::Result<Vec<(String, u64)>> {
        if !self.is_read_only {
            self.remove_partial();
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_file() && Path::new(&name).extension().is_some_and(|own| own == extension) {
                files.push((name, metadata.len()));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Gives a file a second name, and replaces the file that had that name.
    ///
    /// # Errors
    ///
    /// An I/O error.
    pub fn link(&self, from: &str, to: &str) -> io::Result<()> {
        for (from, to) in [(self.file(from), self.file(to)), (self.note(from), self.note(to))] {
            let _ = fs::remove_file(&to);
            fs::hard_link(from, to)?;
        }
        Ok(())
    }

    /// Keeps the `keep` most recently used files with this extension. Removes the others and abandoned partial files. A
    /// process that has mapped a removed file keeps it.
    pub fn prune(&self, extension: &str, keep: usize) {
        if self.is_read_only {
            return;
        }
        self.remove_partial();
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                if path.extension()? != extension {
                    return None;
                }
                let note = path.with_extension(format!("{extension}.{DIGEST}"));
                let used = note.metadata().or_else(|_| path.metadata()).ok()?.modified().ok()?;
                Some((used, path))
            })
            .collect();
        files.sort_unstable();
        for (_, path) in files.iter().take(files.len().saturating_sub(keep)) {
            let note = |note| path.with_extension(format!("{extension}.{note}"));
            system::remove(path, [note(DIGEST), note(SEAL)]);
        }
    }

    /// Removes partial files that no process writes any more.
    fn remove_partial(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PARTIAL)) {
            let age = entry.metadata().and_then(|metadata| metadata.modified()).map(|written| written.elapsed());
            if matches!(age, Ok(Ok(age)) if age > LEFT_BEHIND) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn note(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.{DIGEST}"))
    }

    fn seal(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.{SEAL}"))
    }
}

/// Writes the content of a new file, and leaves out blocks of zeros.
fn write_sparse(file: &File, content: &[u8]) -> io::Result<()> {
    let is_zeros = |block: &[u8]| block == &ZEROS[..block.len()];
    let blocks: Vec<&[u8]> = content.chunks(ZEROS.len()).collect();
    file.set_len(content.len() as u64)?;
    let mut start = 0;
    for run in blocks.chunk_by(|one, other| is_zeros(one) == is_zeros(other)) {
        let end = start + run.iter().map(|block| block.len()).sum::<usize>();
        if !run.first().is_some_and(|block| is_zeros(block)) {
            system::write_all_at(file, &content[start..end], start as u64)?;
        }
        start = end;
    }
    Ok(())
}

/// Computes the digest of a reader's bytes from its current position, piece by piece, because a large buffer would stay in the
/// process.
///
/// # Errors
///
/// An I/O error, when the file cannot be read.
pub fn digest(file: &mut impl Read) -> io::Result<[u8; 32]> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(digest.finalize().into()),
            Ok(length) => digest.update(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_tampered_with_counts_as_none() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(&parent.path().join("code")).unwrap();
        assert_eq!(folder.read("a.bin"), None);
        assert!(!folder.has_name_with("a.bin"));
        folder.write("a.bin", b"content").unwrap();
        assert!(folder.has_name_with("a.bin") && folder.has_name_with(".bin") && !folder.has_name_with("b.bin"));
        assert_eq!(folder.read("a.bin").as_deref(), Some(&b"content"[..]));
        assert!(folder.holds("a.bin"));
        folder.link("a.bin", "b.bin").unwrap();
        assert_eq!(folder.read("b.bin").as_deref(), Some(&b"content"[..]));
        fs::write(folder.file("a.bin"), b"cOntent").unwrap();
        assert_eq!(folder.read("a.bin"), None);
        assert!(!folder.holds("a.bin") && !folder.holds("gone.bin"));
    }

    /// A seal saves reading a file, but only until the file is touched.
    #[test]
    fn a_file_found_whole_is_read_again_once_it_was_touched() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path()).unwrap();
        folder.write("a.bin", b"content").unwrap();
        assert!(folder.holds("a.bin"));
        assert!(!folder.seal("a.bin").exists(), "a change that follows within a tick of the clock could not be seen");
        std::thread::sleep(Duration::from_millis(200));
        assert!(folder.holds("a.bin"));
        if !folder.seal("a.bin").exists() {
            return; // A system without a boot id.
        }
        // With the seal, not even the digest is read.
        fs::write(folder.note("a.bin"), "none").unwrap();
        assert!(folder.holds("a.bin"));
        fs::write(folder.file("a.bin"), b"cOntent").unwrap();
        assert!(!folder.holds("a.bin"));
    }

    #[test]
    fn zeros_take_no_room_and_are_read_as_they_were_written() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path()).unwrap();
        let mut content = vec![0; 1 << 20];
        for at in [5_000, 500_000, (1 << 20) - 1] {
            content[at] = 7;
        }
        for (length, blocks) in [(1 << 20, 3), ((1 << 20) - 1, 2), (4_097, 0), (1, 0), (0, 0_u64)] {
            folder.write("a.bin", &content[..length]).unwrap();
            assert!(folder.read("a.bin").unwrap() == content[..length], "{length}");
            assert!(folder.holds("a.bin"));
            #[cfg(unix)]
            {
                // A file system may have larger blocks, or no holes.
                let metadata = fs::metadata(folder.file("a.bin")).unwrap();
                let used = std::os::unix::fs::MetadataExt::blocks(&metadata) * 512;
                assert!(used <= blocks * 65_536 || used >= length as u64, "{used} for {length}");
            }
        }
    }

    #[test]
    fn what_was_not_used_for_longest_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path()).unwrap();
        for (age, name) in [(30, "a.bin"), (20, "b.bin"), (10, "c.bin"), (40, "d.other")] {
            folder.write(name, b"content").unwrap();
            let then = SystemTime::now() - Duration::from_secs(age);
            File::options().write(true).open(folder.note(name)).unwrap().set_modified(then).unwrap();
        }
        folder.read("a.bin").unwrap();
        folder.prune("bin", 2);
        let left = |name: &str| folder.read(name).is_some();
        assert!(left("a.bin") && left("c.bin") && left("d.other"));
        assert!(!left("b.bin") && !folder.note("b.bin").exists());
    }

    #[test]
    fn what_a_killed_process_left_half_written_is_removed_after_a_day() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::open(parent.path()).unwrap();
        for (hours, name) in [(25, ".tmpOld"), (23, ".tmpNew"), (25, "a.other")] {
            let then = SystemTime::now() - Duration::from_secs(hours * 60 * 60);
            File::create(folder.file(name)).unwrap().set_modified(then).unwrap();
        }
        folder.prune("bin", 1);
        let left = |name: &str| folder.file(name).exists();
        assert!(!left(".tmpOld") && left(".tmpNew") && left("a.other"));
    }
}
