//! A trusted folder: files that only this user, root and this program can write, such as machine code.
//!
//! [`Folder`] opens the folder, and writes, finds and removes its files. It does not know their content.

mod folder;
mod private;
mod seal;
mod trusted_path;

pub use folder::{Folder, digest};
