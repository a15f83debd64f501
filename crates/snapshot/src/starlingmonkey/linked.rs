//! Calls from JavaScript to WebAssembly modules that the handler imports.
//!
//! The engine is prepared before anyone knows these modules, and an import of its own would be part of every component.
//! So it exports its table, whose first place is empty: it stands for the null pointer of C. A build that links modules puts
//! their dispatcher there (`crates/link`), whose two results no function of C has, so a null pointer still traps.
//! JavaScript reaches it through `start` of `sdk:core/calls`, with a length of the method that no call has.
//!
//! A table of its own would be a second one of this module, and some servers' instances have one place for a table.

use tenon_link::{PLACE, TABLE};
use tenon_rewrite::{Error, Rewrite};

use crate::graft;

const SOURCE: &str = include_str!("linked.wat");

/// The interface and the function that calls to modules share with outbound calls.
const SHARED: (&str, &str) = ("sdk:core/calls@", "start");

/// Exports the table and adds the calls through it. The engine stays unchanged when it does not import `start`.
pub(crate) fn call_modules(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    let (interface, start) = SHARED;
    if engine.imported(interface, start).is_none() {
        return Ok(());
    }
    engine.export_table(TABLE, PLACE)?;
    graft::replace(engine, SOURCE, &[(interface, start, start)])
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Extern, Linker, Module, Ref, Store, Table};

    use super::*;

    /// An engine with a table of its own, which starts a call with a method of a length.
    const ENGINE: &str = r#"(module
      (import "sdk:core/calls@0.1.0" "start"
        (func $start (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (table 2 funcref)
      (elem (i32.const 1) $start)
      (func (export "start") (param $length i32) (result i32)
        (call $start (i32.const 3) (local.get $length) (i32.const 4) (i32.const 5) (i32.const 6) (i32.const 7)
          (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))))"#;

    #[test]
    fn a_call_of_a_length_that_no_method_has_goes_to_the_dispatcher() {
        let bytes = wat::parse_str(ENGINE).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        call_modules(&mut rewrite).unwrap();
        let engine = Engine::default();
        let module = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
        let mut linker = Linker::new(&engine);
        let start =
            |_: i32, length: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32, _: i32| length * 10;
        linker.func_wrap("sdk:core/calls@0.1.0", "start", start).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let start = instance.get_typed_func::<i32, i32>(&mut store, "start").unwrap();
        assert_eq!(start.call(&mut store, 2).unwrap(), 20);
        // Without modules the place is empty.
        assert!(start.call(&mut store, -1).is_err());
        let table: Table = instance.get_export(&mut store, TABLE).and_then(Extern::into_table).unwrap();
        let dispatcher =
            wasmtime::Func::wrap(&mut store, |operation: i32, a: i32, b: i32, c: i32, d: i32| -> (i32, i32) {
                ([operation, a, b, c, d].iter().fold(0, |number, digit| number * 10 + digit), 0)
            });
        table.set(&mut store, 0, Ref::Func(Some(dispatcher))).unwrap();
        assert_eq!(start.call(&mut store, -1).unwrap(), 34_567);
        assert_eq!(start.call(&mut store, 3).unwrap(), 30);
    }

    #[test]
    fn an_engine_without_calls_stays_as_it_is() {
        let bytes = wat::parse_str(ENGINE.replace("sdk:core/calls@", "sdk:core/other@")).unwrap();
        let mut rewrite = Rewrite::of(&bytes).unwrap();
        call_modules(&mut rewrite).unwrap();
        assert_eq!(rewrite.finish().unwrap(), bytes);
    }
}
