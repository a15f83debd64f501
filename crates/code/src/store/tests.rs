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
    config.concurrency_support(false);
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

    // A mark in the unused bytes of the ELF header. Code that is made from this file has the mark too.
    let mut marked = fs::read(&shared[0]).unwrap();
    marked[9..13].copy_from_slice(b"mark");
    let name = shared[0].file_name().unwrap().to_str().unwrap();
    Folder::open(folder.path()).unwrap().write(name, &marked).unwrap();
    let is_marked = |path: &PathBuf| &fs::read(path).unwrap()[9..13] == b"mark";

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
