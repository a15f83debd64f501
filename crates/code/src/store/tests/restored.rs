//! States of components that share their code.

use super::*;

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
        let (instance, started) = tenon_memory::providing(code.image(), instance).await;
        assert!(started.is_used);
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
    assert_eq!(files(folder.path(), SHARED).len(), 2);
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

/// Passive data keep their numbers when those around them go.
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
