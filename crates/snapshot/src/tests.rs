//! Builds with an engine of a few lines. It keeps the bundle in its memory and the bundle's length in a global.

use std::fs;
use std::path::Path;

use tenon_rewrite::EngineModule;
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::{
    Engine, Ingredients, SnapshotError, SpecializableEngine, install, prepare, prepare_shipped, prepare_specializable,
};

/// Address at which the engine keeps its input.
const AT: usize = 70_000;

/// Addresses of the mark of the first call, and of its time.
const FIRST_CALL: usize = 403;
const STARTED: usize = 408;

/// Builds the engine. `imports` are the functions that only a snapshot's making calls.
fn engine(imports: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
          {imports}
          (memory (export "memory") 2)
          (global $stack (mut i32) (i32.const 65536))
          (global $length (mut i32) (i32.const 0))
          (data (i32.const 100) "h.js")
          (data (i32.const 200) "\70\11\01\00\00\10\00\00")
          (data (i32.const {FIRST_CALL}) "\01")
          (data $unused "passive")
          (func (export "_initialize"))
          (func (export "wizer.resume"))
          (func (export "check_init") (result i32) (i32.const 0))
          (func (export "componentize.wizer")
            (local $first i32)
            ;; Opens the bundle, reads it to {AT}, and acts on its first letter.
            (if (call $open (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 4) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 300)) (then unreachable))
            (drop (call $read (i32.load (i32.const 300)) (i32.const 200) (i32.const 1) (i32.const 304)))
            (call $mark (i32.const 1))
            (global.set $length (call $value (i32.load (i32.const 304)) (i32.const 0) (i32.const 0)))
            (i32.store (i32.const 304) (i32.const 0))
            (local.set $first (i32.load8_u (i32.const {AT})))
            (if (i32.eq (local.get $first) (i32.const 33)) ;; !
              (then
                (drop (call $write (i32.const 2) (i32.const 200) (i32.const 1) (i32.const 304)))
                (call $exit (i32.const 1))))
            (if (i32.eq (local.get $first) (i32.const 63)) ;; ?
              (then (drop (memory.grow (i32.const 60000)))))
            (if (i32.eq (local.get $first) (i32.const 43)) ;; +
              (then (drop (memory.grow (i32.const 3))) (i32.store8 (i32.const 300000) (i32.const 9))))
            (if (i32.eq (local.get $first) (i32.const 42)) ;; *
              (then (drop (call $now)))))
          (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (memory.init $unused (i32.const 0) (i32.const 0) (i32.const 0)) (i32.const 8))
          (func (export "sdk:core/handler@0.1.0#handle") (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
            (if (i32.load8_u (i32.const {FIRST_CALL}))
              (then
                (i32.store8 (i32.const {FIRST_CALL}) (i32.const 0))
                (drop (call $clock (i32.const 0) (i64.const 0) (i32.const {STARTED})))))
            (global.get $length))
          (func (export "cabi_post_sdk:core/handler@0.1.0#handle") (param i32)))"#
    );
    let mut module = wat::parse_str(text).unwrap();
    let mut resolve = Resolve::default();
    resolve.push_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")).unwrap();
    let package = resolve.push_str("t.wit", "package t:t; world w { export sdk:core/handler@0.1.0; }").unwrap();
    let world = resolve.select_world(&[package], Some("w")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    module
}

fn ingredients() -> Ingredients {
    let real = r#"
      (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
      (import "wasi:clocks/monotonic-clock@0.2.10" "now" (func $now (result i64)))
      (import "weval" "push.context" (func $mark (param i32)))
      (import "weval" "specialize.value" (func $value (param i32 i32 i32) (result i32)))"#;
    let stubs = r"
      (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) unreachable)
      (func $read (param i32 i32 i32 i32) (result i32) unreachable)
      (func $write (param i32 i32 i32 i32) (result i32) unreachable)
      (func $exit (param i32) unreachable)
      (func $clock (param i32 i64 i32) (result i32) unreachable)
      (func $now (result i64) unreachable)
      (func $mark (param i32))
      (func $value (param i32 i32 i32) (result i32) local.get 0)";
    Ingredients {
        engine: engine(real),
        stubbed: engine(stubs),
        adapter: wat::parse_str("(module)").unwrap(),
        bindings: "// bindings".to_owned(),
        environment: vec!["NAME=value".to_owned()],
    }
}

fn prepared(folder: &Path) -> Engine {
    assert!(Engine::open(folder, "key").unwrap().is_none());
    prepare(folder, "key", ingredients()).unwrap();
    Engine::open(folder, "key").unwrap().unwrap()
}

#[test]
fn a_component_starts_with_what_the_top_level_left() {
    let folder = tempfile::tempdir().unwrap();
    let engine = prepared(folder.path());
    let bundle = [b"+", &[7; 999][..]].concat();
    let built = engine.build("h.js", &bundle, &[("tenon".to_owned(), "1".to_owned())], &[]).unwrap();
    wasmparser::Validator::new_with_features(wasmparser::WasmFeatures::default())
        .validate_all(&built.component)
        .unwrap();
    let state = EngineModule::find(&built.component).unwrap().take_apart().unwrap().state;
    assert_eq!(state.pages, 5);
    let byte = |at: usize| {
        let covers = |start: usize, length: usize| (start..start + length).contains(&at);
        let segment = state.segments.iter().find(|segment| covers(segment.offset as usize, segment.data.len()));
        segment.map_or(0, |segment| segment.data[at - segment.offset as usize])
    };
    assert_eq!([byte(AT), byte(AT + 1), byte(AT + 999), byte(AT + 1_000), byte(300_000)], [b'+', 7, 7, 0, 9]);
    assert_eq!([byte(100), byte(103)], [b'h', b's'], "what the engine brings stays");
    // It has answered and has no mark of that, because each instance counts from a time of its own.
    assert_eq!(byte(FIRST_CALL), 1);
    assert_ne!((STARTED..STARTED + 8).map(byte).collect::<Vec<_>>(), [0; 8]);

    // A component with another state and without recorded tools has the same code.
    let other = engine.build("h.js", b"other", &[], &[]).unwrap();
    assert!(!other.component.windows(9).any(|bytes| bytes == b"producers"));
    assert_eq!(engine.build("h.js", b"other", &[], &[]).unwrap().component, other.component, "builds can be repeated");
}

#[test]
fn an_engine_that_is_shipped_builds_the_same_and_can_be_made_again() {
    let (own, package, cache) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = prepared(own.path()).build("h.js", b"bundle", &[], &[]).unwrap().component;
    prepare_shipped(package.path(), "key", ingredients()).unwrap();
    let content = |folder: &Path| {
        let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.retain(|path| path.extension().is_some_and(|extension| extension == "engine"));
        all.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    let before = content(package.path());
    prepare_shipped(package.path(), "key", ingredients()).unwrap();
    assert!(before.len() == 1 && content(package.path()) == before);

    assert!(install(cache.path(), "other", package.path()).is_err());
    install(cache.path(), "key", package.path()).unwrap();
    let shipped = Engine::open(cache.path(), "key").unwrap().unwrap();
    assert!(shipped.build("h.js", b"bundle", &[], &[]).unwrap().component == expected);
}

/// weval's change to a module between the two is left out here.
#[test]
fn a_snapshot_for_weval_is_the_same_engine_and_state() {
    let folder = tempfile::tempdir().unwrap();
    assert!(SpecializableEngine::open(folder.path(), "weval").unwrap().is_none());
    prepare_specializable(folder.path(), "weval", ingredients()).unwrap();
    let engine = SpecializableEngine::open(folder.path(), "weval").unwrap().unwrap();
    let snapshot = engine.snapshot("h.js", b"bundle").unwrap();
    let component = engine.component(&snapshot.module, &[]).unwrap();
    let plain = prepared(folder.path()).build("h.js", b"bundle", &[], &[]).unwrap().component;
    let take_apart = |component| {
        let apart = EngineModule::find(component).unwrap().take_apart().unwrap();
        (format!("{:?}", apart.state), apart.rest)
    };
    assert_eq!(take_apart(&component), take_apart(&plain));
    assert!(matches!(engine.snapshot("h.js", b"! no"), Err(SnapshotError::TopLevel(_))));
    assert!(matches!(engine.component(b"no module", &[]), Err(SnapshotError::Engine(_))));
}

#[test]
fn a_top_level_that_fails_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let engine = prepared(folder.path());
    let fail = |bundle: &[u8]| engine.build("h.js", bundle, &[], &[]).unwrap_err();
    assert!(matches!(fail(b"! it said"), SnapshotError::TopLevel(said) if said.starts_with("! it said")));
    assert!(matches!(fail(b"? memory"), SnapshotError::Memory(_)));
    let SnapshotError::HostCall(called) = fail(b"* time") else { panic!("it calls the host") };
    assert_eq!(called, "now of wasi:clocks/monotonic-clock@0.2.10");
    assert!(matches!(engine.build("gone.js", b"", &[], &[]), Err(SnapshotError::TopLevel(_))));
}

#[test]
fn what_was_prepared_and_is_damaged_is_prepared_again() {
    let folder = tempfile::tempdir().unwrap();
    drop(prepared(folder.path()));
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "template") {
            fs::write(path, b"half").unwrap();
        }
    }
    drop(prepared(folder.path()));
    assert!(Engine::open(folder.path(), "other").unwrap().is_none());
}

#[test]
fn data_that_no_function_refers_to_leave_nothing_behind() {
    let passive = |instruction: &str| {
        let text =
            format!(r#"(module (memory 1) (data (i32.const 1) "a") (data (i32.const 9) "b") (func {instruction}))"#);
        let template = crate::template::without_memory(&wat::parse_str(text).unwrap()).unwrap();
        let data = wasmparser::Parser::new(0).parse_all(&template).find_map(|payload| match payload.unwrap() {
            wasmparser::Payload::DataSection(data) => Some(data),
            _ => None,
        });
        let kinds = data.unwrap().into_iter().map(|data| data.unwrap().kind);
        kinds.filter(|kind| matches!(kind, wasmparser::DataKind::Passive)).count()
    };
    assert_eq!(passive(""), 0);
    assert_eq!(passive("(data.drop 1)"), 2);
}
