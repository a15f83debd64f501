//! Loads a component's code: from disk, with the code of a component that differs only in its state, or from the
//! compiler.
//!
//! ```text
//!  <digest of a component>.image    its memory, and the digest of its shared code
//!  <digest of the rest>.shared      machine code for all components that differ only in their memory
//!  <digest of a component>.cwasm    machine code of one component that shares none
//! ```
//!
//! Each name also has the cache format and the engine's version and configuration. A file that is missing costs time:
//! the next one in this list takes its place, and then the compiler.

mod shared;

pub(crate) use shared::{image_at, state_trailer};
use std::borrow::Cow;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tenon_rewrite::inner_handler;
use tenon_trusted_folder::{Folder, digest};
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::code::Code;
use crate::compile::Snapshot;
use crate::compiler::Compiler;
use crate::image::PAGE;
use crate::machine::Machine;

/// Cache format version; bump it when code generation or validation changes.
pub(crate) const FORMAT_VERSION: u32 = 9;

/// Extensions of a component's code, of its state, and of code that serves components with other states.
const CODE: &str = "cwasm";
const STATE: &str = "image";
const SHARED: &str = "shared";

/// Number of files kept of each extension, beyond one for each component that a server uses. Each save in `tenon dev`
/// makes a state of 2 MB. Each version of Tenon makes shared code of 6 MB. A state marks its shared code as used
/// whenever it is used, so shared code is not removed before the states that need it.
const KEPT: usize = 24;

/// Loads the code of `bytes` from the folder, completes shared code with its state, or compiles it. Errors of the
/// folder are logged and only cost time.
///
/// # Errors
///
/// The limit that the bytes exceed, the compiler's error when they are not a component, or
/// [`OverBound`](crate::OverBound).
pub fn compile(engine: &Engine, bytes: &[u8], folder: Option<&Path>, compiler: &Compiler) -> Result<Code> {
    load_bytes(engine, bytes, folder, 1, compiler)
}

/// Loads the code of a component's file if an earlier call has stored it. `components` are served together. The file is
/// not read into memory, and not at all when the folder has no code of this engine, as at the first start.
///
/// # Errors
///
/// An I/O error, when the file cannot be read.
pub fn cached(engine: &Engine, file: &Path, folder: Option<&Path>, components: usize) -> io::Result<Option<Code>> {
    let mut bytes = opened(file)?;
    let store = Store::open(engine, folder, components);
    if !store.may_hold_code() {
        return Ok(None);
    }
    Ok(store.kept(&digest(&mut bytes)?))
}

/// Does the same as [`cached`] for a component in memory.
#[must_use]
pub fn cached_bytes(engine: &Engine, bytes: &[u8], folder: Option<&Path>, components: usize) -> Option<Code> {
    Store::open(engine, folder, components).kept(&Sha256::digest(bytes))
}

/// Does the same as [`load`] for a component in memory.
///
/// # Errors
///
/// As for [`compile`].
pub fn load_bytes(
    engine: &Engine,
    bytes: &[u8],
    folder: Option<&Path>,
    components: usize,
    compiler: &Compiler,
) -> Result<Code> {
    // The compiler also accepts the text format, and would report an error in that format.
    if !bytes.starts_with(b"\0asm") {
        return Err(wasmtime::Error::msg("it is not WebAssembly"));
    }
    let made = Store::open(engine, folder, components).component(bytes, compiler);
    // Compilation took tens of megabytes, which the allocator would keep for this process.
    tenon_memory::trim();
    made
}

/// Does the same as [`compile`] for a component in a file that [`cached`] does not know. `components` are served together.
///
/// # Errors
///
/// An I/O error, when the file cannot be read; as for [`compile`], when it is not a component.
pub fn load(
    engine: &Engine,
    file: &Path,
    folder: Option<&Path>,
    components: usize,
    compiler: &Compiler,
) -> io::Result<Result<Code>> {
    // One byte beyond the limit shows that the file is too large.
    let mut bytes = Vec::new();
    opened(file)?.take(tenon_screen::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    // Uses the digest of these bytes, because the file may have changed since `cached` read it.
    let made = load_bytes(engine, &bytes, folder, components, compiler);
    drop(bytes);
    tenon_memory::trim();
    Ok(made)
}

/// Opens a regular file. A pipe or a device may have no end.
///
/// # Errors
///
/// An I/O error, when the file cannot be opened or is not a regular one.
pub fn opened(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        // Opening a pipe would wait for its other end.
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.read(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

/// Screens a component and returns the part of it that is served.
pub(crate) fn checked(bytes: &[u8]) -> Result<Cow<'_, [u8]>> {
    tenon_screen::screen(bytes)?;
    Ok(inner_handler(bytes))
}

pub(crate) struct Store<'a> {
    engine: &'a Engine,
    folder: Option<Folder>,
    components: usize,
}

impl<'a> Store<'a> {
    /// Opens a store for code of this engine. Without a folder that can be used, it keeps nothing.
    pub(crate) fn open(engine: &'a Engine, folder: Option<&Path>, components: usize) -> Self {
        let folder = folder.and_then(|path| match Folder::open(path) {
            Ok(folder) => Some(folder),
            Err(error) => {
                tracing::warn!("compiled code is not cached: {}: {error}", path.display());
                None
            }
        });
        Self { engine, folder, components }
    }

    fn component(&self, bytes: &[u8], compiler: &Compiler) -> Result<Code> {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        if let Some(code) = self.kept(&digest) {
            return Ok(code);
        }
        let component = checked(bytes)?;
        let component = &*component;
        match Snapshot::of(component, PAGE) {
            Some(snapshot) => self.sharing(&digest, component, &snapshot, compiler),
            None => self.keep_whole(&digest, &compiler.run(self.engine, component)?),
        }
    }

    /// Reports whether the folder has code of any component for this engine, so that it is worth computing a digest.
    fn may_hold_code(&self) -> bool {
        let Some(folder) = &self.folder else { return false };
        [CODE, STATE].iter().any(|extension| folder.has_name_with(&self.name_end(extension)))
    }

    /// Loads code that an earlier call stored for the component with this digest.
    fn kept(&self, digest: &[u8]) -> Option<Code> {
        let folder = self.folder.as_ref()?;
        let name = self.name(digest, CODE);
        if folder.holds(&name) { self.map_whole(&name) } else { self.kept_state(digest) }
    }

    /// Stores a component's own code and maps it. Mapped pages are shared and can be dropped, other memory cannot.
    fn keep_whole(&self, digest: &[u8; 32], code: &[u8]) -> Result<Code> {
        let name = self.name(digest, CODE);
        let mapped = if self.write(&name, CODE, code) { self.map_whole(&name) } else { None };
        mapped.map_or_else(
            || {
                // SAFETY: the code was compiled by this engine and has not left this process.
                let component = unsafe { Component::deserialize(self.engine, code) }?;
                Ok(Code::new(Arc::new(Machine::new(component, false)), None))
            },
            Ok,
        )
    }

    fn map_whole(&self, name: &str) -> Option<Code> {
        Some(Code::new(Arc::new(self.map(name)?), None))
    }

    /// Writes a file, if there is a folder to write to, and removes old files of its kind. False when it was not
    /// written, which only costs time.
    fn write(&self, name: &str, extension: &str, content: &[u8]) -> bool {
        let Some(folder) = self.folder.as_ref().filter(|folder| !folder.is_read_only()) else { return false };
        if let Err(error) = folder.write(name, content) {
            tracing::warn!("compiled code is not cached: {}: {error}", folder.shown(name).display());
            return false;
        }
        folder.prune(extension, KEPT + self.components);
        true
    }

    /// Maps code whose digest was verified. Reads it where files cannot be mapped, because compiling takes longer.
    fn map(&self, name: &str) -> Option<Machine> {
        let folder = self.folder.as_ref()?;
        // SAFETY: only this user and root can write to the folder, and the digest matches what this code wrote there.
        // So the bytes are wasmtime's output. Wasmtime itself refuses code of another version or configuration.
        let error = match unsafe { Component::deserialize_file(self.engine, folder.file(name)) } {
            Ok(component) => return Some(Machine::new(component, true)),
            Err(error) => error,
        };
        // SAFETY: as above, for the bytes that were read.
        let read = folder.read(name).and_then(|code| unsafe { Component::deserialize(self.engine, code) }.ok());
        if read.is_none() {
            self.unusable(name, &error);
        }
        Some(Machine::new(read?, false))
    }

    fn unusable(&self, name: &str, error: &wasmtime::Error) {
        let shown = self.folder.as_ref().map(|folder| folder.shown(name)).unwrap_or_default();
        tracing::warn!("compiled code is not usable: {}: {error:#}", shown.display());
    }

    /// Names code by its inputs: a digest, the cache format, and the engine's version and configuration.
    fn name(&self, digest: &[u8], extension: &str) -> String {
        hex::encode(digest) + &self.name_end(extension)
    }

    /// The part of a name that all components for this engine have.
    fn name_end(&self, extension: &str) -> String {
        let mut hasher = DefaultHasher::new();
        FORMAT_VERSION.hash(&mut hasher);
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        format!("-{:016x}.{extension}", hasher.finish())
    }
}

/// Makes a file in memory, without a name, with this content.
#[cfg(target_os = "linux")]
fn unnamed(content: &[u8]) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    let mut file = File::from(memfd_create(c"tenon", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    Ok(file)
}

/// Makes a file without a name, which is deleted when it is closed.
#[cfg(not(target_os = "linux"))]
fn unnamed(content: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(content)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
