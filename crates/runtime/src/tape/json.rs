//! Places of values in a JSON text, by pointers (RFC 6901). The text stays as it is around them.

use std::ops::Range;

/// Nested values, at most.
const DEEPEST: usize = 512;

/// A pointer as its parts. The part `*` matches every member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer(Vec<String>);

impl Pointer {
    /// The pointer `/*`.
    pub(super) fn all() -> Self {
        Self(vec!["*".to_string()])
    }

    /// Reads `/card/number`. None when it does not begin with a slash.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let parts = text.strip_prefix('/')?.split('/');
        Some(Self(parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect()))
    }
}

/// A value in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// Between the quotes of a string.
    Text(Range<usize>),
    Number(Range<usize>),
    /// `true` or `false`.
    Flag(Range<usize>),
}

/// Finds the values that pointers lead to, and all values within them. None when the text is not JSON.
pub(super) fn matches_of(text: &[u8], pointers: &[Pointer]) -> Option<Vec<Match>> {
    let mut scan = Scan { text, at: 0, found: Vec::new() };
    let open: Vec<&[String]> = pointers.iter().map(|pointer| &*pointer.0).collect();
    scan.value(&open, false, 0)?;
    scan.space();
    (scan.at == text.len()).then_some(scan.found)
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    found: Vec<Match>,
}

impl Scan<'_> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let is_there = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads a value. `open` are the rests of the pointers that lead here; `is_masked` when one has led here or further up.
    fn value(&mut self, open: &[&[String]], is_masked: bool, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let is_masked = is_masked || open.iter().any(|rest| rest.is_empty());
        self.space();
        match self.text.get(self.at)? {
            b'{' => {
                self.at += 1;
                if self.eat(b'}') {
                    return Some(());
                }
                loop {
                    self.space();
                    let name = self.string()?;
                    let name: String = serde_json::from_slice(self.text.get(name.start - 1..=name.end)?).ok()?;
                    if !self.eat(b':') {
                        return None;
                    }
                    self.value(&below(open, &name), is_masked, depth + 1)?;
                    if self.eat(b'}') {
                        return Some(());
                    }
                    if !self.eat(b',') {
                        return None;
                    }
                }
            }
            b'[' => {
                self.at += 1;
                if self.eat(b']') {
                    return Some(());
                }
                for index in 0_usize.. {
                    self.value(&below(open, &index.to_string()), is_masked, depth + 1)?;
                    if self.eat(b']') {
                        return Some(());
                    }
                    if !self.eat(b',') {
                        return None;
                    }
                }
                None
            }
            b'"' => {
                let text = self.string()?;
                if is_masked && !text.is_empty() {
                    self.found.push(Match::Text(text));
                }
                Some(())
            }
            _ => {
                let start = self.at;
                while self
                    .text
                    .get(self.at)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
                {
                    self.at += 1;
                }
                let (token, place) = (self.text.get(start..self.at)?, start..self.at);
                let place = match token {
                    b"null" => return Some(()),
                    b"true" | b"false" => Match::Flag(place),
                    _ => {
                        // As it was read before, so that what is no number to the guest is none here.
                        serde_json::from_slice::<serde_json::Number>(token).ok()?;
                        Match::Number(place)
                    }
                };
                if is_masked {
                    self.found.push(place);
                }
                Some(())
            }
        }
    }

    /// Reads a string, and returns the place between its quotes.
    fn string(&mut self) -> Option<Range<usize>> {
        if self.text.get(self.at) != Some(&b'"') {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.text.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(start..at)
    }
}

/// The pointers that lead to a member.
fn below<'p>(open: &[&'p [String]], name: &str) -> Vec<&'p [String]> {
    let leads = |rest: &&'p [String]| {
        let (first, rest) = rest.split_first()?;
        (first == name || first == "*").then_some(rest)
    };
    open.iter().filter_map(leads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, pointers: &[&str]) -> Option<Vec<String>> {
        let pointers: Vec<_> = pointers.iter().map(|pointer| Pointer::parse(pointer).unwrap()).collect();
        let found = matches_of(text.as_bytes(), &pointers)?.into_iter().map(|each| match each {
            Match::Text(range) | Match::Number(range) | Match::Flag(range) => text[range].to_string(),
        });
        Some(found.collect())
    }

    #[test]
    fn values_are_found_by_their_pointers_wherever_they_are() {
        let text =
            r#" { "card" : { "number": "4111", "cvc" : 123, "a/b": [true, null, {"x": "y"}] }, "other": "4111" } "#;
        assert_eq!(found(text, &["/card/number"]).unwrap(), ["4111"]);
        assert_eq!(found(text, &["/card/a~1b/2/x", "/card/cvc"]).unwrap(), ["123", "y"]);
        assert_eq!(found(text, &["/card"]).unwrap(), ["4111", "123", "true", "y"]);
        assert_eq!(found(text, &["/*/number", "/nothing"]).unwrap(), ["4111"]);
        // Another spelling of a name, and a name that is there twice.
        assert_eq!(found(r#"{"c\u0061rd":"a","card":"b\"c"}"#, &["/card"]).unwrap(), ["a", r#"b\"c"#]);
    }

    #[test]
    fn a_text_that_is_not_json_is_no_text_without_places() {
        for text in ["", "{", r#"{"a":1"#, r#"{"a":}"#, "[1,]", "{} {}", "nul", "1e", r#""a"#, r#"{a:1}"#] {
            assert_eq!(found(text, &["/a"]), None, "{text}");
        }
        assert_eq!(found(&"[".repeat(100_000), &["/a"]), None);
        assert_eq!(found("[1,2]", &["/1"]).unwrap(), ["2"]);
    }
}
