//! Loads a component's code: from disk, from the code of a component that differs only in its state, or from the
//! compiler.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{MemfdFlags, OFlags, memfd_create};
use sha2::{Digest, Sha256};
use tenon_memory::Image;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::artifact::{self, ImageTrailer};
use crate::code::Code;
use crate::compile::{Compiled, taken_apart};
use crate::compiler::Compiler;
use crate::folder::{self, Folder, hex};
use crate::handler;

/// Cache format version; bump it when code generation or validation changes.
const FORMAT_VERSION: u32 = 4;

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
    match open(engine, folder, 1) {
        Some(store) => store.component(bytes, compiler),
        None => unstored(engine, bytes, compiler),
    }
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
    Ok(store.kept(&store.name(&folder::digest(&mut bytes)?, CODE)))
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
    // The compiler also accepts the text format, and would report an error in that format.
    if !bytes.starts_with(b"\0asm") {
        return Ok(Err(wasmtime::Error::msg("it is not WebAssembly")));
    }
    // Uses the digest of these bytes, because the file may have changed since.
    let made = match open(engine, folder, components) {
        Some(store) => store.component(&bytes, compiler),
        None => unstored(engine, &bytes, compiler),
    };
    drop(bytes);
    // Compilation took tens of megabytes, which the allocator would keep for this process.
    tenon_memory::trim();
    Ok(made)
}

/// Opens a regular file. A pipe or a device may have no end.
fn opened(path: &Path) -> io::Result<File> {
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
    Ok(handler::within(bytes))
}

/// Returns the code with the component's own state put in.
fn completed(compiled: &Compiled, component: &[u8]) -> Result<Vec<u8>> {
    let (module, state, _) = taken_apart(component)?;
    let code = artifact::with_state(&compiled.code, module, &state);
    code.ok_or_else(|| wasmtime::format_err!("the compiled code does not take the component's state"))
}

/// Compiles a component and stores nothing.
fn unstored(engine: &Engine, bytes: &[u8], compiler: &Compiler) -> Result<Code> {
    let component = checked(bytes)?;
    let compiled = compiler.run(engine, component)?;
    let code = if compiled.takes_state { completed(&compiled, component)? } else { compiled.code };
    in_memory(engine, &code)
}

/// Loads code that was just compiled.
fn in_memory(engine: &Engine, code: &[u8]) -> Result<Code> {
    let image = match code.last_chunk().and_then(ImageTrailer::of) {
        Some(trailer) => {
            let start = usize::try_from(trailer.offset)?;
            let mut file = File::from(memfd_create(c"tenon", MemfdFlags::CLOEXEC)?);
            file.write_all(&code[start..start + usize::try_from(trailer.length)?])?;
            // SAFETY: the file has no name, and this process no longer writes to it.
            Some(unsafe { image_at(file, ImageTrailer { offset: 0, ..trailer }) }?)
        }
        None => None,
    };
    // SAFETY: the code was compiled by this engine and has not left this process.
    let component = unsafe { Component::deserialize(engine, code) }?;
    Ok(Code::compiled(component, image))
}

/// Opens the image in a file of code.
///
/// # Safety
///
/// As for [`Image::of_file`].
unsafe fn image_of(mut file: File) -> Result<Option<Image>> {
    let mut trailer = [0; ImageTrailer::LENGTH];
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(trailer.len() as u64)))?;
    file.read_exact(&mut trailer)?;
    // SAFETY: the caller's promise.
    ImageTrailer::of(&trailer).map(|trailer| unsafe { image_at(file, trailer) }).transpose()
}

/// Opens the image at a position in a file.
///
/// # Safety
///
/// As for [`Image::of_file`].
unsafe fn image_at(file: File, ImageTrailer { offset, length, start, size }: ImageTrailer) -> Result<Image> {
    let (length, start, size) = (usize::try_from(length)?, usize::try_from(start)?, usize::try_from(size)?);
    // SAFETY: the caller's promise.
    Ok(unsafe { Image::of_file(file, offset, length, start, size) }?)
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
            // SAFETY: only this user and root can write to the folder, and its files are replaced and never written to.
            let image = unsafe { image_of(File::open(&path)?) }?;
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
        FORMAT_VERSION.hash(&mut hasher);
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        format!("{}-{:016x}.{extension}", hex(digest), hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;
    use crate::RESTORE;
    use crate::compiler::tests::here;
    use crate::fixture::{snapshot, with};

    fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
    }

    #[test]
    fn code_is_compiled_once_and_damage_is_noticed() {
        let engine = Engine::default();
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("code");
        let bytes = tenon_fixtures::echo(200);

        compile(&engine, &bytes, Some(&folder), &here()).unwrap();
        let [code] = &files(&folder, CODE)[..] else { panic!("one entry is written") };
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let whole = fs::read(code).unwrap();
        let marked = fs::metadata(code).unwrap().created().unwrap();

        compile(&engine, &bytes, Some(&folder), &here()).unwrap();
        assert_eq!(fs::metadata(code).unwrap().created().unwrap(), marked, "the entry is used, not written again");

        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        for wrong in [&damaged[..], &whole[..middle], b""] {
            fs::write(code, wrong).unwrap();
            compile(&engine, &bytes, Some(&folder), &here()).unwrap();
            assert_eq!(fs::read(code).unwrap(), whole, "a damaged entry is replaced");
        }

        // An entry with the right digest that is not wasmtime's output.
        let name = code.file_name().unwrap().to_str().unwrap();
        Folder::open(&folder).unwrap().write(name, b"foreign").unwrap();
        compile(&engine, &bytes, Some(&folder), &here()).unwrap();
        assert_eq!(fs::read(code).unwrap(), whole, "a foreign entry is replaced");
    }

    #[test]
    fn a_file_is_loaded_as_its_bytes_are_and_enough_code_is_kept_for_all_that_are_served() {
        let engine = Engine::default();
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("code");
        let served = KEPT + 6;
        let component = |number: usize| {
            let file = parent.path().join(format!("{number}.wasm"));
            fs::write(&file, snapshot(1, i32::try_from(number).unwrap(), &[(5_000, b"a")])).unwrap();
            file
        };
        for number in 0..served {
            load(&engine, &component(number), Some(&folder), served, &here()).unwrap().unwrap();
        }
        let written = |path: &PathBuf| fs::metadata(path).unwrap().created().unwrap();
        let all = files(&folder, CODE);
        assert_eq!(all.len(), served);
        let before = all.iter().map(written).max();
        for number in 0..served {
            let code = load(&engine, &component(number), Some(&folder), served, &here()).unwrap().unwrap();
            assert!(code.component().image_range().start.addr().is_multiple_of(4096));
        }
        assert_eq!(files(&folder, CODE).iter().map(written).max(), before, "nothing is written again");
        assert_eq!(
            load(&engine, Path::new("gone.wasm"), Some(&folder), 1, &here()).err().unwrap().kind(),
            io::ErrorKind::NotFound
        );
        assert!(load(&engine, Path::new(file!()).parent().unwrap(), None, 1, &here()).is_err());
        let text = parent.path().join("text.wasm");
        fs::write(&text, "no component").unwrap();
        assert!(load(&engine, &text, Some(&folder), 1, &here()).unwrap().is_err());
    }

    #[test]
    fn a_folder_that_cannot_be_used_costs_the_cache_and_not_the_module() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        compile(&Engine::default(), &tenon_fixtures::echo(200), Some(folder.path()), &here()).unwrap();
        assert!(files(folder.path(), CODE).is_empty());
    }

    fn engine() -> Engine {
        let mut config = wasmtime::Config::new();
        config.with_host_memory(std::sync::Arc::new(tenon_memory::Memories::new(2)));
        Engine::new(&config).unwrap()
    }

    /// Calls the component's functions, compiled or loaded from the folder: the byte at 5,000 and the global.
    async fn ask(engine: &Engine, bytes: &[u8], folder: Option<&Path>) -> (u32, u32) {
        let code = compile(engine, bytes, folder, &here()).unwrap();
        // Released code is mapped again when it runs.
        code.release();
        let mut store = wasmtime::Store::new(engine, ());
        let linker = wasmtime::component::Linker::new(engine);
        let instance = linker.instantiate_async(&mut store, code.component());
        let instance = tenon_memory::providing(code.image(), instance).await.0.unwrap();
        let byte = instance.get_typed_func::<(), (u32,)>(&mut store, "byte").unwrap();
        let (byte,) = byte.call_async(&mut store, ()).await.unwrap();
        let global = instance.get_typed_func::<(), (u32,)>(&mut store, "global").unwrap();
        let (global,) = global.call_async(&mut store, ()).await.unwrap();
        (byte, global)
    }

    #[tokio::test]
    async fn a_component_with_another_state_takes_the_code_of_the_first() {
        let engine = engine();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ask(&engine, &snapshot(1, 7, &[(5_000, b"a")]), Some(folder.path())).await, (97, 7));
        let shared = files(folder.path(), SHARED);
        assert_eq!(shared.len(), 1);

        // A mark that wasmtime does not read. Code that is made from this file has the mark too.
        let marked = [&fs::read(&shared[0]).unwrap()[..], b"mark"].concat();
        let name = shared[0].file_name().unwrap().to_str().unwrap();
        Folder::open(folder.path()).unwrap().write(name, &marked).unwrap();
        let is_marked = |path: &PathBuf| fs::read(path).unwrap().windows(4).any(|bytes| bytes == b"mark");

        assert_eq!(ask(&engine, &snapshot(3, 8, &[(100, b"x"), (4_999, b"abc")]), Some(folder.path())).await, (98, 8));
        assert_eq!(ask(&engine, &snapshot(1, -1, &[(65_535, b"x")]), Some(folder.path())).await, (0, u32::MAX));
        assert_eq!(files(folder.path(), CODE).iter().filter(|path| is_marked(path)).count(), 2);

        // The compiler may have relied on the size of the larger memory.
        let compiled = files(folder.path(), CODE).len();
        assert_eq!(ask(&engine, &snapshot(3, 9, &[(5_000, b"a")]), Some(folder.path())).await, (97, 9));
        assert_eq!(files(folder.path(), CODE).len(), compiled + 1);
    }

    /// A restored instance has the globals of its own state, whichever component was compiled.
    #[tokio::test]
    async fn a_component_with_another_state_is_restored_to_its_own() {
        let component = |global: i32| {
            let text = format!(
                r#"(component
                     (core module $engine
                       (memory 1) (data (i32.const 5000) "a")
                       (global $fixed i32 (i32.const 1)) (global $changes (mut i32) (i32.const {global}))
                       (func (export "next") (result i32)
                         (global.set $changes (i32.add (global.get $changes) (global.get $fixed))) (global.get $changes)))
                     (core instance $i (instantiate $engine))
                     (func (export "next") (result u32) (canon lift (core func $i "next"))))"#
            );
            wat::parse_str(text).unwrap()
        };
        let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
        for global in [7, 70_000] {
            let code = compile(&engine, &component(global), Some(folder.path()), &here()).unwrap();
            let mut store = wasmtime::Store::new(&engine, ());
            let linker = wasmtime::component::Linker::new(&engine);
            let instance = linker.instantiate_async(&mut store, code.component());
            let (instance, memory) = tenon_memory::providing(code.image(), instance).await;
            assert!(memory.is_some());
            let instance = instance.unwrap();
            let next = instance.get_typed_func::<(), (u32,)>(&mut store, "next").unwrap();
            let restore = instance.get_typed_func::<(), ()>(&mut store, RESTORE).unwrap();
            for _ in 0..3 {
                for more in 1..4 {
                    assert_eq!(next.call_async(&mut store, ()).await.unwrap(), (global.cast_unsigned() + more,));
                }
                restore.call_async(&mut store, ()).await.unwrap();
            }
        }
        assert_eq!(files(folder.path(), SHARED).len(), 1);
    }

    /// The restore function must be Tenon's own, because a component's own one could claim success.
    #[test]
    fn a_component_that_exports_what_restores_it_is_refused() {
        let text = format!(
            r#"(component
                 (core module $m (func (export "f")))
                 (core instance $i (instantiate $m))
                 (func (export "{RESTORE}") (canon lift (core func $i "f"))))"#
        );
        let bytes = wat::parse_str(text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for folder in [None, Some(folder.path())] {
            let refused = compile(&engine(), &bytes, folder, &here()).err().unwrap().to_string();
            assert!(refused.contains("exports tenon-restore"), "{refused}");
        }
    }

    #[tokio::test]
    async fn a_component_with_another_memory_of_the_same_size_fills_them_itself() {
        let module = |name: &str, byte: &str, more: &str| {
            format!(
                r#"(core module ${name} (memory 1) (data (i32.const 5000) "{byte}") {more}
                     (func (export "byte") (result i32) (i32.load8_u (i32.const 5000))))"#
            )
        };
        let larger = r#"(data $passive "that it is the larger one")"#;
        let component = |modules: &str, instances: &str| {
            let text = format!(
                r#"(component {modules} {instances}
                     (func (export "byte") (result u32) (canon lift (core func $one "byte")))
                     (func (export "global") (result u32) (canon lift (core func $other "byte"))))"#
            );
            wat::parse_str(text).unwrap()
        };
        let two = component(
            &(module("a", "a", larger) + &module("b", "b", "")),
            "(core instance $other (instantiate $b)) (core instance $one (instantiate $a))",
        );
        let twice = component(
            &module("a", "a", ""),
            "(core instance $other (instantiate $a)) (core instance $one (instantiate $a))",
        );
        let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
        for folder in [None, Some(folder.path())] {
            assert_eq!(ask(&engine, &two, folder).await, (97, 98));
            assert_eq!(ask(&engine, &twice, folder).await, (97, 97));
        }
    }

    /// Code finds passive data through wasmtime's records after the start function, so these must stay.
    #[tokio::test]
    async fn passive_data_are_found_beside_an_image() {
        let component = |first: &str| {
            let text = format!(
                r#"(component
                     (core module $engine
                       (memory 1)
                       (global (mut i32) (i32.const 7))
                       (data (i32.const 5000) "{first}")
                       (data $one "one") (data $two "two")
                       (func (export "byte") (result i32)
                         (memory.init $one (i32.const 6000) (i32.const 0) (i32.const 3))
                         (memory.init $two (i32.const 7000) (i32.const 0) (i32.const 3))
                         (data.drop $one) (data.drop $two)
                         (i32.add
                           (i32.load8_u (i32.const 5000))
                           (i32.add (i32.load8_u (i32.const 6002)) (i32.load8_u (i32.const 7002)))))
                       (func (export "global") (result i32) (global.get 0)))
                     (core instance $i (instantiate $engine))
                     (func (export "byte") (result u32) (canon lift (core func $i "byte")))
                     (func (export "global") (result u32) (canon lift (core func $i "global"))))"#
            );
            wat::parse_str(text).unwrap()
        };
        let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
        for folder in [None, Some(folder.path())] {
            for first in [b'a', b'b'] {
                let expected = u32::from(first) + u32::from(b'e') + u32::from(b'o');
                assert_eq!(ask(&engine, &component(&char::from(first).to_string()), folder).await, (expected, 7));
            }
        }
    }

    #[tokio::test]
    async fn without_a_folder_a_component_has_its_state_and_is_kept_nowhere() {
        let engine = engine();
        assert_eq!(ask(&engine, &snapshot(1, 7, &[(5_000, b"a")]), None).await, (97, 7));
        // A component that cannot be taken apart fills its memory itself.
        let computed = with(r#"(data (offset (global.get $fixed)) "x")"#, 1, 8, &[(5_000, b"b")]);
        assert_eq!(ask(&engine, &computed, None).await, (98, 8));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ask(&engine, &computed, Some(folder.path())).await, (98, 8));
        assert_eq!(ask(&engine, &computed, Some(folder.path())).await, (98, 8));
        assert!(files(folder.path(), SHARED).is_empty());
    }
}
