//! Rights to a folder and to its files, and how files are written and removed: what differs between systems.

#[cfg(windows)]
mod acl;
#[cfg(unix)]
mod trusted_path;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub(crate) use unix::write_unnamed;
#[cfg(unix)]
pub(crate) use unix::{is_trusted, open, place, remove, write_all_at};
#[cfg(windows)]
pub(crate) use windows::{is_trusted, open, place, remove, write_all_at};

use crate::private::Private;

/// A folder that nobody but this user and the administrator can write to or replace.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    /// Set when the folder is reached through a descriptor; keeps it open.
    pub(crate) private: Option<Private>,
    pub(crate) is_read_only: bool,
}
