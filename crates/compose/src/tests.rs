use super::*;

#[test]
fn a_handler_and_the_bridge_become_an_incoming_handler_that_keeps_the_handler() {
    let composed = compose(&tenon_fixtures::echo(200), BRIDGE).unwrap();
    let mut graph = CompositionGraph::new();
    let composed = register(&mut graph, "composed", &composed).unwrap();
    let world = &graph.types()[graph[composed].ty()];
    assert_eq!(
        world.exports.keys().collect::<Vec<_>>(),
        ["wasi:http/incoming-handler@0.2.10", "sdk:core/handler@0.1.0"]
    );
    assert!(world.imports.keys().all(|name| name.starts_with("wasi:")), "{:?}", world.imports.keys());
}

#[test]
fn a_handler_with_streams_keeps_them() {
    for (handler, streams) in [(tenon_fixtures::echo(200), 0), (tenon_fixtures::streams(), 1)] {
        let Interfaces { imports, exports } = interfaces(&compose(&handler, BRIDGE).unwrap()).unwrap();
        assert!(imports.iter().all(|name| name.starts_with("wasi:")), "{imports:?}");
        assert_eq!(exports.iter().filter(|name| name.starts_with(STREAMS)).count(), streams, "{exports:?}");
    }
}

#[test]
fn the_interfaces_of_a_component_are_named() {
    let composed = compose(&tenon_fixtures::echo(200), BRIDGE).unwrap();
    let Interfaces { imports, exports } = interfaces(&composed).unwrap();
    assert!(imports.iter().all(|name| name.starts_with("wasi:")), "{imports:?}");
    assert!(exports.iter().any(|name| name.starts_with(INCOMING_HANDLER)), "{exports:?}");
    assert!(exports.iter().any(|name| name.starts_with(HANDLER)), "{exports:?}");
    assert!(matches!(interfaces(b"\0asm\x01\0\0\0"), Err(ComposeError::NotAComponent { .. })));
}

#[test]
fn something_else_than_a_component_is_refused() {
    let module = tenon_fixtures::core_module();
    for (bytes, reason) in [
        (&b"(component)"[..], "does not begin like"),
        (&module, "it is a core module"),
        (b"", "does not begin like"),
        (b"\0asm\x0d\0\x01\0garbage", "unexpected end"),
    ] {
        let error = compose(bytes, BRIDGE).unwrap_err();
        assert_eq!(error.code(), "NOT_A_COMPONENT");
        assert!(error.to_string().contains("the handler is not a WebAssembly component"), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let error = compose(&tenon_fixtures::echo(200), &module).unwrap_err();
    assert!(error.to_string().starts_with("the bridge is not a WebAssembly component"), "{error}");
}

#[test]
fn a_component_of_thousands_of_nested_components_is_refused() {
    for depth in [20_000, 100_000] {
        let nested = tenon_fixtures::nested(depth);
        for (handler, bridge) in [(&nested[..], BRIDGE), (&tenon_fixtures::echo(200), &nested)] {
            let error = compose(handler, bridge).unwrap_err();
            assert_eq!(error.code(), "NOT_A_COMPONENT");
            assert!(error.to_string().contains("levels of nested components"), "{error}");
        }
    }
}

#[test]
fn a_missing_interface_is_named_with_what_there_is() {
    let error = compose(&tenon_fixtures::stranger(), BRIDGE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the handler does not export sdk:core/handler@0.1.0; it exports acme:shop/basket@1.0.0"
    );
}

#[test]
fn an_interface_of_other_types_is_named_with_the_difference() {
    let error = compose(&tenon_fixtures::misfit(), BRIDGE).unwrap_err();
    assert_eq!(error.code(), "DIFFERENT_INTERFACE");
    assert!(error.to_string().contains("sdk:core/handler@0.1.0"), "{error}");
    assert!(error.to_string().contains("handle"), "{error}");
}

#[test]
fn composing_twice_is_refused() {
    let composed = compose(&tenon_fixtures::echo(200), BRIDGE).unwrap();
    let error = compose(&composed, BRIDGE).unwrap_err();
    assert_eq!(error.code(), "ALREADY_COMPOSED");
    assert!(error.to_string().contains("wasi:http/incoming-handler@0.2.10"), "{error}");
}

#[test]
fn a_bridge_that_is_none_is_refused() {
    let error = compose(&tenon_fixtures::echo(200), &tenon_fixtures::stranger()).unwrap_err();
    assert_eq!(error.code(), "NOT_A_BRIDGE");
}

/// A handler that imports a function, and a component with one.
const CALLER: &str = r#"(component
  (import "given" (func $given (result u32)))
  (component $c (import "f" (func (result u32))) (export "f" (func 0)))
  (instance $i (instantiate $c (with "f" (func $given))))
  (export "sdk:core/handler@0.1.0" (instance $i)))"#;
const CALLED: &str = r#"(component
  (import "wasi:random/random@0.2.10" (instance (export "get-random-u64" (func (result u64)))))
  (core module $m (func (export "f") (result i32) (i32.const 7)))
  (core instance $i (instantiate $m))
  (func (export "f") (result u32) (canon lift (core func $i "f"))))"#;

#[test]
fn a_handler_is_composed_with_the_components_that_it_calls() {
    let (caller, called) = (wat::parse_str(CALLER).unwrap(), wat::parse_str(CALLED).unwrap());
    let part =
        |export: &str, import: &str| Part { bytes: &called, exports: vec![(export.to_owned(), import.to_owned())] };
    let composed = attach(&caller, &[part("f", "given")]).unwrap();
    let Interfaces { imports, exports } = interfaces(&composed).unwrap();
    assert_eq!(
        (imports, exports),
        (vec!["wasi:random/random@0.2.10".to_owned()], vec!["sdk:core/handler@0.1.0".to_owned()])
    );
    assert!(matches!(attach(&caller, &[part("g", "given")]), Err(ComposeError::Wiring { .. })));
    assert!(matches!(attach(&caller, &[part("f", "taken")]), Err(ComposeError::Wiring { .. })));
    assert!(matches!(attach(&called, &[]), Err(ComposeError::MissingInterface { .. })));
    let broken = Part { bytes: b"(component)", exports: Vec::new() };
    assert!(matches!(attach(&caller, &[broken]), Err(ComposeError::NotAComponent { role: "imported component", .. })));
}
