use wasmtime::{Engine, Instance, Module, Store};

use super::*;

#[test]
fn calls_reach_another_function_and_references_stay() {
    let text = r#"(module
      (table 1 funcref)
      (func $one (export "one") (result i32) (i32.const 1))
      (func (export "two") (result i32) (i32.const 2))
      (elem declare func $one)
      (func (export "both") (result i32)
        (table.set (i32.const 0) (ref.func $one))
        (i32.add (i32.mul (call $one) (i32.const 10)) (call_indirect (result i32) (i32.const 0))))
      (func (export "last") (result i32) (return_call $one)))"#;
    let module = wat::parse_str(text).unwrap();
    let mut rewrite = Rewrite::of(&module).unwrap();
    let function = |name| rewrite.exported(name).unwrap().function;
    let (one, two) = (function("one"), function("two"));
    rewrite.call_instead(one, two);
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let made = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
    let instance = Instance::new(&mut store, &made, &[]).unwrap();
    let answers = ["one", "both", "last"]
        .map(|name| instance.get_typed_func::<(), i32>(&mut store, name).unwrap().call(&mut store, ()).unwrap());
    assert_eq!(answers, [1, 21, 2]);
}
