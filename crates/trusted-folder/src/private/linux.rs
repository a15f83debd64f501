//! A private folder of this user inside a shared one, such as an `emptyDir` of Kubernetes.
//!
//! Others may rename or remove it there, so its path proves nothing. It is opened once, without following a link. Its
//! owner and mode are read from the descriptor, and everything in it is reached through the descriptor. Others can
//! remove it, which costs only the cache.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, open, openat};
use rustix::io::Errno;

/// A folder that is reached through its descriptor.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    descriptor: Arc<OwnedFd>,
    shown: PathBuf,
}

impl Private {
    /// Makes or opens `tenon-<user>` in a folder, and the folders `below` in it.
    ///
    /// # Errors
    ///
    /// An I/O error; `PermissionDenied` with the path of a part that is not a folder, or is another user's, or was open
    /// to others.
    pub(crate) fn open(shared: &Path, below: &[OsString]) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut descriptor = open(shared, flags, Mode::empty())?;
        let mut shown = shared.to_path_buf();
        let first = OsString::from(format!("tenon-{}", rustix::process::geteuid().as_raw()));
        for part in std::iter::once(&first).chain(below) {
            shown.push(part);
            match mkdirat(&descriptor, part, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            descriptor = match openat(&descriptor, part, flags, Mode::empty()) {
                // A symbolic link or a file.
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(denied(&shown, "it is not a folder")),
                opened => opened?,
            };
            close_to_others(&descriptor, &shown)?;
        }
        let private = Self { descriptor: Arc::new(descriptor), shown };
        private.check_path()?;
        Ok(private)
    }

    /// Returns a path to this very folder, valid while the folder is open here (`proc_pid_fd(5)`).
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    /// Returns its path for messages.
    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Checks that the system supports such paths.
    fn check_path(&self) -> io::Result<()> {
        let (opened, found) = (fstat(&*self.descriptor)?, std::fs::metadata(self.path())?);
        if (opened.st_dev, opened.st_ino) == (found.dev(), found.ino()) {
            return Ok(());
        }
        Err(denied(&self.shown, "it cannot be reached through its descriptor, because /proc is not mounted"))
    }
}

/// Checks that a folder is this user's and that nobody else could write to it, then closes it to others.
fn close_to_others(folder: &OwnedFd, shown: &Path) -> io::Result<()> {
    let found = fstat(folder)?;
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(denied(shown, &format!("it belongs to user {}", found.st_uid)));
    }
    // Another user with write access may have planted code.
    if found.st_mode & 0o022 != 0 {
        return Err(denied(shown, "others may write to it; remove it"));
    }
    if found.st_mode & 0o055 != 0 {
        fchmod(folder, Mode::RWXU)?;
    }
    Ok(())
}

fn denied(folder: &Path, reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: {reason}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;
    use crate::another_user::{self, USER};
    use crate::folder::Folder;

    const GROUP: u32 = USER + 1;

    /// Runs `work` on a thread of another user, in one group. None when this process cannot change its user.
    fn as_another_user<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
        if !another_user::is_possible() {
            return None;
        }
        let become_another = || {
            // SAFETY: the system calls change the rights of this thread only (`setresuid(2)`, C library/kernel
            // differences), and the thread ends afterwards.
            let left = unsafe {
                libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>())
                    | libc::syscall(libc::SYS_setresgid, GROUP, GROUP, GROUP)
                    | libc::syscall(libc::SYS_setresuid, USER, USER, USER)
            };
            assert_eq!(left, 0, "{}", io::Error::last_os_error());
        };
        let result = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    become_another();
                    work()
                })
                .join()
        });
        Some(result.unwrap())
    }

    /// Makes a folder of root's, like a volume of Kubernetes, below one that everybody may enter.
    fn volume(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let volume = root.path().join("volume");
        fs::create_dir(&volume).unwrap();
        fs::set_permissions(root.path(), Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&volume, Permissions::from_mode(mode)).unwrap();
        (root, volume)
    }

    #[test]
    fn a_volume_that_others_may_write_to_gets_a_private_folder() {
        for (mode, group) in [(0o777, None), (0o2775, Some(GROUP)), (0o1777, None)] {
            let (_root, volume) = volume(mode);
            let _ = chown(&volume, None, group);
            fs::set_permissions(&volume, Permissions::from_mode(mode)).unwrap();
            let below = volume.join("code/deep");
            let Some(()) = as_another_user(|| {
                let folder = Folder::open(&volume).unwrap();
                assert!(!folder.is_read_only());
                folder.write("a.bin", b"content").unwrap();
                folder.link("a.bin", "b.bin").unwrap();
                assert!(folder.holds("a.bin") && folder.read("b.bin").is_some());
                folder.prune("bin", 1);
                assert_eq!([folder.holds("a.bin"), folder.holds("b.bin")].iter().filter(|held| **held).count(), 1);
                // In /tmp, others cannot rename foreign files, so no private folder is needed on the way.
                if mode != 0o1777 {
                    Folder::open(&below).unwrap().write("c.bin", b"content").unwrap();
                }
            }) else {
                return;
            };
            let made = fs::metadata(volume.join(format!("tenon-{USER}"))).unwrap();
            assert_eq!((made.uid(), made.mode() & 0o777), (USER, 0o700));
            assert_eq!(mode != 0o1777, volume.join(format!("tenon-{USER}/code/deep/c.bin")).exists());
        }
    }

    /// Another user renames the folder and puts one of their own in its place.
    #[test]
    fn a_folder_that_is_replaced_while_it_is_open_is_not_followed() {
        let (_root, volume) = volume(0o777);
        as_another_user(|| {
            let folder = Folder::open(&volume).unwrap();
            folder.write("a.bin", b"content").unwrap();
            let path = volume.join(format!("tenon-{USER}"));
            fs::rename(&path, volume.join("moved")).unwrap();
            fs::create_dir(&path).unwrap();
            fs::write(path.join("a.bin"), b"foreign").unwrap();
            assert_eq!(folder.read("a.bin").as_deref(), Some(&b"content"[..]));
        });
    }

    #[test]
    fn what_another_user_can_have_put_there_is_refused() {
        let (_root, volume) = volume(0o777);
        let (path, other) = (volume.join(format!("tenon-{USER}")), volume.join("other"));
        let refusal = || as_another_user(|| Folder::open(&volume).map(drop).unwrap_err().to_string());
        let own = |mode| {
            fs::create_dir(&path).unwrap();
            let _ = chown(&path, Some(USER), Some(GROUP));
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        };
        own(0o700);
        fs::rename(&path, &other).unwrap();
        symlink(&other, &path).unwrap();
        let Some(link) = refusal() else { return };
        assert!(link.ends_with(&format!("tenon-{USER}: it is not a folder")), "{link}");
        fs::remove_file(&path).unwrap();

        fs::write(&path, "").unwrap();
        assert!(refusal().unwrap().ends_with("it is not a folder"));
        fs::remove_file(&path).unwrap();

        for mode in [0o770, 0o702, 0o2730] {
            own(mode);
            assert!(refusal().unwrap().contains("others may write to it"));
            fs::remove_dir(&path).unwrap();
        }
        own(0o755);
        chown(&path, Some(USER + 1), None).unwrap();
        assert!(refusal().unwrap().ends_with(&format!("it belongs to user {}", USER + 1)));
        chown(&path, Some(0), None).unwrap();
        assert!(refusal().unwrap().ends_with("it belongs to user 0"));
        chown(&path, Some(USER), None).unwrap();
        assert!(as_another_user(|| Folder::open(&volume).is_ok()).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);

        // The volume itself must be root's, because its owner could replace its content under any mode.
        chown(&volume, Some(USER + 1), None).unwrap();
        assert!(refusal().unwrap().contains("it is not a folder of this user or root"));
    }

    /// The cache in a container image: root has made it, and others may only read it.
    #[test]
    fn a_folder_of_roots_is_read_by_everybody_and_written_by_nobody_else() {
        let (_root, folder) = volume(0o755);
        let name = |name: &str| folder.join(name);
        let made = Folder::open(&folder).unwrap();
        for file in ["a.bin", "open.bin", "foreign.bin"] {
            made.write(file, b"content").unwrap();
            for each in [file.to_string(), format!("{file}.sha256")] {
                fs::set_permissions(name(&each), Permissions::from_mode(0o644)).unwrap();
            }
        }
        fs::set_permissions(name("open.bin"), Permissions::from_mode(0o664)).unwrap();
        let _ = chown(name("foreign.bin"), Some(USER + 1), None);
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let Some(()) = as_another_user(|| {
            let opened = Folder::open(&folder).unwrap();
            assert!(opened.is_read_only());
            assert!(opened.holds("a.bin"));
            assert_eq!(opened.read("a.bin").as_deref(), Some(&b"content"[..]));
            for other in ["open.bin", "foreign.bin"] {
                assert!(!opened.holds(other) && opened.read(other).is_none(), "{other}");
            }
            assert!(opened.write("b.bin", b"content").is_err());
        }) else {
            return;
        };
        chown(&folder, Some(USER + 1), None).unwrap();
        assert!(as_another_user(|| Folder::open(&folder).is_err()).unwrap());
    }
}
