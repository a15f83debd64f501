use wasmtime::component::{Component, Instance as Made, Linker};
use wasmtime::{Engine, Store};

use super::*;

fn added(component: &[u8]) -> Result<Vec<u8>, Error> {
    super::with_restore(component, WasmFeatures::default())
}

/// Builds a component from these definitions in its engine, in another module, and around both.
fn component(engine: &str, other: &str, around: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
             (core module $engine
               (memory (export "memory") 1)
               (data (i32.const 8) "state")
               (table (export "table") 1 funcref)
               {engine})
             (core module $other (import "engine" "memory" (memory 0)) {other})
             (core instance $e (instantiate $engine))
             (core instance $o (instantiate $other (with "engine" (instance $e))))
             {around})"#
    );
    wat::parse_str(text).unwrap()
}

fn reason(engine: &str, other: &str, around: &str) -> String {
    added(&component(engine, other, around)).unwrap_err().to_string()
}

fn call<T>(store: &mut Store<()>, instance: Made, name: &str) -> T
where
    (T,): wasmtime::component::ComponentNamedList + wasmtime::component::Lift,
{
    instance.get_typed_func::<(), (T,)>(&mut *store, name).unwrap().call(&mut *store, ()).unwrap().0
}

#[test]
fn the_globals_of_all_modules_become_what_they_were_at_first() {
    let engine = r#"
        (global $fixed i32 (i32.const 5))
        (global $a (mut i32) (i32.const 7))
        (global $b (mut f64) (f64.const 2.5))
        (func (export "a") (result i32)
          (global.set $a (i32.add (global.get $a) (global.get $fixed))) (global.get $a))
        (func (export "b") (result f64)
          (global.set $b (f64.add (global.get $b) (f64.const 1))) (global.get $b))"#;
    let other = r#"
        (global $c (mut i64) (i64.const -1))
        (global $d (mut f32) (f32.const 0.5))
        (func (export "c") (result i64)
          (global.set $c (i64.sub (global.get $c) (i64.const 1))) (global.get $c))
        (func (export "d") (result f32)
          (global.set $d (f32.neg (global.get $d))) (global.get $d))"#;
    let around = r#"
        (func (export "a") (result s32) (canon lift (core func $e "a")))
        (func (export "b") (result f64) (canon lift (core func $e "b")))
        (func (export "c") (result s64) (canon lift (core func $o "c")))
        (func (export "d") (result f32) (canon lift (core func $o "d")))"#;
    let made = added(&component(engine, other, around)).unwrap();
    let engine = Engine::default();
    let component = Component::new(&engine, made).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &component).unwrap();
    let restore = instance.get_typed_func::<(), ()>(&mut store, RESTORE).unwrap();
    let mut digests = Vec::new();
    for _ in 0..3 {
        digests.push(call::<u64>(&mut store, instance, GLOBALS));
        for (a, b, c, d) in [(12, 3.5, -2, -0.5), (17, 4.5, -3, 0.5)] {
            assert_eq!(call::<i32>(&mut store, instance, "a"), a);
            assert_eq!(call::<f64>(&mut store, instance, "b").to_bits(), f64::to_bits(b));
            assert_eq!(call::<i64>(&mut store, instance, "c"), c);
            assert_eq!(call::<f32>(&mut store, instance, "d").to_bits(), f32::to_bits(d));
        }
        restore.call(&mut store, ()).unwrap();
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]));
    // Each global changes the digest.
    for name in ["a", "b", "c", "d"] {
        match name {
            "a" => drop(call::<i32>(&mut store, instance, name)),
            "b" => drop(call::<f64>(&mut store, instance, name)),
            "c" => drop(call::<i64>(&mut store, instance, name)),
            _ => drop(call::<f32>(&mut store, instance, name)),
        }
        let digest = call::<u64>(&mut store, instance, GLOBALS);
        assert!(!digests.contains(&digest), "{name}");
        digests.push(digest);
    }
}

#[test]
fn what_can_change_otherwise_is_not_restored() {
    let function = |body: &str| format!("(func $f {body}) (elem declare func $f)");
    for body in [
        "(table.set (i32.const 0) (ref.null func))",
        "(drop (table.grow (ref.null func) (i32.const 1)))",
        "(table.fill (i32.const 0) (ref.null func) (i32.const 1))",
        "(table.copy (i32.const 0) (i32.const 0) (i32.const 1))",
        "(table.init $el (i32.const 0) (i32.const 0) (i32.const 0))",
    ] {
        let engine = function(body) + "(elem $el func $f)";
        assert_eq!(reason(&engine, "", ""), "code can change a table", "{body}");
    }
    for body in ["(elem.drop $el)", "(data.drop $d)"] {
        let engine = function(body) + r#"(elem $el func $f) (data $d "passive")"#;
        assert_eq!(reason(&engine, "", ""), "code can drop data or elements", "{body}");
    }
    for (engine, other, around, expected) in [
        ("(func $f) (start $f)", "", "", "code runs before the first call"),
        ("", "(func $f) (start $f)", "", "code runs before the first call"),
        ("", "(memory 1)", "", "it does not have exactly one memory"),
        ("", r#"(data (i32.const 0) "x")"#, "", "a module writes into another's memory before the first call"),
        ("(table 1 externref)", "", "", "a table holds values other than functions"),
        ("(global (mut funcref) (ref.null func))", "", "", "a mutable global does not start with a constant number"),
        (
            r#"(global (export "g") (mut i32) (i32.const 0))"#,
            r#"(import "engine" "g" (global (mut i32)))"#,
            "",
            "it imports a mutable global",
        ),
        (
            "(global (mut i32) (i32.const 0))",
            "",
            "(core instance (instantiate $engine))",
            "it has two instances of a module",
        ),
        ("", "", "(type (resource (rep i32)))", "it has a resource of its own"),
        ("", "", "(core func $b (canon backpressure.inc))", "it has asynchronous functions, or resources of its own"),
        (
            "",
            "",
            "(component (core module (func)))",
            "it has nested components with code, or code that runs before the first call",
        ),
        ("", "", r#"(import "m" (core module))"#, "it imports code"),
        (r#"(func (export "tenon-restore"))"#, "", "", "it exports tenon-restore or tenon-globals"),
        ("", r#"(func (export "tenon-globals"))"#, "", "it exports tenon-restore or tenon-globals"),
        (
            r#"(func (export "f"))"#,
            "",
            r#"(func (export "tenon-restore") (canon lift (core func $e "f")))"#,
            "it exports tenon-restore or tenon-globals",
        ),
    ] {
        assert_eq!(reason(engine, other, around), expected, "{engine} {other} {around}");
    }
    let objects = "it has types of objects, which the collector keeps";
    for object in ["struct (field (mut i32))", "array (mut i32)"] {
        assert_eq!(reason(&format!("(type ({object}))"), "", ""), objects);
    }
    let exceptions = "code can throw exceptions, which the collector keeps";
    assert_eq!(reason("(tag)", "", ""), exceptions);
    assert_eq!(reason("", "(tag $t) (func (throw $t))", ""), exceptions);
    assert_eq!(reason(r#"(tag (export "t"))"#, r#"(import "engine" "t" (tag))"#, ""), exceptions);
    // Without a tag of its own, a module can catch and throw what another one has thrown.
    let kept = "code can make objects, which the collector keeps";
    assert_eq!(reason("(func (try_table))", "", ""), kept);
    assert_eq!(reason("(func (throw_ref (ref.null exn)))", "", ""), kept);
    for (engine, expected) in [
        ("(func (param exnref))", "it has values of the type exnref"),
        ("(func (local exnref))", "it has values of the type exnref"),
        ("(global exnref (ref.null exn))", "it has values of the type exnref"),
        ("(elem exnref (ref.null exn))", "it has values of the type exnref"),
        ("(table 1 exnref)", "a table holds values other than functions"),
        ("(table i64 1 funcref)", "a table is shared or has 64-bit addresses"),
        ("(func (drop (ref.i31 (i32.const 1))))", kept),
        ("(global (ref null i31) (ref.i31 (i32.const 1)))", "it has values of the type i31ref"),
        ("(type $t (func)) (func (param (ref null $t)))", "it has values of the type (ref null (module 0))"),
        ("(func (atomic.fence))", "code is made for threads"),
    ] {
        assert_eq!(reason(engine, "", ""), expected, "{engine}");
    }
    assert!(added(b"no component").is_err());
    assert!(added(&tenon_fixtures::core_module()).is_err());
}

#[test]
fn components_without_code_are_no_matter() {
    let around = r#"
        (func $f (canon lift (core func $e "f")))
        (component $named
          (type (func))
          (import "f" (func (type 0)))
          (export "f" (func 0)))
        (instance $i (instantiate $named (with "f" (func $f))))
        (export "named" (instance $i))"#;
    let made = added(&component(r#"(func (export "f"))"#, "", around)).unwrap();
    Validator::new().validate_all(&made).unwrap();
}

/// A proposal that is new in wasmparser has no arm, and does not compile. Those that guests do not get are refused.
#[test]
fn every_instruction_is_allowed_or_refused() {
    let all = instructions::all();
    assert!(all.len() > 600, "{}", all.len());
    let whole = ["mvp", "sign_extension", "saturating_float_to_int", "simd", "relaxed_simd", "tail_call"];
    let single = [
        "MemoryInit",
        "MemoryCopy",
        "MemoryFill",
        "TypedSelect",
        "TypedSelectMulti",
        "RefNull",
        "RefIsNull",
        "RefFunc",
        "TableGet",
        "TableSize",
    ];
    for (proposal, name, said) in all {
        let is_allowed = whole.contains(&proposal) || single.contains(&name);
        assert_eq!(said.is_ok(), is_allowed, "{proposal} {name}");
    }
}

/// A section that a later version of WebAssembly may have.
#[test]
fn a_section_that_is_not_known_is_not_restored() {
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    module.extend([14, 1, 0]);
    assert_eq!(module::CoreModule::of(&module).err().unwrap().to_string(), "it has a section of an unknown kind, 14");
}
