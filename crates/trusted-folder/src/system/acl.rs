//! Reads the access control list of a file or folder.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{GENERIC_ALL, GENERIC_WRITE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, ConvertStringSidToSidW,
    GetSecurityInfo, SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, EqualSid, GetAce, GetTokenInformation,
    INHERIT_ONLY_ACE, IsWellKnownSid, OWNER_SECURITY_INFORMATION, PSID, TOKEN_QUERY, TOKEN_USER, TokenUser,
    WinBuiltinAdministratorsSid, WinCreatorOwnerRightsSid, WinLocalSystemSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_APPEND_DATA, FILE_DELETE_CHILD, FILE_WRITE_DATA, WRITE_DAC, WRITE_OWNER,
};
use windows_sys::Win32::System::SystemServices::{
    ACCESS_ALLOWED_ACE_TYPE, ACCESS_ALLOWED_CALLBACK_ACE_TYPE, ACCESS_DENIED_ACE_TYPE, ACCESS_DENIED_CALLBACK_ACE_TYPE,
    ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE, ACCESS_DENIED_OBJECT_ACE_TYPE,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Rights to write a file, or to add one to a folder.
pub(super) const WRITE: u32 = FILE_WRITE_DATA | FILE_APPEND_DATA | GENERIC_WRITE;

/// Rights to remove or rename a file, a folder or its entries, and those to take such rights.
pub(super) const REPLACE: u32 = DELETE | FILE_DELETE_CHILD | WRITE_DAC | WRITE_OWNER | GENERIC_ALL;

/// Owner of the system's own folders (`NT SERVICE\TrustedInstaller`).
const INSTALLER: &str = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464";

/// Bytes of a token's user: the structure, and a security identifier of at most 68 bytes.
const USER_WORDS: usize = 16;

/// The accounts that may write: this user, the system, its installer, and the administrators.
pub(super) struct Trusted {
    /// A `TOKEN_USER`, and the identifier that it points to.
    user: Box<[u64; USER_WORDS]>,
    installer: Local,
}

/// Memory that the system has allocated.
struct Local(*mut c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: the memory is from the system's function, and is freed once.
        unsafe { LocalFree(self.0) };
    }
}

impl Trusted {
    /// Reads the user of this process.
    pub(super) fn new() -> io::Result<Self> {
        let mut token = ptr::null_mut();
        // SAFETY: the handle of this process is always valid, and the result is written to `token`.
        succeeded(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
        // SAFETY: the handle was just opened, and belongs to nobody else.
        let token = unsafe { OwnedHandle::from_raw_handle(token) };
        let mut user = Box::new([0_u64; USER_WORDS]);
        let (bytes, mut used) = (size_of_val(&*user) as u32, 0);
        // SAFETY: the buffer has this many bytes, and is aligned for the structure.
        succeeded(unsafe {
            GetTokenInformation(token.as_raw_handle(), TokenUser, user.as_mut_ptr().cast(), bytes, &raw mut used)
        })?;
        let text = wide(INSTALLER);
        let mut installer = ptr::null_mut();
        // SAFETY: the text ends with zero.
        succeeded(unsafe { ConvertStringSidToSidW(text.as_ptr(), &raw mut installer) })?;
        Ok(Self { user, installer: Local(installer) })
    }

    fn user(&self) -> PSID {
        // SAFETY: `new` has filled the buffer with this structure.
        unsafe { (*self.user.as_ptr().cast::<TOKEN_USER>()).User.Sid }
    }

    /// Reports whether an identifier is one of these accounts.
    ///
    /// # Safety
    ///
    /// It points to a valid security identifier.
    unsafe fn has(&self, account: PSID) -> bool {
        // SAFETY: by the caller's promise `account` is a valid identifier; the others are valid while this value lives.
        unsafe {
            EqualSid(account, self.user()) != 0
                || EqualSid(account, self.installer.0) != 0
                || [WinLocalSystemSid, WinBuiltinAdministratorsSid]
                    .iter()
                    .any(|known| IsWellKnownSid(account, *known) != 0)
        }
    }
}

/// A security descriptor.
pub(super) struct Descriptor(Local);

impl Descriptor {
    /// Makes the one of a new folder: this user, the system and the administrators have all rights, also to what is made in it.
    pub(super) fn of_own(trusted: &Trusted) -> io::Result<Self> {
        // SAFETY: the identifier is valid.
        let user = unsafe { shown(trusted.user()) }?;
        let text = wide(&format!("D:P(A;OICI;FA;;;{user})(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"));
        let mut descriptor = ptr::null_mut();
        // SAFETY: the text ends with zero.
        succeeded(unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &raw mut descriptor,
                ptr::null_mut(),
            )
        })?;
        Ok(Self(Local(descriptor)))
    }

    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.0.0
    }
}

/// Checks that nobody but the trusted accounts owns a file, or has one of these rights to it.
///
/// # Errors
///
/// `PermissionDenied`, with the account; an I/O error when the list cannot be read.
pub(super) fn refuse_others(file: &File, rights: u32, trusted: &Trusted) -> io::Result<()> {
    let (mut owner, mut list, mut descriptor) = (ptr::null_mut(), ptr::null_mut::<ACL>(), ptr::null_mut());
    // SAFETY: the handle is open, and the results are written to this function's variables.
    let failed = unsafe {
        GetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
            &raw mut owner,
            ptr::null_mut(),
            &raw mut list,
            ptr::null_mut(),
            &raw mut descriptor,
        )
    };
    if failed != 0 {
        return Err(io::Error::from_raw_os_error(failed.cast_signed()));
    }
    let _descriptor = Local(descriptor);
    // A file system without rights, such as FAT, lets everybody write.
    if owner.is_null() || list.is_null() {
        return Err(denied("its file system has no access rights; choose a folder on NTFS"));
    }
    // SAFETY: the owner is in the descriptor, which lives.
    if !unsafe { trusted.has(owner) } {
        // SAFETY: the owner is a valid identifier in the descriptor, which is freed when this function returns.
        let owner = unsafe { shown(owner) }?;
        return Err(denied(&format!("it belongs to {owner}; choose a folder below your own")));
    }
    // SAFETY: the list is in the descriptor, which lives.
    let entries = u32::from(unsafe { (*list).AceCount });
    for index in 0..entries {
        let mut entry = ptr::null_mut();
        // SAFETY: the list is valid and has this entry.
        succeeded(unsafe { GetAce(list, index, &raw mut entry) })?;
        // SAFETY: the entry begins with its header.
        let header = unsafe { entry.cast::<ACE_HEADER>().read() };
        match u32::from(header.AceType) {
            ACCESS_ALLOWED_ACE_TYPE | ACCESS_ALLOWED_CALLBACK_ACE_TYPE => {}
            ACCESS_DENIED_ACE_TYPE
            | ACCESS_DENIED_CALLBACK_ACE_TYPE
            | ACCESS_DENIED_OBJECT_ACE_TYPE
            | ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE => continue,
            other => return Err(denied(&format!("an entry of its access control list has the unknown type {other}"))),
        }
        // It is for files that are made later, which are checked themselves.
        if u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0 {
            continue;
        }
        let allowed = entry.cast::<ACCESS_ALLOWED_ACE>();
        // SAFETY: entries of both types begin with this structure, and the identifier begins at its last member.
        let (mask, account) = unsafe { ((*allowed).Mask, (&raw mut (*allowed).SidStart).cast::<c_void>()) };
        // SAFETY: the identifier is in the descriptor, which lives. The owner has the rights of `OWNER RIGHTS`.
        let is_trusted = unsafe { trusted.has(account) || IsWellKnownSid(account, WinCreatorOwnerRightsSid) != 0 };
        if mask & rights != 0 && !is_trusted {
            // SAFETY: the identifier is that of the entry, in the descriptor, which is freed when this function returns.
            let account = unsafe { shown(account) }?;
            return Err(denied(&format!("{account} may write to it or replace it; choose a folder below your own")));
        }
    }
    Ok(())
}

/// Returns an identifier as text.
///
/// # Safety
///
/// It points to a valid security identifier.
unsafe fn shown(account: PSID) -> io::Result<String> {
    let mut text = ptr::null_mut();
    // SAFETY: by the caller's promise `account` is a valid identifier.
    succeeded(unsafe { ConvertSidToStringSidW(account, &raw mut text) })?;
    let owned = Local(text.cast());
    let mut length = 0;
    // SAFETY: the text ends with zero.
    while unsafe { *text.add(length) } != 0 {
        length += 1;
    }
    // SAFETY: the text has this many units, and lives as long as `owned`.
    let shown = String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(text, length) });
    drop(owned);
    Ok(shown)
}

fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

fn succeeded(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn denied(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}
