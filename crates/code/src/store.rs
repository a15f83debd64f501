//! Components with their code: from disk, from the code of a component that differs in its state only, or compiled.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};
use tenon_memory::Image;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::artifact::{self, Place};
use crate::code::Code;
use crate::compile::{Compiled, taken_apart};
use crate::compiler::Compiler;
use crate::folder::{self, Folder, hex};
use crate::handler;

/// Version of the code that is kept. Raise it when other code is made of the same component, or more is checked before.
pub(crate) const EDITION: u32 = 4;

/// Extension of a component's code, and how many are kept besides those that a server has: each save of a file in
/// `tenon dev` makes one of 40 MB.
const CODE: &str = "cwasm";
const KEPT: usize = 24;

/// Extension of code that serves components with another state, and how many are kept: some for each version of Tenon.
const SHARED: &str = "shared";
const KEPT_SHARED: usize = 12;

/// Compiles `bytes`, or loads what an earlier call compiled, or completes the code of a component that has another state.
/// Trouble with the folder is logged and costs time, no more.
///
/// # Errors
///
/// The bound that the bytes exceed, the compiler's when they are no component, or [`OverBound`](crate::OverBound).
pub fn compile(engine: &Engine, bytes: &[u8], folder: Option<&Path>, compiler: &Compiler) -> Result<Code> {
    load_bytes(engine, bytes, folder, 1, compiler)
}

/// Code of a component's file, one of `components` that are served together, when an earlier call has kept it. The file is not
/// read into memory.
///
/// # Errors
///
/// The system's, when the file cannot be read.
pub fn cached(engine: &Engine, file: &Path, folder: Option<&Path>, components: usize) -> io::Result<Option<Code>> {
    let mut bytes = opened(file)?;
    let Some(store) = open(engine, folder, components) else { return Ok(None) };
    Ok(store.kept(&store.name(&folder::digest(&mut bytes)?, CODE)))
}

/// The same as [`cached`] for a component in memory.
#[must_use]
pub fn cached_bytes(engine: &Engine, bytes: &[u8], folder: Option<&Path>, components: usize) -> Option<Code> {
    let store = open(engine, folder, components)?;
    store.kept(&store.name(&Sha256::digest(bytes), CODE))
}

/// The same as [`load`] for a component in memory.
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
    // The compiler takes WebAssembly as text, too, and would say where that is wrong.
    if !bytes.starts_with(b"\0asm") {
        return Err(wasmtime::Error::msg("it is no WebAssembly"));
    }
    let made = match open(engine, folder, components) {
        Some(store) => store.component(bytes, compiler),
        None => unstored(engine, bytes, compiler).and_then(|code| in_memory(engine, &code)),
    };
    // Making code took tens of megabytes, which the allocator would keep for this process.
    tenon_memory::trim();
    made
}

/// The same as [`compile`] for a component in a file, one of `components` that are served together. A component whose code is
/// there is not read into memory.
///
/// # Errors
///
/// The system's, when the file cannot be read; as for [`compile`], when it holds no component.
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
    // One byte more than is allowed shows that the file has more.
    let mut bytes = Vec::new();
    opened(file)?.take(tenon_screen::MAX_BYTES + 1).read_to_end(&mut bytes)?;
    // By their own digest: the file may have changed since.
    let made = load_bytes(engine, &bytes, folder, components, compiler);
    drop(bytes);
    tenon_memory::trim();
    Ok(made)
}

/// Opens a regular file: a pipe or a device may have no end.
pub(crate) fn opened(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
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

/// Checks a component that is to be compiled, and finds the part of it that is served.
fn checked(bytes: &[u8]) -> Result<&[u8]> {
    tenon_screen::screen(bytes)?;
    Ok(handler::within(bytes))
}

/// The code with a component's own state put in, or as it is when it takes none.
fn completed(compiled: &Compiled, component: &[u8]) -> Result<Vec<u8>> {
    let (module, state, _) = taken_apart(component)?;
    let code = artifact::with_state(&compiled.code, module, &state);
    code.ok_or_else(|| wasmtime::format_err!("the compiled code does not take the component's state"))
}

/// Code of a component that is compiled, and kept nowhere.
pub(crate) fn unstored(engine: &Engine, bytes: &[u8], compiler: &Compiler) -> Result<Vec<u8>> {
    let component = checked(bytes)?;
    let compiled = compiler.run(engine, component)?;
    if compiled.takes_state { completed(&compiled, component) } else { Ok(compiled.code) }
}

/// A component whose code was compiled a moment ago.
fn in_memory(engine: &Engine, code: &[u8]) -> Result<Code> {
    let image = match code.last_chunk().and_then(Place::of) {
        Some(place) => {
            let start = usize::try_from(place.offset)?;
            let mut file = unnamed()?;
            file.write_all(&code[start..start + usize::try_from(place.length)?])?;
            Some(image_at(file, Place { offset: 0, ..place })?)
        }
        None => None,
    };
    // SAFETY: the code was compiled by this engine and has not left this process.
    let component = unsafe { Component::deserialize(engine, code) }?;
    Ok(Code::compiled(component, image))
}

/// A file in memory.
#[cfg(target_os = "linux")]
fn unnamed() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    Ok(File::from(memfd_create(c"tenon", MemfdFlags::CLOEXEC)?))
}

/// A file that is gone when it is closed.
#[cfg(not(target_os = "linux"))]
fn unnamed() -> io::Result<File> {
    tempfile::tempfile()
}

/// The image that a file of code holds, whose code ends at `end`.
pub(crate) fn image_of(mut file: File, end: u64) -> Result<Option<Image>> {
    let mut trailer = [0; Place::TRAILER];
    file.seek(SeekFrom::Start(end.saturating_sub(trailer.len() as u64)))?;
    file.read_exact(&mut trailer)?;
    Place::of(&trailer).map(|place| image_at(file, place)).transpose()
}

fn image_at(file: File, Place { offset, length, start, size }: Place) -> Result<Image> {
    Ok(Image::of_file(file, offset, usize::try_from(length)?, usize::try_from(start)?, usize::try_from(size)?)?)
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

    /// Writes code and maps it: mapped from the file, its pages are shared and can be dropped; from memory they could not.
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

    /// Code that an earlier call kept.
    fn kept(&self, name: &str) -> Option<Code> {
        if self.folder.holds(name) { self.map(name) } else { None }
    }

    /// Maps code that was found to be what was written.
    fn map(&self, name: &str) -> Option<Code> {
        let path = self.folder.file(name);
        // SAFETY: nobody but this user and root can write to the folder, and the bytes are those that this code wrote there, so they are what
        // wasmtime compiled. Wasmtime itself refuses code of another version or configuration.
        let component = unsafe { Component::deserialize_file(self.engine, &path) };
        let mapped = component.and_then(|component| {
            let file = File::open(&path)?;
            let end = file.metadata()?.len();
            Ok(Code::mapped(component, image_of(file, end)?))
        });
        match mapped {
            Ok(code) => Some(code),
            Err(error) => {
                tracing::warn!("compiled code is not usable: {}: {error:#}", self.folder.shown(name).display());
                None
            }
        }
    }

    /// Code is named by what it depends on: a digest, how it is made, and the engine's version and configuration.
    fn name(&self, digest: &[u8], extension: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (EDITION, tenon_memory::is_portable()).hash(&mut hasher);
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        format!("{}-{:016x}.{extension}", hex(digest), hasher.finish())
    }
}

#[cfg(test)]
mod tests;
