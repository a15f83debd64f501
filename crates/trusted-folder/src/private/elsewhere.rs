//! Refuses a shared folder, because its path proves nothing and no other way leads to a folder inside it.

use std::path::Path;

/// A folder that is reached through its descriptor: there is none.
#[derive(Clone, Debug)]
pub(crate) enum Private {}

impl Private {
    /// Refuses the shared folder.
    ///
    /// # Errors
    ///
    /// Always: `PermissionDenied` with the folder's path.
    #[cfg(unix)]
    pub(crate) fn open(shared: &Path, _: &[std::ffi::OsString]) -> std::io::Result<Self> {
        let reason = "others may write to it; choose a folder below your own";
        Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, format!("{}: {reason}", shared.display())))
    }

    /// Returns its path.
    #[cfg(unix)]
    pub(crate) fn path(&self) -> std::path::PathBuf {
        match *self {}
    }

    /// Returns its path for messages.
    pub(crate) fn shown(&self) -> &Path {
        match *self {}
    }
}
