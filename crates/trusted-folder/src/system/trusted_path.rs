//! The rule for trusted paths: nobody else can put another folder in its place.
//!
//! A folder of mode 0700 protects its files only while nobody can rename it. So each folder above it, and each symbolic
//! link on the way, must be controlled by this user or the administrator. OpenSSH requires the same of
//! `authorized_keys` (`sshd_config(5)`, `StrictModes`).

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Symbolic links that are followed on one path; the same limit as Linux's.
const MAX_LINKS: usize = 40;

/// Mode bits: writable by the group or by others, and "only owners rename and remove entries".
const WRITABLE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// A path without symbolic links.
pub(crate) struct Resolved {
    /// The whole path, or the first shared folder on the way.
    pub(crate) folder: PathBuf,
    /// The parts below a shared folder, which is root's and lets others rename and remove, like a volume of Kubernetes.
    pub(crate) below: Option<Vec<OsString>>,
}

/// Resolves symbolic links, and checks each folder on the way, up to a shared one. The last parts may be missing,
/// because they will be made in a checked folder.
///
/// # Errors
///
/// An I/O error; `PermissionDenied` with the folder's path when another user could replace its content.
pub(crate) fn resolve(path: &Path) -> io::Result<Resolved> {
    let absolute = std::path::absolute(path)?;
    // The remaining parts, the next one at the end.
    let mut left: Vec<OsString> = Vec::new();
    push(&mut left, &absolute);
    let mut resolved = PathBuf::from("/");
    let mut links = 0;
    check(&resolved, &fs::symlink_metadata(&resolved)?)?;
    while let Some(part) = left.pop() {
        if part == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(&part);
        let metadata = match fs::symlink_metadata(&next) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                left.push(part);
                resolved.extend(left.into_iter().rev());
                return Ok(Resolved { folder: resolved, below: None });
            }
            Err(error) => return Err(error),
        };
        if metadata.is_symlink() {
            check_owner(&next, &metadata)?;
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error()));
            }
            let target = fs::read_link(&next)?;
            if target.is_absolute() {
                resolved = PathBuf::from("/");
            }
            push(&mut left, &target);
            continue;
        }
        resolved = next;
        // The folder itself has a stricter rule of its own.
        if !left.is_empty() {
            // The target of `..` is unknown from a folder that others may replace.
            if is_shared(&metadata) && metadata.mode() & STICKY == 0 && left.iter().all(|part| part != "..") {
                left.reverse();
                return Ok(Resolved { folder: resolved, below: Some(left) });
            }
            check(&resolved, &metadata)?;
        }
    }
    Ok(Resolved { folder: resolved, below: None })
}

/// Returns whether a folder is root's, this user is not root, and others may write to it.
pub(crate) fn is_shared(metadata: &Metadata) -> bool {
    metadata.is_dir() && metadata.uid() == 0 && !rustix::process::geteuid().is_root() && metadata.mode() & WRITABLE != 0
}

fn push(left: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    left.extend(parts.map(|part| part.as_os_str().to_owned()));
}

/// Checks that nobody else can rename or remove entries of a folder, which must be this user's or the administrator's.
fn check(folder: &Path, metadata: &Metadata) -> io::Result<()> {
    check_owner(folder, metadata)?;
    if metadata.is_dir() && metadata.mode() & WRITABLE != 0 && metadata.mode() & STICKY == 0 {
        return Err(denied(folder, "others may write to it; chmod go-w it, or choose another folder"));
    }
    Ok(())
}

fn check_owner(path: &Path, metadata: &Metadata) -> io::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() == own || metadata.uid() == 0 {
        return Ok(());
    }
    Err(denied(path, &format!("it belongs to user {}; choose a folder below your own", metadata.uid())))
}

fn denied(path: &Path, reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;
    use crate::another_user::{self, USER};

    fn refusal(path: &Path) -> String {
        let error = resolve(path).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        error.to_string()
    }

    fn trusted(path: &Path) -> PathBuf {
        let resolved = resolve(path).unwrap();
        assert!(resolved.below.is_none());
        resolved.folder
    }

    #[test]
    fn a_folder_below_one_that_others_can_write_to_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let (shared, inner) = (root.path().join("shared"), root.path().join("shared/own/cache"));
        fs::create_dir_all(&inner).unwrap();
        for mode in [0o777, 0o775, 0o757] {
            fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
            for path in [inner.clone(), shared.join("missing/cache")] {
                let refusal = refusal(&path);
                assert!(refusal.starts_with(&format!("{}: others may write", shared.display())), "{refusal}");
            }
        }
        // As in /tmp, others cannot rename foreign files.
        fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(trusted(&inner), inner);
        fs::set_permissions(&shared, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(trusted(&shared.join("missing/cache")), shared.join("missing/cache"));
    }

    #[test]
    fn a_symbolic_link_is_followed_where_nobody_else_can_replace_it() {
        let root = tempfile::tempdir().unwrap();
        let (real, open) = (root.path().join("real"), root.path().join("open"));
        fs::create_dir_all(real.join("cache")).unwrap();
        fs::create_dir(&open).unwrap();
        symlink(&real, root.path().join("link")).unwrap();
        symlink("../real", open.join("link")).unwrap();
        symlink("loop", root.path().join("loop")).unwrap();
        assert_eq!(trusted(&root.path().join("link/cache")), real.join("cache"));
        assert_eq!(trusted(&open.join("link/cache/../cache")), real.join("cache"));
        assert!(resolve(&root.path().join("loop")).is_err());
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        assert!(refusal(&open.join("link/cache")).starts_with(&format!("{}: others", open.display())));
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        if !another_user::is_possible() {
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let (foreign, link) = (root.path().join("foreign"), root.path().join("link"));
        fs::create_dir_all(foreign.join("cache")).unwrap();
        chown(&foreign, Some(USER), None).unwrap();
        assert!(refusal(&foreign.join("cache")).contains("belongs to user 12345"));
        fs::create_dir(root.path().join("own")).unwrap();
        symlink("own", &link).unwrap();
        assert!(resolve(&link).is_ok());
        std::os::unix::fs::lchown(&link, Some(USER), None).unwrap();
        assert!(refusal(&link).contains("belongs to user 12345"));
    }
}
