//! Access control lists.
//!
//! A new folder has a list of its own: this user, the system and the administrators, and no inherited entries. A folder that exists
//! is checked when it is opened, and so is each folder above it: an entry for anybody else must not let them write, remove, rename or
//! change rights. A file that is mapped cannot be replaced or removed here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use tempfile::NamedTempFile;
use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
use windows_sys::Win32::Storage::FileSystem::{
    CreateDirectoryW, FILE_ADD_FILE, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES, READ_CONTROL,
};

use super::Opened;
use super::acl::{Descriptor, REPLACE, Trusted, WRITE, refuse_others};
use crate::folder::digest;

/// Links that are followed on one path.
const MAX_LINKS: usize = 40;

/// Makes the folder, and checks it and the folders above it.
///
/// # Errors
///
/// When it cannot be made, or another user may write to it or replace it.
pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let absolute = std::path::absolute(path)?;
    let trusted = Trusted::new()?;
    create(&absolute, &trusted)?;
    check_way(&absolute, &trusted, 0)?;
    let path = absolute.canonicalize()?;
    check_way(&path, &trusted, 0)?;
    let folder = handle(&path, READ_CONTROL | FILE_READ_ATTRIBUTES)?;
    let metadata = folder.metadata()?;
    if !metadata.is_dir() || metadata.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        return Err(denied(&path, "it is not a folder"));
    }
    refuse_others(&folder, WRITE | REPLACE, &trusted).map_err(|error| at(&path, &error))?;
    let is_read_only = handle(&path, FILE_ADD_FILE).is_err();
    Ok(Opened { path, private: None, is_read_only })
}

/// Makes the missing folders, which only this user, the system and the administrators can open.
fn create(path: &Path, trusted: &Trusted) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let descriptor = Descriptor::of_own(trusted)?;
    for folder in missing.into_iter().rev() {
        let name: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
        let attributes = SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: descriptor.as_ptr(),
            bInheritHandle: 0,
        };
        // SAFETY: the name ends with zero, and the descriptor lives.
        if unsafe { CreateDirectoryW(name.as_ptr(), &raw const attributes) } == 0 {
            match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::AlreadyExists => {}
                error => return Err(error),
            }
        }
    }
    Ok(())
}

/// Checks that nobody else can rename, remove or replace a folder, a part of the way to it, or a link on that way.
fn check_way(path: &Path, trusted: &Trusted, links: usize) -> io::Result<()> {
    if links > MAX_LINKS {
        return Err(denied(path, "it has too many links"));
    }
    for folder in path.ancestors() {
        // A drive's prefix without its root names the current folder of the drive.
        if !folder.components().any(|part| part == Component::RootDir) {
            break;
        }
        let checked = handle(folder, READ_CONTROL)?;
        refuse_others(&checked, REPLACE, trusted).map_err(|error| at(folder, &error))?;
        if let (Ok(target), Some(parent)) = (fs::read_link(folder), folder.parent()) {
            check_way(&parent.join(target), trusted, links + 1)?;
        }
    }
    Ok(())
}

/// Opens a folder or a link itself.
fn handle(path: &Path, access: u32) -> io::Result<File> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    OpenOptions::new().access_mode(access).custom_flags(flags).open(path)
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn denied(path: &Path, reason: &str) -> io::Error {
    at(path, &io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

/// Returns whether only this user, the system and the administrators can write to a file.
pub(crate) fn is_trusted(file: &File) -> io::Result<bool> {
    if !file.metadata()?.is_file() {
        return Ok(false);
    }
    match refuse_others(file, WRITE | REPLACE, &Trusted::new()?) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        checked => checked.map(|()| true),
    }
}

/// Writes bytes at an offset.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.seek_write(bytes, offset)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Gives a file that was written its name, and replaces the file that had that name. A file that is mapped stays, which is no error
/// when it has the same content.
pub(crate) fn place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    match file.persist(path) {
        Ok(_) => Ok(()),
        Err(failed) => {
            let mut written = failed.file.reopen()?;
            written.rewind()?;
            let is_same = File::open(path).and_then(|mut there| same(&mut written, &mut there)).unwrap_or(false);
            if is_same { Ok(()) } else { Err(failed.error) }
        }
    }
}

fn same(one: &mut impl Read, other: &mut impl Read) -> io::Result<bool> {
    Ok(digest(one)? == digest(other)?)
}

/// Removes a file and the notes about it. A file that is mapped stays with its notes, until it is not mapped any more.
pub(crate) fn remove(path: &Path, notes: [PathBuf; 2]) {
    if fs::remove_file(path).is_ok() {
        for note in notes {
            let _ = fs::remove_file(note);
        }
    }
}
