//! Services of WASI 0.3: components that export `wasi:http/handler`.
//!
//! They need an engine with the async ABI, which must be known before a component's code is looked up. So this reads only the
//! headers of the outermost component's sections, and its exports.

use std::io::{self, BufReader, Read, Seek};

use tenon_compose::HANDLER;
use wasmparser::{BinaryReader, ComponentExportSectionReader};

use crate::handler::is_same;
use crate::section::{COMPONENT_EXPORT, PREAMBLE};

/// The interface that a service exports.
pub const SERVICE: &str = "wasi:http/handler@0.3.0";

/// The magic number and the version of a component (Component Model, Binary Format: preamble).
const COMPONENT: [u8; PREAMBLE] = *b"\0asm\x0d\0\x01\0";

/// Bytes of export sections that are read. A component has a few hundred.
const MAX_EXPORTS: u64 = 1024 * 1024;

/// Reports whether a component is a service: it exports a version of [`SERVICE`] that the linker takes for the same, and no
/// handler of Tenon. False for bytes that are no component; compiling them gives the reason.
///
/// # Errors
///
/// An I/O error, when the bytes cannot be read.
pub fn is_service(component: impl Read + Seek) -> io::Result<bool> {
    let mut component = BufReader::new(component);
    let mut preamble = [0; PREAMBLE];
    if !read(&mut component, &mut preamble)? || preamble != COMPONENT {
        return Ok(false);
    }
    let (mut left, mut is_service) = (MAX_EXPORTS, false);
    let mut id = [0];
    while read(&mut component, &mut id)? {
        let Some(length) = length(&mut component)? else { return Ok(false) };
        if id != [COMPONENT_EXPORT] {
            component.seek_relative(i64::from(length))?;
            continue;
        }
        let Some(rest) = left.checked_sub(u64::from(length)) else { return Ok(false) };
        left = rest;
        let mut section = vec![0; length as usize];
        if !read(&mut component, &mut section)? {
            return Ok(false);
        }
        for name in exports(&section).unwrap_or_default() {
            if name.starts_with(HANDLER) {
                return Ok(false);
            }
            is_service |= is_same(name, SERVICE);
        }
    }
    Ok(is_service)
}

/// The names in an export section. None when it is malformed.
fn exports(section: &[u8]) -> Option<Vec<&str>> {
    let reader = ComponentExportSectionReader::new(BinaryReader::new(section, 0)).ok()?;
    reader.into_iter().map(|export| Some(export.ok()?.name.name)).collect()
}

/// Fills a buffer. False when the bytes end before.
fn read(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads an unsigned LEB128 of 32 bits (Core 5.2.2). None when it is malformed.
fn length(from: &mut impl Read) -> io::Result<Option<u32>> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let mut byte = [0];
        if !read(from, &mut byte)? {
            return Ok(None);
        }
        number |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(u32::try_from(number).ok());
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn is(component: &[u8]) -> bool {
        is_service(Cursor::new(component)).unwrap()
    }

    fn exporting(names: &[&str]) -> Vec<u8> {
        let exports: String = names.iter().map(|name| format!(r#"(export "{name}" (instance 0))"#)).collect();
        let text = format!("(component (core module (memory 1)) (component) (instance (instantiate 0)) {exports})");
        wat::parse_str(text).unwrap()
    }

    #[test]
    fn a_service_exports_a_compatible_handler_and_none_of_tenon() {
        for (names, expected) in [
            (&["wasi:http/handler@0.3.0"][..], true),
            (&["wasi:http/handler@0.3.7"], true),
            (&["a:b/c@1.0.0", "wasi:http/handler@0.3.0"], true),
            (&["wasi:http/incoming-handler@0.2.10", "wasi:http/handler@0.3.0"], true),
            (&["wasi:http/handler@0.3.0-rc-2025-09-16"], false),
            (&["wasi:http/handler@0.4.0"], false),
            (&["wasi:http/handler"], false),
            (&["wasi:http/incoming-handler@0.2.10"], false),
            (&["sdk:core/handler@0.1.0", "wasi:http/handler@0.3.0"], false),
            (&["wasi:http/handler@0.3.0", "sdk:core/handler@0.1.0"], false),
            (&[], false),
        ] {
            assert_eq!(is(&exporting(names)), expected, "{names:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_component_are_no_service() {
        let service = exporting(&["wasi:http/handler@0.3.0"]);
        for bytes in [&b""[..], b"\0asm", b"text that is longer than a preamble", &tenon_fixtures::core_module()] {
            assert!(!is(bytes));
        }
        for end in 0..service.len() {
            assert!(!is(&service[..end]), "{end}");
        }
        // A length of an export section that the file does not have.
        let huge = [&COMPONENT[..], &[COMPONENT_EXPORT, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat();
        assert!(!is(&huge));
        let endless = [&COMPONENT[..], &[COMPONENT_EXPORT, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]].concat();
        assert!(!is(&endless));
    }
}
