//! Small components for tests.

use std::fmt::Write;

/// Builds a component that returns the byte at 5,000, its global and its memory's size, and grows its memory, with this
/// state: pages, global, data.
pub(crate) fn snapshot(pages: u32, global: i32, data: &[(u32, &[u8])]) -> Vec<u8> {
    with("", pages, global, data)
}

/// Builds the same with more definitions in its engine.
pub(crate) fn with(more: &str, pages: u32, global: i32, data: &[(u32, &[u8])]) -> Vec<u8> {
    let mut segments = String::new();
    for (offset, bytes) in data {
        let bytes = bytes.iter().fold(String::new(), |text, byte| text + &format!("\\{byte:02x}"));
        write!(segments, "(data (i32.const {offset}) \"{bytes}\")").unwrap();
    }
    let text = format!(
        r#"(component
             (core module $small (func (export "nothing")))
             (core module $engine
               (memory {pages})
               (global $fixed i32 (i32.const 5))
               (global $changes (mut i32) (i32.const {global}))
               {more}
               (data $passive "passive")
               (func (export "byte") (result i32) (i32.load8_u (i32.const 5000)))
               (func (export "global") (result i32) (global.get $changes))
               (func (export "pages") (result i32) (memory.size))
               (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
               (func (export "init") (memory.init $passive (i32.const 0) (i32.const 0) (i32.const 7)))
               {segments})
             (core instance $i (instantiate $engine))
             (func (export "byte") (result u32) (canon lift (core func $i "byte")))
             (func (export "global") (result u32) (canon lift (core func $i "global")))
             (func (export "pages") (result u32) (canon lift (core func $i "pages")))
             (func (export "grow") (param "pages" u32) (result s32) (canon lift (core func $i "grow"))))"#
    );
    wat::parse_str(text).unwrap()
}
