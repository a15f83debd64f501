use std::collections::BTreeSet;
use std::fs;

use wasmparser::{Operator, Parser, Payload, Validator, for_each_operator};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::*;

fn engine(has_tasks: bool) -> Engine {
    let mut config = Config::new();
    configure(&mut config, has_tasks);
    Engine::new(&config).unwrap()
}

/// Whatever wasmtime's defaults and cargo features are.
#[test]
fn an_engine_accepts_the_language_and_nothing_else() {
    for has_tasks in [false, true] {
        assert_eq!(engine(has_tasks).get_wasm_features(), proposals(has_tasks));
    }
}

/// One module for each proposal of core WebAssembly that wasmtime 48 implements.
const MODULES: [(&str, bool, &str); 18] = [
    ("multi-value", true, "(func (result i32 i32) (i32.const 1) (i32.const 2))"),
    ("bulk memory", true, "(memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 1)))"),
    ("reference types", true, "(table 1 externref) (func (drop (table.get 0 (i32.const 0))))"),
    ("SIMD", true, "(func (param v128) (result v128) (v128.not (local.get 0)))"),
    ("relaxed SIMD", true, "(func (param v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))"),
    ("tail calls", true, "(func $f (return_call $f))"),
    ("extended constants", true, "(global i32 (i32.add (i32.const 1) (i32.const 2)))"),
    ("several memories", true, "(memory 1) (memory 1)"),
    ("exceptions", true, "(tag $t) (func (block $b (try_table (catch_all $b) (throw $t))))"),
    ("legacy exception handling", false, "(func try catch_all end)"),
    ("garbage collection", false, "(type $s (struct)) (func (drop (struct.new $s)))"),
    ("function references", false, "(type $t (func)) (func (param (ref $t)) (call_ref $t (local.get 0)))"),
    ("64-bit memory", false, "(memory i64 1)"),
    ("custom page sizes", false, "(memory 1 (pagesize 1))"),
    ("threads", false, "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))"),
    ("shared memory", false, "(memory 1 1 shared)"),
    ("stack switching", false, "(type $f (func)) (type $c (cont $f))"),
    ("wide arithmetic", false, "(func (param i64) (result i64 i64) (i64.mul_wide_s (local.get 0) (local.get 0)))"),
];

#[test]
fn each_proposal_is_accepted_or_refused_as_it_is_named() {
    for has_tasks in [false, true] {
        let engine = engine(has_tasks);
        for (name, allowed, text) in MODULES {
            let module = wat::parse_str(format!("(module {text})")).unwrap();
            let made = Module::new(&engine, &module).map(drop);
            assert_eq!(made.is_ok(), allowed, "{name}: {made:?}");
            let component = wat::parse_str(format!("(component (core module {text}))")).unwrap();
            let made = Component::new(&engine, &component).map(drop);
            assert_eq!(made.is_ok(), allowed, "{name} in a component: {made:?}");
        }
    }
}

/// The error is what a user reads; it names the proposal.
#[test]
fn a_refusal_names_the_proposal() {
    let bytes = wat::parse_str("(component (core module (type (struct))))").unwrap();
    let said = format!("{:#}", Component::new(&engine(false), &bytes).err().unwrap());
    assert!(said.contains("gc"), "{said}");
}

/// docs/runtime.md has a row for each of [`MODULES`].
#[test]
fn the_documentation_has_the_same_list() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runtime.md");
    let docs = fs::read_to_string(docs).unwrap();
    let (_, section) = docs.split_once("### The language of components").unwrap();
    let (yes, no) = section.split_once("Refused:").unwrap();
    let (no, _) = no.split_once("\n\n").unwrap();
    for (name, allowed, _) in MODULES {
        assert_eq!((yes.contains(name), no.contains(name)), (allowed, !allowed), "{name}");
    }
}

/// The kept random modules of the isolation harness use every group of instructions of the language, and nothing else.
#[test]
fn random_modules_speak_the_whole_language() {
    let mut used = BTreeSet::new();
    for file in fs::read_dir(tenon_fixtures::random::KEPT).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        Validator::new_with_features(proposals(false))
            .validate_all(&bytes)
            .unwrap_or_else(|error| panic!("{path:?}: {error}"));
        used.extend(groups(&bytes));
    }
    let expected = [
        "bulk_memory",
        "exceptions",
        "mvp",
        "reference_types",
        "relaxed_simd",
        "saturating_float_to_int",
        "sign_extension",
        "simd",
        "tail_call",
    ];
    assert_eq!(used, expected.into());
}

/// The groups of instructions in a module, as wasmparser names them.
fn groups(module: &[u8]) -> BTreeSet<&'static str> {
    macro_rules! group {
        ($operator:expr, $(@$proposal:ident $op:ident $({ $($arg:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*))*) => {
            match $operator {
                $(Operator::$op { .. } => stringify!($proposal),)*
                other => panic!("{other:?}"),
            }
        };
    }
    let group = |operator: Operator<'_>| {
        macro_rules! of_operator {
            ($($all:tt)*) => { group!(operator, $($all)*) };
        }
        for_each_operator!(of_operator)
    };
    let mut found = BTreeSet::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CodeSectionEntry(body) = payload.unwrap() {
            found.extend(body.get_operators_reader().unwrap().into_iter().map(|operator| group(operator.unwrap())));
        }
    }
    found
}
