//! A trusted folder: files that only this user, root and this program can write, such as machine code.
//!
//! [`Folder`] opens the folder, and writes, finds and removes its files. It does not know their content. The parts that differ
//! between systems have one file for each.

#[cfg(all(test, unix))]
mod another_user;
mod folder;
mod private;
mod seal;
mod system;

pub use folder::{Folder, digest};
