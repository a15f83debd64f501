//! Loads a component's code: from disk, from the code of a component that differs only in its state, or from the
//! compiler.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use tenon_memory::Image;
use tenon_rewrite::inner_handler;
use tenon_trusted_folder::{Folder, digest, hex};
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::artifact::{self, ImageTrailer};
use crate::code::Code;
use crate::compile::{Compiled, taken_apart};
use crate::compiler::Compiler;

/// Cache format version; bump it when code generation or validation changes.
pub(crate) const FORMAT_VERSION: u32 = 5;

/// Extension of a component's code, and the number kept beyond those that a server uses. Each save in `tenon dev` makes
/// one of 40 MB.
const CODE: &str = "cwasm";
const KEPT: usize = 24;

/// Extension of code that serves components with another state, and the number kept: some for each version of Tenon.
const SHARED: &str = "shared";
const KEPT_SHARED: usize = 12;

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
/// not read into memory.
///
/// # Errors
///
/// An I/O error, when the file cannot be read.
pub fn cached(engine: &Engine, file: &Path, folder: Option<&Path>, components: usize) -> io::Result<Option<Code>> {
    let mut bytes = opened(file)?;
    let Some(store) = open(engine, folder, components) else { return Ok(None) };
    Ok(store.kept(&store.name(&digest(&mut bytes)?, CODE)))
}

/// Does the same as [`cached`] for a component in memory.
#[must_use]
pub fn cached_bytes(engine: &Engine, bytes: &[u8], folder: Option<&Path>, components: usize) -> Option<Code> {
    let store = open(engine, folder, components)?;
    store.kept(&store.name(&Sha256::digest(bytes), CODE))
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
    let made = match open(engine, folder, components) {
        Some(store) => store.component(bytes, compiler),
        None => unstored(engine, bytes, compiler).and_then(|code| in_memory(engine, &code)),
    };
    // Compilation took tens of megabytes, which the allocator would keep for this process.
    tenon_memory::trim();
    made
}

/// Does the same as [`compile`] for a component in a file. `components` are served together. A component whose code is
/// stored is not read into memory.
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
    if let Some(code) = cached(engine, file, folder, components)? {
        return Ok(Ok(code));
    }
    // One byte beyond the limit shows that the file is too large.
    let mut bytes = Vec::new();
    opened(file)?.take(tenon_screen::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    // Uses the digest of these bytes, because the file may have changed since.
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
    let file = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

fn open<'a>(engine: &'a Engine, folder: Option<&Path>, components: usize) -> Option<Store<'a>> {
    let path = folder?;
    match Folder::open(path) {
        Ok(folder) => Some(Store { engine, folder, components }),
        Err(error) => {
            tracing::warn!("compiled code is not cached: {}: {error}", path.display());
            None
        }
    }
}

/// Screens a component and returns the part of it that is served.
fn checked(bytes: &[u8]) -> Result<&[u8]> {
    tenon_screen::screen(bytes)?;
    Ok(inner_handler(bytes))
}

/// Returns the code with the component's own state put in.
fn completed(compiled: &Compiled, component: &[u8]) -> Result<Vec<u8>> {
    let (module, state, _) = taken_apart(component)?;
    let code = artifact::with_state(&compiled.code, module, &state);
    code.ok_or_else(|| wasmtime::format_err!("the compiled code does not take the component's state"))
}

/// Compiles a component and stores nothing.
pub(crate) fn unstored(engine: &Engine, bytes: &[u8], compiler: &Compiler) -> Result<Vec<u8>> {
    let component = checked(bytes)?;
    let compiled = compiler.run(engine, component)?;
    if compiled.takes_state { completed(&compiled, component) } else { Ok(compiled.code) }
}

/// Loads code that was just compiled.
fn in_memory(engine: &Engine, code: &[u8]) -> Result<Code> {
    let image = match code.last_chunk().and_then(ImageTrailer::of) {
        Some(trailer) => {
            let start = usize::try_from(trailer.offset)?;
            let mut file = unnamed()?;
            file.write_all(&code[start..start + usize::try_from(trailer.length)?])?;
            let trailer = ImageTrailer { offset: 0, ..trailer };
            // SAFETY: the file has no name, and this process no longer writes to it.
            let image = unsafe { image_at(file, trailer) }?;
            Some(image)
        }
        None => None,
    };
    // SAFETY: the code was compiled by this engine and has not left this process.
    let component = unsafe { Component::deserialize(engine, code) }?;
    Ok(Code::compiled(component, image))
}

/// Makes a file in memory, without a name.
#[cfg(target_os = "linux")]
fn unnamed() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    Ok(File::from(memfd_create(c"tenon", MemfdFlags::CLOEXEC)?))
}

/// Makes a file without a name, which is deleted when it is closed.
#[cfg(not(target_os = "linux"))]
fn unnamed() -> io::Result<File> {
    tempfile::tempfile()
}

/// Opens the image in a file of code that ends at `end`.
///
/// # Safety
///
/// As for [`Image::of_file`].
pub(crate) unsafe fn image_of(mut file: File, end: u64) -> Result<Option<Image>> {
    let mut trailer = [0; ImageTrailer::LENGTH];
    file.seek(SeekFrom::Start(end.saturating_sub(trailer.len() as u64)))?;
    file.read_exact(&mut trailer)?;
    let Some(trailer) = ImageTrailer::of(&trailer) else { return Ok(None) };
    // SAFETY: the caller's promise.
    let image = unsafe { image_at(file, trailer) }?;
    Ok(Some(image))
}

/// Opens the image at a position in a file.
///
/// # Safety
///
/// As for [`Image::of_file`].
unsafe fn image_at(file: File, ImageTrailer { offset, length, start, size }: ImageTrailer) -> Result<Image> {
    let (length, start, size) = (usize::try_from(length)?, usize::try_from(start)?, usize::try_from(size)?);
    // SAFETY: the caller's promise.
    let image = unsafe { Image::of_file(file, offset, length, start, size) }?;
    Ok(image)
}

struct Store<'a> {
    engine: &'a Engine,
    folder: Folder,
    components: usize,
}

impl Store<'_> {
    fn component(&self, bytes: &[u8], compiler: &Compiler) -> Result<Code> {
        let name = self.name(&Sha256::digest(bytes), CODE);
        if let Some(code) = self.kept(&name) {
            return Ok(code);
        }
        let component = checked(bytes)?;
        let shared =
            taken_apart(component).ok().map(|(module, state, digest)| (module, state, self.name(&digest, SHARED)));
        if let Some((module, state, name_of_shared)) = &shared
            && let Some(code) = self.folder.read(name_of_shared)
            && let Some(code) = artifact::with_state(&code, *module, state)
        {
            return self.keep(&name, &code);
        }
        let compiled = compiler.run(self.engine, component)?;
        let Some((_, _, name_of_shared)) = shared.filter(|_| compiled.takes_state) else {
            return self.keep(&name, &compiled.code);
        };
        if !self.folder.is_read_only()
            && let Err(error) = self.folder.write(&name_of_shared, &compiled.code)
        {
            tracing::warn!("compiled code is not shared: {error}");
        }
        self.folder.prune(SHARED, KEPT_SHARED);
        self.keep(&name, &completed(&compiled, component)?)
    }

    /// Stores code and maps it. Mapped pages are shared and can be dropped, other memory cannot.
    fn keep(&self, name: &str, code: &[u8]) -> Result<Code> {
        if self.folder.is_read_only() {
            return in_memory(self.engine, code);
        }
        if let Err(error) = self.folder.write(name, code) {
            tracing::warn!("compiled code is not cached: {}: {error}", self.folder.shown(name).display());
            return in_memory(self.engine, code);
        }
        self.folder.prune(CODE, KEPT + self.components);
        match self.map(name) {
            Some(code) => Ok(code),
            None => in_memory(self.engine, code),
        }
    }

    /// Loads code that an earlier call stored.
    fn kept(&self, name: &str) -> Option<Code> {
        if self.folder.holds(name) { self.map(name) } else { None }
    }

    /// Maps code whose digest was verified.
    fn map(&self, name: &str) -> Option<Code> {
        let path = self.folder.file(name);
        // SAFETY: only this user and root can write to the folder, and the digest matches what this code wrote there.
        // So the bytes are wasmtime's output. Wasmtime itself refuses code of another version or configuration.
        let component = unsafe { Component::deserialize_file(self.engine, &path) };
        let code = component.and_then(|component| {
            let file = File::open(&path)?;
            let end = file.metadata()?.len();
            // SAFETY: only this user and root can write to the folder, and its files are replaced and never written to.
            let image = unsafe { image_of(file, end) }?;
            Ok(Code::mapped(component, image))
        });
        match code {
            Ok(code) => Some(code),
            Err(error) => {
                tracing::warn!("compiled code is not usable: {}: {error:#}", self.folder.shown(name).display());
                None
            }
        }
    }

    /// Names code by its inputs: a digest, the cache format, and the engine's version and configuration.
    fn name(&self, digest: &[u8], extension: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (FORMAT_VERSION, tenon_memory::is_portable()).hash(&mut hasher);
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        format!("{}-{:016x}.{extension}", hex(digest), hasher.finish())
    }
}

#[cfg(test)]
mod tests;
