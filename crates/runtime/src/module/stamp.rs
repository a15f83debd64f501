//! The identity of a file's content, with one file for each kind of system.

#[cfg(unix)]
#[path = "stamp/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "stamp/windows.rs"]
mod system;

pub(crate) use system::Stamp;
