//! Components with their code: from disk, from the code of a component that differs in its state only, or compiled.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};
use sha2::{Digest, Sha256};
use tenon_memory::Image;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

use crate::artifact::{self, Place};
use crate::code::Code;
use crate::folder::{self, Folder, hex};
use crate::handler;
use crate::restore::{self, RESTORE};
use crate::state::{self, State, StateError};

/// Raised when other code is made of the same component.
const EDITION: u32 = 3;

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
/// The compiler's, when the bytes are no component.
pub fn compile(engine: &Engine, bytes: &[u8], folder: Option<&Path>) -> Result<Code> {
    match open(engine, folder, 1) {
        Some(store) => store.component(bytes),
        None => unstored(engine, bytes),
    }
}

/// The same for a component in a file, one of `components` that are served together. A component whose code is there is
/// not read into memory.
///
/// # Errors
///
/// The system's, when the file cannot be read; the compiler's, when it holds no component.
pub fn load(engine: &Engine, file: &Path, folder: Option<&Path>, components: usize) -> io::Result<Result<Code>> {
    let store = open(engine, folder, components);
    if let Some(store) = &store {
        let name = store.name(&folder::digest(&mut File::open(file)?)?, CODE);
        if let Some(code) = store.kept(&name) {
            return Ok(Ok(code));
        }
    }
    let bytes = fs::read(file)?;
    // The compiler takes WebAssembly as text, too, and would say where that is wrong.
    if !bytes.starts_with(b"\0asm") {
        return Ok(Err(wasmtime::Error::msg("it is no WebAssembly")));
    }
    let made = match store {
        // By their own digest: the file may have changed since.
        Some(store) => store.component(&bytes),
        None => unstored(engine, &bytes),
    };
    drop(bytes);
    trim();
    Ok(made)
}

/// Gives memory back to the system that making code took by the ten megabytes: glibc would keep it for this process.
fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it has no conditions; memory that is in use stays.
    unsafe {
        libc::malloc_trim(0);
    }
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

fn taken_apart(bytes: &[u8]) -> Result<(u32, State<'_>, [u8; 32]), StateError> {
    let found = state::Engine::find(bytes)?;
    let (state, digest) = found.take_apart()?;
    Ok((found.module, state, digest))
}

/// What compiling a component comes to.
struct Made {
    /// The code to load: with its state put in as that of others is, or in one piece when that is not what it has.
    code: Vec<u8>,
    /// What the compiler wrote, when the code can serve components with another state.
    shared: Option<Vec<u8>>,
}

/// Compiles a component, which has been taken apart if it could be.
fn made(engine: &Engine, bytes: &[u8], apart: Option<(u32, &State<'_>)>) -> Result<Made> {
    let restorable = restore::added(bytes).map_err(|reason| tracing::debug!("instances are not restored: {reason}"));
    let compiled = match restorable.map(|restorable| engine.precompile_component(&restorable)) {
        Ok(Ok(compiled)) => compiled,
        // What is wrong with it is told with the places of what was given.
        _ => {
            let compiled = engine.precompile_component(bytes)?;
            // Only what is added above may bear the name: whoever finds it there relies on what it does.
            wasmtime::ensure!(
                !artifact::is_restorable(&compiled),
                "it exports {RESTORE}, which is kept for Tenon's use"
            );
            compiled
        }
    };
    let completed = apart
        .filter(|(module, state)| artifact::reproduces(&compiled, *module, state))
        .and_then(|(module, state)| artifact::with_state(&compiled, module, state));
    if let Some(code) = completed {
        return Ok(Made { code, shared: Some(compiled) });
    }
    let whole = artifact::without_images(&compiled);
    Ok(Made { code: whole.ok_or_else(|| wasmtime::format_err!("the compiled code is not understood"))?, shared: None })
}

/// A component whose code is compiled, and kept nowhere.
fn unstored(engine: &Engine, bytes: &[u8]) -> Result<Code> {
    let bytes = handler::within(bytes);
    let apart = taken_apart(bytes).ok();
    let Made { code, shared } = made(engine, bytes, apart.as_ref().map(|(module, state, _)| (*module, state)))?;
    drop(shared);
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
    fn component(&self, bytes: &[u8]) -> Result<Code> {
        let name = self.name(&Sha256::digest(bytes), CODE);
        if let Some(code) = self.kept(&name) {
            return Ok(code);
        }
        let bytes = handler::within(bytes);
        let Ok((module, state, digest)) = taken_apart(bytes) else {
            // Such a component is compiled by itself.
            return self.keep(&name, &made(self.engine, bytes, None)?.code);
        };
        let name_of_shared = self.name(&digest, SHARED);
        if let Some(code) =
            self.folder.read(&name_of_shared).and_then(|code| artifact::with_state(&code, module, &state))
        {
            return self.keep(&name, &code);
        }
        let Made { code, shared } = made(self.engine, bytes, Some((module, &state)))?;
        if let Some(compiled) = shared {
            if let Err(error) = self.folder.write(&name_of_shared, &compiled) {
                tracing::warn!("compiled code is not shared: {error}");
            }
            self.folder.prune(SHARED, KEPT_SHARED);
        }
        self.keep(&name, &code)
    }

    /// Writes code and maps it: mapped from the file, its pages are shared and can be dropped; from memory they could not.
    fn keep(&self, name: &str, code: &[u8]) -> Result<Code> {
        if let Err(error) = self.folder.write(name, code) {
            tracing::warn!("compiled code is not cached: {}: {error}", self.folder.file(name).display());
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
        // SAFETY: the folder is this user's alone and the bytes are those that this code wrote there, so they are what
        // wasmtime compiled. Wasmtime itself refuses code of another version or configuration.
        let component = unsafe { Component::deserialize_file(self.engine, &path) };
        match component.and_then(|component| Ok(Code::mapped(component, image_of(File::open(&path)?)?))) {
            Ok(code) => Some(code),
            Err(error) => {
                tracing::warn!("compiled code is not usable: {}: {error:#}", path.display());
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
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;
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

        compile(&engine, &bytes, Some(&folder)).unwrap();
        let [code] = &files(&folder, CODE)[..] else { panic!("one entry is written") };
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let whole = fs::read(code).unwrap();
        let marked = fs::metadata(code).unwrap().created().unwrap();

        compile(&engine, &bytes, Some(&folder)).unwrap();
        assert_eq!(fs::metadata(code).unwrap().created().unwrap(), marked, "the entry is used, not written again");

        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        for wrong in [&damaged[..], &whole[..middle], b""] {
            fs::write(code, wrong).unwrap();
            compile(&engine, &bytes, Some(&folder)).unwrap();
            assert_eq!(fs::read(code).unwrap(), whole, "a damaged entry is replaced");
        }

        // An entry whose digest is right but which no wasmtime wrote.
        let name = code.file_name().unwrap().to_str().unwrap();
        Folder::open(&folder).unwrap().write(name, b"foreign").unwrap();
        compile(&engine, &bytes, Some(&folder)).unwrap();
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
            load(&engine, &component(number), Some(&folder), served).unwrap().unwrap();
        }
        let written = |path: &PathBuf| fs::metadata(path).unwrap().created().unwrap();
        let all = files(&folder, CODE);
        assert_eq!(all.len(), served);
        let before = all.iter().map(written).max();
        for number in 0..served {
            let code = load(&engine, &component(number), Some(&folder), served).unwrap().unwrap();
            assert!(code.component().image_range().start.addr().is_multiple_of(4096));
        }
        assert_eq!(files(&folder, CODE).iter().map(written).max(), before, "nothing is written again");
        assert_eq!(
            load(&engine, Path::new("gone.wasm"), Some(&folder), 1).err().unwrap().kind(),
            io::ErrorKind::NotFound
        );
        assert!(load(&engine, Path::new(file!()).parent().unwrap(), None, 1).is_err());
        let text = parent.path().join("text.wasm");
        fs::write(&text, "no component").unwrap();
        assert!(load(&engine, &text, Some(&folder), 1).unwrap().is_err());
    }

    #[test]
    fn a_folder_that_cannot_be_used_costs_the_cache_and_not_the_module() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        compile(&Engine::default(), &tenon_fixtures::echo(200), Some(folder.path())).unwrap();
        assert!(files(folder.path(), CODE).is_empty());
    }

    fn engine() -> Engine {
        let mut config = wasmtime::Config::new();
        config.with_host_memory(std::sync::Arc::new(tenon_memory::Memories::new(2)));
        Engine::new(&config).unwrap()
    }

    /// What the component's functions say, the byte at 5,000 and the global: by the code in the folder.
    async fn ask(engine: &Engine, bytes: &[u8], folder: Option<&Path>) -> (u32, u32) {
        let code = compile(engine, bytes, folder).unwrap();
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
            let code = compile(&engine, &component(global), Some(folder.path())).unwrap();
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
            let refused = compile(&engine(), &bytes, folder).err().unwrap().to_string();
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
