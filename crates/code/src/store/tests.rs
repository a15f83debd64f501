use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use super::*;
use crate::RESTORE;
use crate::compiler::tests::here;
use crate::fixture::{snapshot, with};

mod restored;

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

/// The number of a file. One that is written again has another.
fn inode(path: &PathBuf) -> u64 {
    fs::metadata(path).unwrap().ino()
}

#[test]
fn code_is_compiled_once_and_damage_is_noticed() {
    let engine = Engine::default();
    let computed = with(r#"(data (offset (global.get $fixed)) "x")"#, 1, 8, &[(5_000, b"b")]);
    let echo = tenon_fixtures::echo(200);
    for (extension, bytes) in [(CODE, &computed), (SHARED, &echo), (STATE, &echo)] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("code");
        compile(&engine, bytes, Some(&folder), &here()).unwrap();
        let [file] = &files(&folder, extension)[..] else { panic!("one {extension} is written") };
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let whole = fs::read(file).unwrap();
        let marked = inode(file);

        compile(&engine, bytes, Some(&folder), &here()).unwrap();
        assert_eq!(inode(file), marked, "the entry is used, not written again");

        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        for wrong in [&damaged[..], &whole[..middle], b""] {
            fs::write(file, wrong).unwrap();
            compile(&engine, bytes, Some(&folder), &here()).unwrap();
            assert_eq!(fs::read(file).unwrap(), whole, "a damaged entry is replaced");
        }

        // An entry with the right digest that is not wasmtime's output.
        let name = file.file_name().unwrap().to_str().unwrap();
        Folder::open(&folder).unwrap().write(name, b"foreign").unwrap();
        compile(&engine, bytes, Some(&folder), &here()).unwrap();
        assert_eq!(fs::read(file).unwrap(), whole, "a foreign entry is replaced");
    }
}

#[test]
fn a_file_is_loaded_as_its_bytes_are_and_enough_code_is_kept_for_all_that_are_served() {
    let engine = Engine::default();
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("code");
    let served = KEPT + 6;
    let component = |number: usize| {
        let file = parent.path().join(format!("{number}.wasm"));
        fs::write(&file, snapshot(1, 7, &[(5_000, &(1 + number).to_le_bytes())])).unwrap();
        file
    };
    let store = || Store::open(&engine, Some(&folder), served);
    assert!(!store().may_hold_code());
    for number in 0..served {
        load(&engine, &component(number), Some(&folder), served, &here()).unwrap().unwrap();
    }
    assert!(store().may_hold_code() && !Store::open(&self::engine(), Some(&folder), served).may_hold_code());
    let written = || files(&folder, STATE).iter().map(inode).collect::<BTreeSet<_>>();
    let all = files(&folder, STATE);
    assert_eq!((all.len(), files(&folder, SHARED).len(), files(&folder, CODE).len()), (served, 1, 0));
    let before = written();
    for number in 0..served {
        let code = cached(&engine, &component(number), Some(&folder), served).unwrap().unwrap();
        assert!(code.component().image_range().start.addr().is_multiple_of(4096));
    }
    assert_eq!(written(), before, "nothing is written again");
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
    config.concurrency_support(false).memory_init_cow(false);
    config.with_host_memory(std::sync::Arc::new(tenon_memory::Memories::new(2)));
    Engine::new(&config).unwrap()
}

/// An instance of the fixture.
struct Running {
    store: wasmtime::Store<()>,
    instance: wasmtime::component::Instance,
    _memory: Option<tenon_memory::Live>,
}

impl Running {
    async fn new(code: &Code) -> Self {
        let engine = code.component().engine();
        let mut store = wasmtime::Store::new(engine, ());
        let linker = wasmtime::component::Linker::new(engine);
        let instance = linker.instantiate_async(&mut store, code.component());
        let (instance, started) = tenon_memory::providing(code.image(), instance).await;
        assert_eq!(started.is_used, code.image().is_some());
        Self { store, instance: instance.unwrap(), _memory: started.memory }
    }

    async fn ask(&mut self, name: &str) -> u32 {
        let function = self.instance.get_typed_func::<(), (u32,)>(&mut self.store, name).unwrap();
        function.call_async(&mut self.store, ()).await.unwrap().0
    }

    async fn grow(&mut self, pages: u32) -> i32 {
        let function = self.instance.get_typed_func::<(u32,), (i32,)>(&mut self.store, "grow").unwrap();
        function.call_async(&mut self.store, (pages,)).await.unwrap().0
    }
}

/// Calls the component's functions, compiled or loaded from the folder: the byte at 5,000 and the global.
async fn ask(engine: &Engine, bytes: &[u8], folder: Option<&Path>) -> (u32, u32) {
    let code = compile(engine, bytes, folder, &here()).unwrap();
    // Released code is mapped again when it runs.
    code.release();
    let mut running = Running::new(&code).await;
    (running.ask("byte").await, running.ask("global").await)
}

/// A mark in the unused bytes of the ELF header. Code that is made from a marked file has the mark too.
fn mark(folder: &Path, file: &Path) {
    let mut marked = fs::read(file).unwrap();
    marked[9..13].copy_from_slice(b"mark");
    Folder::open(folder).unwrap().write(file.file_name().unwrap().to_str().unwrap(), &marked).unwrap();
}

fn is_marked(code: &Code) -> bool {
    let loaded = code.component().image_range().start;
    // SAFETY: a component's code starts with the header of an ELF file.
    let header = unsafe { std::slice::from_raw_parts(loaded, 64) };
    header[9..13] == *b"mark"
}

#[tokio::test]
async fn a_component_with_another_state_takes_the_code_of_the_first() {
    let engine = engine();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ask(&engine, &snapshot(2, 7, &[(5_000, b"a")]), Some(folder.path())).await, (97, 7));
    let [shared] = &files(folder.path(), SHARED)[..] else { panic!("the code is shared") };
    mark(folder.path(), shared);
    let load = |bytes: &[u8]| compile(&engine, bytes, Some(folder.path()), &here()).unwrap();

    for (bytes, byte) in
        [(snapshot(3, 7, &[(100, b"x"), (4_999, b"abc")]), 98), (snapshot(1, 7, &[(5_000, b"s")]), 115)]
    {
        assert!(is_marked(&load(&bytes)));
        assert_eq!(ask(&engine, &bytes, Some(folder.path())).await, (byte, 7));
    }
    assert_eq!(files(folder.path(), SHARED).len(), 1);

    // Other globals are in the code.
    let other = snapshot(2, -1, &[(65_535, b"x")]);
    assert!(!is_marked(&load(&other)));
    assert_eq!(ask(&engine, &other, Some(folder.path())).await, (0, u32::MAX));
    assert_eq!(files(folder.path(), SHARED).len(), 2);
    assert!(files(folder.path(), CODE).is_empty());
}

/// Two engines in a component, with memories of one size: each has its own, and only one of them an image.
#[tokio::test]
async fn the_image_is_for_the_memories_of_its_module() {
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    let component = |pages: u32, text: &str| {
        let text = format!(
            r#"(component
                 (core module $other (memory {pages}) (data (i32.const 5000) "o")
                   (func (export "byte") (result i32) (i32.load8_u (i32.const 5000))))
                 (core module $engine (memory {pages}) (data (i32.const 5000) "{text}")
                   (func (export "byte") (result i32) (i32.load8_u (i32.const 5000)))
                   (func (export "more") (result i32) (i32.add (i32.const 1) (i32.const 2))))
                 (core instance $o (instantiate $other)) (core instance $e (instantiate $engine))
                 (core instance $twin (instantiate $engine))
                 (func (export "other") (result u32) (canon lift (core func $o "byte")))
                 (func (export "twin") (result u32) (canon lift (core func $twin "byte")))
                 (func (export "byte") (result u32) (canon lift (core func $e "byte"))))"#
        );
        wat::parse_str(text).unwrap()
    };
    for (pages, text, byte) in [(2, "abc", 97), (2, "b", 98), (1, "c", 99)] {
        let code = compile(&engine, &component(pages, text), Some(folder.path()), &here()).unwrap();
        // No smaller size is left for a memory of one page.
        assert_eq!(code.image().is_some(), pages > 1);
        let mut running = Running::new(&code).await;
        let asked = [running.ask("byte").await, running.ask("twin").await, running.ask("other").await];
        assert_eq!(asked, [byte, byte, 111], "{text}");
    }
    assert_eq!([SHARED, CODE].map(|extension| files(folder.path(), extension).len()), [1, 1]);
}

#[tokio::test]
async fn components_that_differ_in_their_memory_only_have_one_component_in_a_process() {
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    let (small, large) = (snapshot(1, 7, &[(5_000, b"s")]), snapshot(5, 7, &[(5_000, b"l"), (300_000, b"x")]));
    for folder in [None, Some(folder.path()), Some(folder.path())] {
        let load = |bytes: &[u8]| compile(&engine, bytes, folder, &here()).unwrap();
        let codes = [load(&small), load(&large), load(&small)];
        let [one, two, three] = codes.each_ref().map(|code| code.component().image_range());
        assert!(one == two && two == three);
        let mut instances = Vec::new();
        for (code, byte, pages) in [(&codes[0], b's', 1), (&codes[1], b'l', 5), (&codes[2], b's', 1)] {
            instances.push((Running::new(code).await, u32::from(byte), pages));
        }
        for (running, byte, pages) in &mut instances {
            assert_eq!((running.ask("byte").await, running.ask("global").await), (*byte, 7));
            assert_eq!(running.ask("pages").await, *pages);
            assert_eq!(running.grow(2).await, pages.cast_signed());
            assert_eq!(running.ask("pages").await, *pages + 2);
        }
        // Other globals are in the code, and another engine has its own.
        let other = load(&snapshot(1, 8, &[(5_000, b"s")]));
        assert!(other.component().image_range() != one);
        let elsewhere = compile(&self::engine(), &small, folder, &here()).unwrap();
        assert!(elsewhere.component().image_range() != one);
        drop(instances);
        drop(codes);
        assert_eq!(ask(&engine, &large, folder).await, (108, 7), "the code is loaded again");
    }
}

/// Components that load at the same time compile their code once, and later load it once.
#[test]
fn code_is_loaded_once_by_components_that_load_at_the_same_time() {
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    for _ in 0..2 {
        let start = std::sync::Barrier::new(8);
        let codes: Vec<Code> = std::thread::scope(|scope| {
            let loading: Vec<_> = (0..8_u8)
                .map(|number| {
                    let (engine, folder, start) = (&engine, folder.path(), &start);
                    scope.spawn(move || {
                        let bytes = snapshot(1 + u32::from(number), 7, &[(5_000, &[1 + number])]);
                        start.wait();
                        compile(engine, &bytes, Some(folder), &here()).unwrap()
                    })
                })
                .collect();
            loading.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(codes.windows(2).all(|two| two[0].component().image_range() == two[1].component().image_range()));
    }
    let load = |number: u8| {
        let bytes = snapshot(1 + u32::from(number), 7, &[(5_000, &[1 + number])]);
        cached_bytes(&engine, &bytes, Some(folder.path()), 8).unwrap()
    };
    let codes: Vec<_> = (0..8).map(load).collect();
    assert!(codes.windows(2).all(|two| two[0].component().image_range() == two[1].component().image_range()));
}

#[test]
fn each_folder_receives_the_code_of_its_states() {
    let (engine, folders) = (engine(), [(); 2].map(|()| tempfile::tempdir().unwrap()));
    let component = snapshot(1, 7, &[(5_000, b"x")]);
    let codes = folders.each_ref().map(|folder| compile(&engine, &component, Some(folder.path()), &here()).unwrap());
    for folder in &folders {
        assert_eq!([STATE, SHARED].map(|extension| files(folder.path(), extension).len()), [1, 1]);
    }
    drop(codes);
}

/// Returns the resident bytes of all memory of this process.
#[cfg(target_os = "linux")]
fn total_resident() -> u64 {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    maps.lines().filter_map(|line| line.strip_prefix("Rss:")).map(kib).sum::<u64>() * 1024
}

/// Reads a size of `/proc/self/smaps`.
#[cfg(target_os = "linux")]
fn kib(size: &str) -> u64 {
    size.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Returns the resident bytes of a component's code in this process.
#[cfg(target_os = "linux")]
fn resident(code: &Code) -> u64 {
    let range = code.component().image_range();
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let mut resident = 0;
    let mut inside = false;
    for line in maps.lines() {
        let addresses = line.split(' ').next().and_then(|range| range.split_once('-'));
        let addresses = addresses.and_then(|(start, _)| usize::from_str_radix(start, 16).ok());
        if let Some(start) = addresses {
            inside = (range.start.addr()..range.end.addr()).contains(&start);
        } else if let Some(size) = line.strip_prefix("Rss:").filter(|_| inside) {
            resident += kib(size) * 1024;
        }
    }
    resident
}

#[tokio::test]
#[cfg(target_os = "linux")]
#[allow(clippy::print_stderr, reason = "reports why the test is left out")]
async fn code_stays_resident_until_all_components_that_share_it_are_idle() {
    if total_resident() == 0 {
        eprintln!("skipped: qemu counts no resident memory");
        return;
    }
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    let load = |byte: u8| compile(&engine, &snapshot(1, 7, &[(5_000, &[byte])]), Some(folder.path()), &here()).unwrap();
    let [one, two, three] = [1, 2, 3].map(load);
    for (code, byte) in [(&one, 1), (&two, 2), (&three, 3)] {
        assert_eq!(Running::new(code).await.ask("byte").await, byte);
    }
    one.release();
    one.release();
    two.release();
    assert!(resident(&one) > 0, "the third one still uses the code");
    assert_eq!(Running::new(&three).await.ask("byte").await, 3);
    drop(three);
    assert_eq!(resident(&one), 0);
    // An idle component still answers, and counts as a user again.
    assert_eq!(Running::new(&one).await.ask("byte").await, 1);
    one.resume();
    one.resume();
    two.release();
    assert!(resident(&one) > 0);
    one.release();
    assert_eq!(resident(&one), 0);
    assert_eq!(Running::new(&two).await.ask("byte").await, 2);
}

/// A file that is gone or wrong costs time, and nothing else.
#[tokio::test]
async fn a_file_that_is_gone_or_foreign_is_made_again() {
    let (engine, parent) = (engine(), tempfile::tempdir().unwrap());
    let folder = parent.path().join("code");
    let bytes = snapshot(2, 7, &[(5_000, b"a")]);
    assert_eq!(ask(&engine, &bytes, Some(&folder)).await, (97, 7));
    let file = |extension: &str| files(&folder, extension).remove(0);
    for extensions in [&[SHARED][..], &[STATE], &[STATE, SHARED]] {
        for extension in extensions {
            fs::remove_file(file(extension)).unwrap();
        }
        assert!(
            extensions == [STATE] || cached_bytes(&engine, &bytes, Some(&folder), 1).is_none(),
            "{extensions:?} cannot be missed"
        );
        assert_eq!(ask(&engine, &bytes, Some(&folder)).await, (97, 7), "{extensions:?}");
        assert!(cached_bytes(&engine, &bytes, Some(&folder), 1).is_some());
    }
    // Entries with the right digest that this version did not write.
    let write = |extension: &str, content: &[u8]| {
        let file = file(extension);
        Folder::open(&folder).unwrap().write(file.file_name().unwrap().to_str().unwrap(), content).unwrap();
    };
    let (code, state) = (fs::read(file(SHARED)).unwrap(), fs::read(file(STATE)).unwrap());
    for wrong in [&b"foreign"[..], b"", &code[..code.len() - 1], &state] {
        write(SHARED, wrong);
        assert_eq!(ask(&engine, &bytes, Some(&folder)).await, (97, 7));
        assert!(fs::read(file(SHARED)).unwrap() == code);
    }
    let mut beyond = state.clone();
    let size = state.len() - 80 + 32;
    beyond[size..size + 8].copy_from_slice(&4096_u64.to_le_bytes());
    for wrong in [&b"foreign"[..], b"", &state[..state.len() - 1], &state[4096..], &beyond, &code] {
        write(STATE, wrong);
        assert_eq!(ask(&engine, &bytes, Some(&folder)).await, (97, 7));
        assert!(fs::read(file(STATE)).unwrap() == state);
    }
}

/// Code for memories of another maximum is other code, so a memory beyond its maximum reaches the compiler, which
/// refuses it.
#[test]
fn a_memory_beyond_its_maximum_is_refused() {
    let component = |pages: u32| {
        let text = format!(
            r#"(component (core module $m (memory {pages} 3) (data (i32.const 0) "a") (func (export "f")))
                 (core instance $i (instantiate $m)) (func (export "f") (canon lift (core func $i "f"))))"#
        );
        wat::parse_str(text).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let load = |pages| compile(&engine(), &component(pages), Some(folder.path()), &here());
    assert!(load(1).is_ok() && load(3).is_ok());
    assert_eq!(files(folder.path(), SHARED).len(), 1);
    assert!(load(4).is_err());
}

/// A state whose code is in use is not removed before it, nor is the code.
#[test]
fn a_state_keeps_its_code() {
    let (engine, folder) = (engine(), tempfile::tempdir().unwrap());
    let bytes = |global: usize| snapshot(1, i32::try_from(global).unwrap(), &[(5_000, b"a")]);
    let load = |bytes: &[u8]| compile(&engine, bytes, Some(folder.path()), &here()).unwrap();
    let first = load(&bytes(0));
    for global in 1..KEPT + 5 {
        load(&bytes(global));
        load(&bytes(0));
    }
    drop(first);
    let count = |extension: &str| files(folder.path(), extension).len();
    assert_eq!((count(STATE), count(SHARED)), (KEPT + 1, KEPT + 1));
    assert!(cached_bytes(&engine, &bytes(0), Some(folder.path()), 1).is_some());
    let kept = (0..KEPT + 5).filter(|global| cached_bytes(&engine, &bytes(*global), Some(folder.path()), 1).is_some());
    assert_eq!(kept.count(), KEPT + 1);
}
