//! Components with their code: from disk, from the code of a component that differs in its state only, or compiled.

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

use crate::artifact::{self, Place};
use crate::code::Code;
use crate::compile::{Compiled, taken_apart};
use crate::compiler::Compiler;
use crate::folder::{self, Folder, hex};
use crate::handler;

/// Version of the code that is kept. Raise it when other code is made of the same component, or more is checked before.
const EDITION: u32 = 4;

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
    match open(engine, folder, 1) {
        Some(store) => store.component(bytes, compiler),
        None => unstored(engine, bytes, compiler),
    }
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
    // The compiler takes WebAssembly as text, too, and would say where that is wrong.
    if !bytes.starts_with(b"\0asm") {
        return Ok(Err(wasmtime::Error::msg("it is no WebAssembly")));
    }
    // By their own digest: the file may have changed since.
    let made = match open(engine, folder, components) {
        Some(store) => store.component(&bytes, compiler),
        None => unstored(engine, &bytes, compiler),
    };
    drop(bytes);
    // Making code took tens of megabytes, which the allocator would keep for this process.
    tenon_memory::trim();
    Ok(made)
}

/// Opens a regular file: a pipe or a device may have no end.
fn opened(path: &Path) -> io::Result<File> {
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

/// A component whose code is compiled, and kept nowhere.
fn unstored(engine: &Engine, bytes: &[u8], compiler: &Compiler) -> Result<Code> {
    let component = checked(bytes)?;
    let compiled = compiler.run(engine, component)?;
    let code = if compiled.takes_state { completed(&compiled, component)? } else { compiled.code };
    in_memory(engine, &code)
}

/// A component whose code was compiled a moment ago.
fn in_memory(engine: &Engine, code: &[u8]) -> Result<Code> {
    let image = match code.last_chunk().and_then(Place::of) {
        Some(place) => {
            let start = usize::try_from(place.offset)?;
            let mut file = File::from(memfd_create(c"tenon", MemfdFlags::CLOEXEC)?);
            file.write_all(&code[start..start + usize::try_from(place.length)?])?;
            Some(image_at(file, Place { offset: 0, ..place })?)
        }
        None => None,
    };
    // SAFETY: the code was compiled by this engine and has not left this process.
    let component = unsafe { Component::deserialize(engine, code) }?;
    Ok(Code::compiled(component, image))
}

/// The image that a file of code holds.
fn image_of(mut file: File) -> Result<Option<Image>> {
    let mut trailer = [0; Place::TRAILER];
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(trailer.len() as u64)))?;
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
        match component.and_then(|component| Ok(Code::mapped(component, image_of(File::open(&path)?)?))) {
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
        EDITION.hash(&mut hasher);
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

        // An entry whose digest is right but which no wasmtime wrote.
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

    /// What the component's functions say, the byte at 5,000 and the global: by the code in the folder.
    async fn ask(engine: &Engine, bytes: &[u8], folder: Option<&Path>) -> (u32, u32) {
        let code = compile(engine, bytes, folder, &here()).unwrap();
        // What is let go of is there again when it is wanted.
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

        // Code that is recognized: what the file says beyond what wasmtime reads of it goes on into what is made of it.
        let marked = [&fs::read(&shared[0]).unwrap()[..], b"mark"].concat();
        let name = shared[0].file_name().unwrap().to_str().unwrap();
        Folder::open(folder.path()).unwrap().write(name, &marked).unwrap();
        let is_marked = |path: &PathBuf| fs::read(path).unwrap().windows(4).any(|bytes| bytes == b"mark");

        assert_eq!(ask(&engine, &snapshot(3, 8, &[(100, b"x"), (4_999, b"abc")]), Some(folder.path())).await, (98, 8));
        assert_eq!(ask(&engine, &snapshot(1, -1, &[(65_535, b"x")]), Some(folder.path())).await, (0, u32::MAX));
        assert_eq!(files(folder.path(), CODE).iter().filter(|path| is_marked(path)).count(), 2);

        // A smaller memory may have been compiled against.
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

    /// What restores an instance is Tenon's own: a component that brings it could say that it had.
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

    /// Code finds passive data by where wasmtime noted it behind the function that starts a module: that has to stay.
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
        // One that cannot be taken apart fills its memory itself.
        let computed = with(r#"(data (offset (global.get $fixed)) "x")"#, 1, 8, &[(5_000, b"b")]);
        assert_eq!(ask(&engine, &computed, None).await, (98, 8));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ask(&engine, &computed, Some(folder.path())).await, (98, 8));
        assert_eq!(ask(&engine, &computed, Some(folder.path())).await, (98, 8));
        assert!(files(folder.path(), SHARED).is_empty());
    }
}
