//! Builds with an engine of a few lines. It keeps the bundle in its memory and the bundle's length in a global.

use std::path::Path;

use tenon_rewrite::{EngineModule, with_restore};

use crate::host::places;
use crate::prepare::{Files, compile, store};
use crate::wasmtime_engine::configured;
use crate::{Engine, SnapshotError, Variant, compile_shipped, install, prepare, revision};

/// Addresses of the number of requests and of the number of collections.
const REQUESTS: usize = 500;
const COLLECTED: usize = 504;

/// The bundle's first letter says what the engine does: `!` fails, `?` grows without an end, `+` grows, `*` asks for the
/// time, `r` asks for random values, `s` for a second seed, `l` does not end, `c` makes calls in requests, `t` traps in requests.
fn engine() -> Vec<u8> {
    // The engine is the largest module of a component (`EngineModule::find`).
    let large = "x".repeat(16 * 1024);
    let [start, take, wait] = ["start", "take", "wait"].map(|name| place("sdk:core/calls@0.1.0", name));
    let log_write = place("sdk:core/log@0.1.0", "write");
    let get_environment = place("wasi:cli/environment@0.2.10", "get-environment");
    let [monotonic_now, wall_now] =
        ["monotonic", "wall"].map(|clock| place(&format!("wasi:clocks/{clock}-clock@0.2.10"), "now"));
    let [get_random_bytes, get_random_u64] =
        ["get-random-bytes", "get-random-u64"].map(|name| place("wasi:random/random@0.2.10", name));
    let text = format!(
        r#"(module
          (type $start (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
          (type $i-i (func (param i32) (result i32)))
          (type $i (func (param i32)))
          (type $iii (func (param i32 i32 i32)))
          (type $l (func (result i64)))
          (type $li (func (param i64 i32)))
          (memory (export "memory") 2)
          (table (export "__indirect_function_table") 128 funcref)
          (global $stack (mut i32) (i32.const 65536))
          (global $length (mut i32) (i32.const 0))
          (global $next (mut i32) (i32.const 80000))
          (global $first (mut i32) (i32.const 0))
          (data (i32.const 100) "data")
          (data "{large}")
          (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.get $next)
            (global.set $next
              (i32.and (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 7)) (i32.const -8))))
          (func (export "initialize") (param $name i32) (param i32) (param $source i32) (param $size i32) (result i32)
            (global.set $length (local.get $size))
            (global.set $first (i32.load8_u (local.get $source)))
            (call_indirect (type $i) (i32.const 200) (i32.const {wall_now}))
            (i64.store (i32.const 400) (call_indirect (type $l) (i32.const {get_random_u64})))
            (if (i32.eq (global.get $first) (i32.const 115)) (then (drop (call_indirect (type $l) (i32.const {get_random_u64})))))
            (call_indirect (type $iii) (i32.const 0) (local.get $source) (local.get $size) (i32.const {log_write}))
            (if (i32.eq (global.get $first) (i32.const 63)) (then (drop (memory.grow (i32.const 60000)))))
            (if (i32.eq (global.get $first) (i32.const 43))
              (then (drop (memory.grow (i32.const 3))) (i32.store8 (i32.const 300000) (i32.const 9))))
            (if (i32.eq (global.get $first) (i32.const 42)) (then (drop (call_indirect (type $l) (i32.const {monotonic_now})))))
            (if (i32.eq (global.get $first) (i32.const 114)) (then (call_indirect (type $li) (i64.const 1) (i32.const 400) (i32.const {get_random_bytes}))))
            (i32.eq (global.get $first) (i32.const 33)))
          (func (export "host_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0))
          (func (export "bridge_handle") (param i32 i32))
          (func (export "calls_start") (type $start) (i32.const 0))
          (func (export "calls_ready") (type $i))
          (func (export "calls_read") (param i32 i32))
          (func (export "calls_write") (param i32 i32 i32 i32 i32))
          (func (export "calls_wait") (type $i-i) (i32.const 0))
          (func (export "calls_take") (type $i))
          (func (export "calls_cancel") (type $i))
          (func (export "log_write") (type $iii))
          (func (export "sdk:core/streams@0.1.0#takes-bodies") (result i32) (i32.const 0))
          (func (export "sdk:core/streams@0.1.0#begin") (param i32 i32 i32 i32 i32 i32) (result i32) (unreachable))
          (func (export "sdk:core/streams@0.1.0#piece") (param i32 i32 i32) (result i32) (unreachable))
          (func (export "sdk:core/streams@0.1.0#end") (result i32) (unreachable))
          (func (export "sdk:core/streams@0.1.0#broken") (result i32) (unreachable))
          (func (export "sdk:core/streams@0.1.0#next") (result i32) (unreachable))
          (func (export "sdk:core/streams@0.1.0#cancel"))
          (func (export "collect")
            (i32.store (i32.const {COLLECTED}) (i32.add (i32.load (i32.const {COLLECTED})) (i32.const 1))))
          (func (export "sdk:core/handler@0.1.0#handle") (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
            (i32.store (i32.const {REQUESTS}) (i32.add (i32.load (i32.const {REQUESTS})) (i32.const 1)))
            (if (i32.eq (global.get $first) (i32.const 116)) (then (unreachable)))
            (if (i32.eq (global.get $first) (i32.const 99))
              (then
                (drop (call_indirect (type $start) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
                  (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const {start})))
                (if (i32.ne (call_indirect (type $i-i) (i32.const 7) (i32.const {wait})) (i32.const 1)) (then (unreachable)))
                (call_indirect (type $i) (i32.const 600) (i32.const {take}))
                ;; Nothing is left, and a timer of 7 µs is over.
                (if (call_indirect (type $i-i) (i32.const 7) (i32.const {wait})) (then (unreachable)))
                (i64.store (i32.const 640) (call_indirect (type $l) (i32.const {monotonic_now})))
                (call_indirect (type $i) (i32.const 648) (i32.const {get_environment}))))
            (i32.const 700)))"#
    );
    wat::parse_str(text).unwrap()
}

/// Returns the place of a function in the engine's table.
fn place(module: &str, name: &str) -> u64 {
    places().find(|(_, of, is)| (*of, *is) == (module, name)).unwrap().0
}

fn open(folder: &Path) -> Option<Engine> {
    let (compiler, module) = (configured().unwrap(), engine());
    let files = Files::of(&compiler, &module);
    Engine::open_files(folder, compiler, &files).unwrap()
}

fn prepared(folder: &Path) -> Engine {
    assert!(open(folder).is_none());
    let (compiler, module) = (configured().unwrap(), engine());
    store(folder, &Files::of(&compiler, &module), &module, &compile(&compiler, &module).unwrap()).unwrap();
    open(folder).unwrap()
}

/// Returns the byte at an address of a component's initial memory, or a function that does.
fn memory_of(component: &[u8]) -> impl Fn(usize) -> u8 {
    let state = EngineModule::find(component).unwrap().take_apart().unwrap().state;
    let mut memory = vec![0; usize::try_from(state.size()).unwrap()];
    for segment in &state.segments {
        memory[segment.offset as usize..][..segment.data.len()].copy_from_slice(segment.data);
    }
    move |at| memory[at]
}

#[test]
fn a_component_starts_with_the_state_of_its_top_level() {
    let folder = tempfile::tempdir().unwrap();
    let engine = prepared(folder.path());
    let bundle = [b"+", &[7; 999][..]].concat();
    let built = engine.build("h.js", &bundle, &[("tenon".to_owned(), "1".to_owned())], &[]).unwrap();
    assert_eq!(built.printed.as_bytes(), bundle);
    let features = tenon_language::proposals(false);
    wasmparser::Validator::new_with_features(features).validate_all(&built.component).unwrap();
    let apart = |component| EngineModule::find(component).unwrap().take_apart().unwrap();
    let made = apart(&built.component);
    assert_eq!(made.state.pages, 5);
    let byte = memory_of(&built.component);
    assert_eq!([byte(100), byte(300_000), byte(REQUESTS), byte(COLLECTED)], [b'd', 9, 2, 1]);

    // A component with another memory and without recorded tools has the same code, and one with other globals has not.
    let other = engine.build("h.js", &[b"+", &[8; 999][..]].concat(), &[], &[]).unwrap();
    assert!(apart(&other.component).rest == made.rest);
    let longer = engine.build("h.js", &[b"+", &[7; 1000][..]].concat(), &[], &[]).unwrap();
    assert!(apart(&longer.component).rest != made.rest);
}

#[test]
fn instances_of_a_component_can_be_restored() {
    let folder = tempfile::tempdir().unwrap();
    let component = prepared(folder.path()).build("h.js", b"bundle", &[], &[]).unwrap().component;
    let inner = tenon_rewrite::inner_handler(&component);
    assert!(inner.len() < component.len());
    with_restore(&inner, tenon_language::proposals(false)).unwrap();
}

#[test]
fn a_rehearsal_answers_calls() {
    let folder = tempfile::tempdir().unwrap();
    let built = prepared(folder.path()).build("h.js", b"calls", &[], &[]).unwrap();
    assert_eq!(built.printed, "calls");
    let byte = memory_of(&built.component);
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|offset| byte(at + offset)));
    // The second call of the rehearsal, its result, and its status.
    assert_eq!([600, 604, 608, 612].map(word), [1, 2, 0, 200]);
    let text =
        |at: usize| (0..word(at + 4) as usize).map(|offset| byte(word(at) as usize + offset)).collect::<Vec<_>>();
    assert_eq!([word(620), word(652)], [2, 0]);
    let headers = word(616) as usize;
    assert_eq!([text(headers), text(headers + 24)], [&b"content-type"[..], b"\"1\""]);
    assert!(text(624).starts_with(b"{\"rows\""));
    assert_eq!(word(640), 14_000, "two waits, in nanoseconds");
}

#[test]
fn a_rehearsal_that_fails_leaves_nothing_but_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let built = prepared(folder.path()).build("h.js", b"traps", &[], &[]).unwrap();
    assert_eq!(built.printed, "trapswarning: the component is not warmed up: a handler ended the engine\n");
    assert_eq!(memory_of(&built.component)(REQUESTS), 0);
}

#[test]
fn a_top_level_that_fails_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let engine = prepared(folder.path());
    let fail = |bundle: &[u8]| engine.build("h.js", bundle, &[], &[]).unwrap_err();
    assert!(matches!(fail(b"! it said"), SnapshotError::TopLevel(said) if said == "! it said"));
    assert!(matches!(fail(b"? memory"), SnapshotError::Memory(_)));
    let called = |bundle| match fail(bundle) {
        SnapshotError::HostCall(called) => called,
        other => panic!("{other}"),
    };
    assert_eq!(called(b"* time"), "now of wasi:clocks/monotonic-clock@0.2.10");
    assert_eq!(called(b"random"), "get-random-bytes of wasi:random/random@0.2.10");
    assert_eq!(called(b"seed"), "get-random-u64 of wasi:random/random@0.2.10");
}

/// The engine that ships: the world, the imports and the exports fit.
#[test]
fn the_engine_evaluates_a_module() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path(), Variant::Lean).unwrap();
    let engine = Engine::open(folder.path(), Variant::Lean).unwrap().unwrap();
    let source = b"export const handler = { handle: () => ({ status: 204, headers: [] }) };";
    let built = engine.build("h.js", source, &[], &[]).unwrap();
    assert_eq!(built.printed, "");
    with_restore(&tenon_rewrite::inner_handler(&built.component), tenon_language::proposals(false)).unwrap();
    let SnapshotError::TopLevel(said) = engine.build("h.js", b"\nthrow new Error('no');", &[], &[]).unwrap_err() else {
        panic!("it is the module's error")
    };
    assert!(said.starts_with("Exception while evaluating top-level script\n"), "{said}");
    assert!(said.contains("Error: no") && said.contains("h.js:2"), "{said}");
}

#[test]
fn shipped_code_builds_the_same() {
    let [own, shipped] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    prepare(own.path(), Variant::Lean).unwrap();
    install(shipped.path(), Variant::Lean, &compile_shipped(Variant::Lean, None).unwrap()).unwrap();
    let source = b"export const handler = { handle: () => ({ status: 204, headers: [] }) };";
    let [one, other] = [own, shipped].map(|folder| {
        let engine = Engine::open(folder.path(), Variant::Lean).unwrap().unwrap();
        engine.build("h.js", source, &[], &[]).unwrap().component
    });
    assert!(one == other);
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(install(folder.path(), Variant::Lean, b"no code"), Err(SnapshotError::Engine(_))));
    assert_eq!(revision(None).unwrap().len(), 32);
}
