//! Identifier of the file and time of change, which programs do not set by accident.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_BASIC_INFO, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS, FileBasicInfo, FileIdInfo, GetFileInformationByHandleEx,
};

/// The identity of a file's content. Another file, and one that was written to, has another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    volume: u64,
    id: [u8; 16],
    size: u64,
    changed: i64,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let (mut id, mut times) = (FILE_ID_INFO::default(), FILE_BASIC_INFO::default());
        // SAFETY: both structures are those of their class.
        unsafe {
            read(&file, FileIdInfo, &mut id)?;
            read(&file, FileBasicInfo, &mut times)?;
        }
        let size = file.metadata()?.len();
        Ok(Self { volume: id.VolumeSerialNumber, id: id.FileId.Identifier, size, changed: times.ChangeTime })
    }
}

/// Reads information of one class.
///
/// # Safety
///
/// `T` is the structure of the class, for which any bytes are valid.
unsafe fn read<T>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS, into: &mut T) -> io::Result<()> {
    let (place, bytes) = (std::ptr::from_mut(into).cast::<c_void>(), size_of::<T>() as u32);
    // SAFETY: the place has this many bytes, and the caller promises the rest.
    match unsafe { GetFileInformationByHandleEx(file.as_raw_handle(), class, place, bytes) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
