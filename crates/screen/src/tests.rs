//! Components that real tools write pass; files that are built to exhaust a reader are refused.

use wasm_encoder::{
    Alias, CodeSection, Component, ComponentAliasSection, ComponentExportKind, ComponentInstanceSection,
    ComponentOuterAliasKind, Encode, Function, FunctionSection, Module, NestedComponentSection, TypeSection, ValType,
};

use tenon_fixtures::nested;

use super::*;

const PREAMBLE: [u8; 8] = *b"\0asm\x0d\0\x01\0";

fn leb(number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    u32::try_from(number).unwrap().encode(&mut bytes);
    bytes
}

fn with_section(id: u8, content: &[u8]) -> Vec<u8> {
    [&PREAMBLE[..], &[id], &leb(content.len()), content].concat()
}

fn refusal(bytes: &[u8]) -> String {
    screen(bytes).unwrap_err().to_string()
}

#[test]
fn components_of_tools_are_far_within_the_bounds() {
    let handler = tenon_fixtures::echo(200);
    let composed = tenon_compose::compose(&handler, tenon_compose::BRIDGE).unwrap();
    for bytes in [handler, composed, tenon_compose::BRIDGE.to_vec(), tenon_fixtures::core_module()] {
        let census = screen(&bytes).unwrap();
        assert!(census.depth <= 3 && census.items < 1_000, "{census:?}");
    }
}

#[test]
fn nested_components_are_refused_by_their_depth() {
    assert_eq!(screen(&nested(32)).unwrap().depth, 32);
    for depth in [33, 20_000, 100_000] {
        assert_eq!(refusal(&nested(depth)), "it has 33 levels of nested components; at most 32 are allowed");
    }
}

/// `wasmparser`'s reader recurses for each of these.
#[test]
fn nested_types_are_refused_by_their_depth() {
    let nested = |depth: usize, kind: u8| {
        // One type, which declares one type, which declares one type …, and the innermost declares nothing.
        let mut content = vec![1];
        for _ in 1..depth {
            content.extend([kind, 1, 1]);
        }
        content.extend([kind, 0]);
        with_section(7, &content)
    };
    for kind in [0x41, 0x42] {
        assert_eq!(screen(&nested(32, kind)).unwrap().type_depth, 32);
        for depth in [33, 200_000] {
            assert_eq!(refusal(&nested(depth, kind)), "it has 33 levels of nested types; at most 32 are allowed");
        }
    }
}

/// Each component instantiates the one before twice: a kilobyte that expands to a billion definitions.
#[test]
fn instances_of_instances_are_refused_by_what_they_expand_to() {
    let doubling = |components: u32| {
        let mut outer = Component::new();
        outer.section(&NestedComponentSection(&Component::new()));
        for before in 0..components {
            let mut inner = Component::new();
            let mut aliases = ComponentAliasSection::new();
            aliases.alias(Alias::Outer { kind: ComponentOuterAliasKind::Component, count: 1, index: before });
            inner.section(&aliases);
            let mut instances = ComponentInstanceSection::new();
            for _ in 0..2 {
                instances.instantiate(0, [] as [(&str, ComponentExportKind, u32); 0]);
            }
            inner.section(&instances);
            outer.section(&NestedComponentSection(&inner));
        }
        let mut instances = ComponentInstanceSection::new();
        instances.instantiate(components, [] as [(&str, ComponentExportKind, u32); 0]);
        outer.section(&instances);
        outer.finish()
    };
    assert!(screen(&doubling(10)).unwrap().expanded > 1 << 10);
    let bytes = doubling(30);
    assert!(bytes.len() < 1_000);
    assert!(refusal(&bytes).contains("definitions in expanded instances"), "{}", refusal(&bytes));
}

#[test]
fn a_component_that_instantiates_one_from_elsewhere_is_refused() {
    let text = r#"(component
      (component $outer
        (import "c" (component $c))
        (instance (instantiate $c))))"#;
    assert_eq!(refusal(&wat::parse_str(text).unwrap()), "it instantiates a component that it does not define itself");
}

#[test]
fn counts_beyond_a_bound_are_refused() {
    // Numbers that a core module announces, with or without the items.
    let module = |id: u8, content: &[u8]| [&b"\0asm\x01\0\0\0"[..], &[id], &leb(content.len()), content].concat();
    for (id, what) in [
        (2, "imports and exports of core modules"),
        (3, "functions of core modules"),
        (6, "globals of core modules"),
        (7, "imports and exports of core modules"),
        (9, "segments of data and elements"),
        (11, "segments of data and elements"),
        (13, "tags of core modules"),
    ] {
        assert!(refusal(&module(id, &leb(1_000_000))).contains(what), "{id}");
    }
    // A table of a million elements costs a few bytes to write and megabytes to lay out.
    let table = [&[0x70, 0][..], &leb(1_000_000)].concat();
    let tables = [&leb(5)[..], &table.repeat(5)].concat();
    assert!(refusal(&module(4, &tables)).contains("initial table elements"));
    let sections = [&PREAMBLE[..], &[0, 1, 0].repeat(100_001)].concat();
    assert!(refusal(&sections).contains("sections"));
    let types = [&leb(200_001)[..], &[0x7f].repeat(200_001)].concat();
    assert!(refusal(&with_section(7, &types)).contains("type declarations"));
}

#[test]
fn a_function_beyond_a_bound_is_refused() {
    let module = |locals: Vec<(u32, ValType)>, instructions: usize| {
        let mut function = Function::new(locals);
        function.raw([1].repeat(instructions));
        function.raw([0x0b]);
        let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        types.ty().function([], []);
        functions.function(0);
        code.function(&function);
        Module::new().section(&types).section(&functions).section(&code).clone().finish()
    };
    assert_eq!(screen(&module(vec![(3, ValType::I32), (4, ValType::I64)], 9)).unwrap().most_locals, 7);
    assert!(refusal(&module(vec![(40_000, ValType::I32), (40_000, ValType::I64)], 0)).contains("local variables"));
    assert!(refusal(&module(vec![], 4 << 20)).contains("bytes in a function"));
}

#[test]
fn a_file_that_ends_early_or_lies_about_its_sections_is_malformed() {
    let whole = tenon_compose::BRIDGE;
    for length in (0..whole.len()).step_by(97) {
        let _ = screen(&whole[..length]);
    }
    assert!(refusal(&whole[..whole.len() - 1]).starts_with("it is malformed"));
    // A module in place of an announced component, and the reverse.
    assert!(refusal(&with_section(4, b"\0asm\x01\0\0\0")).contains("no WebAssembly begins at offset 0xa"));
    assert!(refusal(&with_section(1, &PREAMBLE)).contains("no WebAssembly begins"));
    assert!(refusal(b"no component").contains("no WebAssembly begins at offset 0x0"));
}

/// A section that nobody counts has no bound. The next versions of WebAssembly may have more of them.
#[test]
fn a_section_that_is_not_known_is_refused() {
    for (known, whose, preamble) in [(13, "a core module", *b"\0asm\x01\0\0\0"), (11, "a component", PREAMBLE)] {
        for id in 0..=u8::MAX {
            let said = screen(&[&preamble[..], &[id, 1, 0]].concat()).map_err(|error| error.to_string());
            // 9 is the start function of a component.
            let is_known = id <= known && (id != 9 || whose == "a core module");
            let expected = format!("{whose} in it has a section of the unknown kind {id} at offset 0xa; ");
            assert_eq!(said.is_err_and(|said| said.starts_with(&expected)), !is_known, "{whose} {id}");
        }
    }
}
