//! The handler inside a composed component.
//!
//! A composed component is a handler and a bridge. It exports the handler's own interface beside the bridge's. A component of
//! Tenon's own engine also has an adapter, which implements calls and log lines with WASI. The runtime implements these interfaces
//! itself, so it needs neither the bridge nor the adapter, in code or in instances.

use std::borrow::Cow;
use std::ops::Range;

use tenon_compose::{HANDLER, Instance, Kind, Outline, rewrap};
use wasmparser::{ComponentExternalKind, ComponentInstantiationArg};
use wasmtime_environ::component::alternate_lookup_key;

/// Returns the inner component whose handler `component` exports, if it gets all its imports from outside. Then the inner one
/// can be called instead. A component of Tenon's own engine becomes one without bridge and adapter. Returns any other component
/// unchanged.
#[must_use]
pub fn inner_handler(component: &[u8]) -> Cow<'_, [u8]> {
    if let Some(bare) = rewrap(component, Kind::Bare) {
        return Cow::Owned(bare);
    }
    let inner = Outline::of(component).ok().and_then(|outline| inner(&outline));
    let inner = inner.map_or(component, |range| &component[range]);
    rewrap(inner, Kind::Bare).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// Returns the range of the handler in the component whose outline this is.
fn inner(outline: &Outline<'_>) -> Option<Range<usize>> {
    let (exported, index) = outline.exports.iter().find(|(name, _)| name.starts_with(HANDLER))?;
    let Instance::Part { of, name } = outline.instance(*index)? else { return None };
    let Instance::Made { component: handler, arguments } = outline.instance(*of)? else { return None };
    let is_passed_on = |argument: &ComponentInstantiationArg<'_>| {
        argument.kind == ComponentExternalKind::Instance
            && matches!(outline.instance(argument.index), Some(Instance::Imported(name)) if is_same(name, argument.name))
    };
    let alone = name == exported && arguments.iter().all(is_passed_on);
    outline.range(*handler).filter(|_| alone)
}

/// Returns whether two names are compatible versions of one interface, by the linker's own rule.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let key = |name| alternate_lookup_key(name).map(|(key, _)| key);
    one == other || key(one).is_some_and(|key_of_one| key(other) == Some(key_of_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_composed_component_has_its_handler_within() {
        let handler = tenon_fixtures::echo(200);
        let composed = tenon_compose::compose(&handler, tenon_compose::BRIDGE).unwrap();
        assert!(inner_handler(&composed) == handler);
        assert!(inner_handler(&handler) == handler);
        // A component that can be called through the bridge only.
        let bridged = tenon_fixtures::bridged(&handler);
        assert!(inner_handler(&bridged) == bridged);
        assert_eq!(*inner_handler(b"no component"), *b"no component");
    }

    /// Builds a component whose handler gets an interface through this argument, imported under this name.
    fn given(import: &str, argument: &str) -> Vec<u8> {
        let text = format!(
            r#"(component
                 (import "{import}" (instance $imported (export "f" (func))))
                 (component $other (type (func)) (import "f" (func (type 0))) (export "f" (func 0)))
                 (instance $own (instantiate $other (with "f" (func $imported "f"))))
                 (component $handler
                   (import "wasi:random/random@0.2.10" (instance (export "f" (func))))
                   (component $c)
                   (instance $i (instantiate $c))
                   (export "sdk:core/handler@0.1.0" (instance $i)))
                 (instance $h (instantiate $handler (with "wasi:random/random@0.2.10" (instance {argument}))))
                 (alias export $h "sdk:core/handler@0.1.0" (instance $e))
                 (export "sdk:core/handler@0.1.0" (instance $e)))"#
        );
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn a_handler_that_gets_something_from_within_is_not_called_alone() {
        for import in ["wasi:random/random@0.2.10", "wasi:random/random@0.2.12"] {
            let component = given(import, "$imported");
            assert!(inner_handler(&component).len() < component.len(), "{import}");
        }
        for (import, argument) in [
            ("wasi:random/random@0.2.10", "$own"),
            ("wasi:random/insecure@0.2.10", "$imported"),
            ("wasi:random/random@0.3.0", "$imported"),
        ] {
            let component = given(import, argument);
            assert!(inner_handler(&component) == component, "{import} {argument}");
        }
    }

    #[test]
    fn versions_are_compatible_within_a_major_one() {
        for (one, other, same) in [
            ("a:b/c", "a:b/c", true),
            ("a:b/c@1.2.3", "a:b/c@1.9.0", true),
            ("a:b/c@1.2.3", "a:b/c@2.2.3", false),
            ("a:b/c@0.2.3", "a:b/c@0.3.3", false),
            ("a:b/c@0.2.3", "a:b/c@0.2.12", true),
            ("a:b/c@0.0.1", "a:b/c@0.0.2", false),
            ("a:b/c@0.2.3", "a:b/d@0.2.3", false),
            ("a:b/c", "a:b/c@0.2.3", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}
