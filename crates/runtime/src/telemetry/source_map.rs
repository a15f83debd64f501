//! From positions in the bundled JavaScript, which the engine names in stacks, to positions in the sources (Source Map, revision 3).

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

/// The largest map that is read, and the most of each kind that it may have. A few bytes of a map can take ten times as many in
/// memory.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
const MAX_SOURCES: usize = 100_000;
const MAX_LINES: usize = 2_000_000;
const MAX_SEGMENTS: usize = 4_000_000;

/// The script that calls the bundle, which has a map of its own or none.
const GLUE: &str = "__bindings.js";

/// The scope of Tenon's packages. A release may choose another one (`scripts/names.mjs`).
const SCOPE: &str = match option_env!("TENON_SCOPE") {
    Some(scope) if !scope.is_empty() => scope,
    _ => "@tenon",
};

/// Folders of the code that Tenon adds to a module, in a clone.
const OF_TENON: [&str; 7] = [
    "ts-sdk/dist/",
    "ts-sdk/src/",
    "guest/src/entry/",
    "guest/src/node/",
    "guest/src/platform/",
    "guest/src/polyfills/",
    // The streams of the platform.
    "node_modules/web-streams-polyfill/",
];

/// Reports whether a source is in one of Tenon's packages.
fn is_installed(source: &str) -> bool {
    let inside = source.rsplit_once("node_modules/").and_then(|(_, package)| package.strip_prefix(SCOPE));
    inside.is_some_and(|rest| rest.starts_with('/'))
}

/// The map beside a component, read when the first stack is logged. Without one, stacks stay as they are.
pub(crate) struct SourceMap {
    file: PathBuf,
    lines: OnceLock<Option<Map>>,
}

struct Map {
    sources: Vec<String>,
    /// The segments of each line, by column.
    lines: Vec<Vec<Segment>>,
    /// Names of functions by those that the bundle has for them.
    functions: HashMap<String, String>,
}

/// The members of the file that are used; the others are passed over.
#[derive(Deserialize)]
struct Json<'a> {
    #[serde(borrow)]
    sources: Vec<Option<Cow<'a, str>>>,
    #[serde(borrow)]
    mappings: Cow<'a, str>,
    /// An extension of `tenon build`.
    #[serde(default)]
    x_functions: HashMap<String, String>,
}

#[derive(Clone, Copy, Default)]
struct Segment {
    column: i64,
    source: i64,
    line: i64,
    source_column: i64,
}

impl SourceMap {
    /// The map of `dist/<name>.wasm`, `dist/<name>-composed.wasm`, and of code compiled from them, is
    /// `dist/<name>.wasm.map`.
    pub(crate) fn beside(component: &Path) -> Self {
        let name = component.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = name.strip_suffix(".cwasm").or_else(|| name.strip_suffix(".wasm")).map(|stem| {
            let bare = stem.strip_suffix("-composed").unwrap_or(stem);
            format!("{bare}.wasm")
        });
        let bare = stem.unwrap_or_else(|| name.to_string());
        Self { file: component.with_file_name(format!("{bare}.map")), lines: OnceLock::new() }
    }

    /// No map.
    pub(crate) fn none() -> Self {
        Self { file: PathBuf::new(), lines: OnceLock::from(None) }
    }

    /// A log line, with source positions in a stack line or in the engine's own report of an exception. Ours writes
    /// `    at function (file.js:line:column)`; that of componentize-js writes `function@file.js:line:column` and `file.js:line:column
    /// Error: …`.
    pub(crate) fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if let Some((function, line, column)) = own_frame(text) {
            let position = self.position(line, column);
            return position
                .map_or(Cow::Borrowed(text), |position| format!("    at {} ({position})", self.name(function)).into());
        }
        let mapped = match frame(text) {
            Some((function, line, column)) => {
                self.position(line, column).map(|position| format!("{}@{position}", self.name(function)))
            }
            None => text.split_once(' ').and_then(|(position, said)| {
                let (line, column) = in_bundle(position)?;
                self.position(line, column).map(|position| format!("{position} {said}"))
            }),
        };
        mapped.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Reports whether a line is a frame in code that Tenon adds to a module: the SDK, and what stands in for the platform.
    pub(crate) fn is_of_tenon(&self, text: &str) -> bool {
        let Some((_, line, column)) = own_frame(text) else {
            return text.trim_end().ends_with(" (native)");
        };
        self.position(line, column).is_some_and(|place| {
            let is_in = |folder: &str| place.contains(folder);
            place.starts_with("tenon-") || OF_TENON.into_iter().any(is_in) || is_installed(&place)
        })
    }

    /// The name of a function in the sources.
    fn name<'a>(&'a self, function: &'a str) -> Cow<'a, str> {
        let map = self.lines.get_or_init(|| read(&self.file)).as_ref();
        let named = |plain: &'a str| map.and_then(|map| map.functions.get(plain)).map_or(plain, |name| name);
        // An async function that awaits the one above it.
        match function.strip_prefix("async ") {
            Some(plain) => format!("async {}", named(plain)).into(),
            None => named(function).into(),
        }
    }

    fn position(&self, line: usize, column: i64) -> Option<String> {
        self.lines.get_or_init(|| read(&self.file)).as_ref()?.position(line, column)
    }
}

/// The text before the `@`, the line and the column, both from 1.
fn frame(text: &str) -> Option<(&str, usize, i64)> {
    let (function, position) = text.trim_end().rsplit_once('@')?;
    let (line, column) = in_bundle(position)?;
    Some((function, line, column))
}

/// The function, the line and the column of `    at function (file.js:line:column)`.
fn own_frame(text: &str) -> Option<(&str, usize, i64)> {
    let (function, position) = text.trim_end().strip_prefix("    at ")?.strip_suffix(')')?.rsplit_once(" (")?;
    let (line, column) = in_bundle(position)?;
    Some((function, line, column))
}

/// The line and the column of a position in the bundle, both from 1.
fn in_bundle(position: &str) -> Option<(usize, i64)> {
    let (rest, column) = position.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    if !file.ends_with(".js") || file.trim_start_matches('/') == GLUE {
        return None;
    }
    Some((line.parse().ok()?, column.parse().ok()?))
}

fn read(file: &Path) -> Option<Map> {
    if fs::metadata(file).ok()?.len() > MAX_BYTES {
        return None;
    }
    Map::parse(&fs::read(file).ok()?)
}

impl Map {
    fn parse(json: &[u8]) -> Option<Self> {
        let map: Json<'_> = serde_json::from_slice(json).ok()?;
        let sources = map.sources.iter().take(MAX_SOURCES);
        // Paths are relative to the bundle, which was in another folder, and are shown relative to the project, which the entry is in.
        let mut entries = map.sources.iter().flatten().filter_map(|source| source.strip_suffix("tenon-entry"));
        let project = entries.find(|up| !up.is_empty() && up.as_bytes().chunks(3).all(|step| step == b"../"));
        let sources = sources.map(|source| {
            let source = source.as_deref().unwrap_or("?");
            let below = project.and_then(|project| source.strip_prefix(project));
            below.unwrap_or_else(|| source.trim_start_matches("../").trim_start_matches("./")).to_string()
        });
        Some(Self { sources: sources.collect(), lines: decode(&map.mappings)?, functions: map.x_functions })
    }

    fn position(&self, line: usize, column: i64) -> Option<String> {
        let segments = self.lines.get(line.checked_sub(1)?)?;
        let after = segments.partition_point(|segment| segment.column < column);
        let segment = segments.get(after.checked_sub(1)?)?;
        let source = self.sources.get(usize::try_from(segment.source).ok()?)?;
        Some(format!("{source}:{}:{}", segment.line + 1, segment.source_column + 1))
    }
}

/// The `mappings` of a map: lines by `;`, segments by `,`, each of one, four or five numbers relative to the last ones.
fn decode(mappings: &str) -> Option<Vec<Vec<Segment>>> {
    let mut at = Segment::default();
    let mut lines = Vec::new();
    let mut left = MAX_SEGMENTS;
    for line in mappings.split(';') {
        if lines.len() == MAX_LINES {
            return None;
        }
        at.column = 0;
        let mut segments = Vec::new();
        for segment in line.split(',').filter(|segment| !segment.is_empty()) {
            let (numbers, count) = numbers(segment.as_bytes())?;
            at.column = at.column.checked_add(numbers[0])?;
            left = left.checked_sub(1)?;
            if count >= 4 {
                at.source = at.source.checked_add(numbers[1])?;
                at.line = at.line.checked_add(numbers[2])?;
                at.source_column = at.source_column.checked_add(numbers[3])?;
                segments.push(at);
            }
        }
        lines.push(segments);
    }
    Some(lines)
}

/// Up to five numbers in base 64, five bits a digit, the lowest first, the lowest bit of all the sign.
fn numbers(text: &[u8]) -> Option<([i64; 5], usize)> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut numbers, mut count) = ([0; 5], 0);
    let (mut value, mut shift) = (0_i64, 0);
    for byte in text {
        let digit = DIGITS.iter().position(|each| each == byte)? as i64;
        if shift > 40 {
            return None;
        }
        value |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            *numbers.get_mut(count)? = if value & 1 == 1 { -(value >> 1) } else { value >> 1 };
            count += 1;
            (value, shift) = (0, 0);
        }
    }
    (shift == 0 && count > 0).then_some((numbers, count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JSON: &str = r#"{"version":3,"sources":["../../src/handler.ts","../node_modules/x/y.js"],
        "names":[],"mappings":";AAEA,SAASA;ACDT","x_functions":{"x0":"listUsers"}}"#;

    #[test]
    fn lines_of_a_stack_are_mapped_and_others_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("app.wasm.map"), JSON).unwrap();
        for file in ["app.wasm", "app-composed.wasm", "app.cwasm", "app-composed.cwasm"] {
            let map = SourceMap::beside(&folder.path().join(file));
            assert_eq!(map.apply("handle@app.js:2:1"), "handle@src/handler.ts:3:1");
            assert_eq!(map.apply("x0@app.js:2:1"), "listUsers@src/handler.ts:3:1");
            assert_eq!(map.apply("@app.js:2:12"), "@src/handler.ts:3:10");
            assert_eq!(map.apply("f@app.js:3:4"), "f@node_modules/x/y.js:2:1");
            assert_eq!(map.apply("app.js:2:1 Error: a@b"), "src/handler.ts:3:1 Error: a@b");
            assert_eq!(map.apply("    at x0 (app.js:2:1)"), "    at listUsers (src/handler.ts:3:1)");
            assert_eq!(map.apply("    at async x0 (app.js:2:1)"), "    at async listUsers (src/handler.ts:3:1)");
            assert_eq!(map.apply("    at <anonymous> (app.js:2:12)"), "    at <anonymous> (src/handler.ts:3:10)");
            for other in [
                "",
                "    at f (native)",
                "    at f (app.js:99:1)",
                "at f (app.js:2:1)",
                "text",
                "a:1:2",
                "f@app.js:x:1",
                "f@app.js:99:1",
                "f@app.js:0:0",
                "f@app.wasm:2:1",
                "f@/__bindings.js:2:1",
            ] {
                assert_eq!(map.apply(other), other);
            }
        }
        assert_eq!(SourceMap::beside(&folder.path().join("none.wasm")).apply("f@a.js:2:1"), "f@a.js:2:1");
    }

    #[test]
    fn frames_of_tenon_are_known_by_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let json = r#"{"sources":["../../src/a.ts","../../node_modules/@tenon/sdk/dist/app/app.js","../../../../ts-sdk/dist/a.js",
            "tenon-entry","../../node_modules/tenon-like/a.js","../../node_modules/web-streams-polyfill/dist/ponyfill.mjs"],
            "mappings":"AAAA;ACAA;ACAA;ACAA;ACAA;ACAA"}"#;
        std::fs::write(folder.path().join("app.wasm.map"), json).unwrap();
        let map = SourceMap::beside(&folder.path().join("app.wasm"));
        let is_of_tenon = |line| map.is_of_tenon(&format!("    at f (app.js:{line}:1)"));
        assert_eq!([1, 2, 3, 4, 5, 6, 9].map(is_of_tenon), [false, true, true, true, false, true, false]);
        assert!(map.is_of_tenon("    at map (native)"));
        assert!(!map.is_of_tenon("Error: at f (app.js:2:1)"));
    }

    #[test]
    fn paths_outside_of_the_project_are_told_by_the_entry() {
        let json =
            br#"{"sources":["../../../shared/a.ts","../../src/b.ts","../../tenon-entry"],"mappings":"AAAA;ACAA"}"#;
        let map = Map::parse(json).unwrap();
        assert_eq!(map.sources, ["../shared/a.ts", "src/b.ts", "tenon-entry"]);
    }

    #[test]
    fn a_map_that_would_take_much_memory_is_not_read() {
        let map = |mappings: String| Map::parse(format!(r#"{{"sources":["a"],"mappings":"{mappings}"}}"#).as_bytes());
        assert!(map(";".repeat(MAX_LINES)).is_none());
        assert!(map("A,".repeat(MAX_SEGMENTS + 1)).is_none());
        // Deep JSON in a member that nobody uses.
        let deep = format!(r#"{{"sources":[],"mappings":"","x":{}}}"#, "[".repeat(1_000_000));
        assert!(Map::parse(deep.as_bytes()).is_none());
    }

    proptest! {
        #[test]
        fn no_map_and_no_line_is_too_strange(mappings in "[A-Za-z0-9+/;,!]{0,200}", text in ".{0,60}", l in 0_usize..9, c in -9_i64..99) {
            let json = serde_json::json!({ "sources": ["a"], "mappings": mappings }).to_string();
            if let Some(map) = Map::parse(json.as_bytes()) {
                let _ = map.position(l, c);
            }
            let _ = Map::parse(text.as_bytes());
            let _ = frame(&text);
            let _ = own_frame(&format!("    at {text}"));
        }
    }
}
