//! Reads the parser's JSON, which nests more deeply than `serde_json` accepts.

use serde_json::{Map, Value};

/// Maximum nesting of the JSON, because readers of the tree recurse. Nesting of expressions takes two to four levels
/// each; PostgreSQL itself refuses trees of some 6,000 levels.
const DEPTH: usize = 1_000;

/// Reads one value. None when the text is not JSON, or too deep.
pub(crate) fn read(json: &[u8]) -> Option<Value> {
    let mut reader = Reader { rest: json };
    let value = reader.value(0)?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        match self.rest.first()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.text().map(Value::String),
            _ => {
                let end = self.rest.iter().position(|byte| b",]}".contains(byte))?;
                let (scalar, rest) = self.rest.split_at(end);
                self.rest = rest;
                serde_json::from_slice(scalar).ok()
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        self.rest = &self.rest[1..];
        if self.takes(b'}') {
            return Some(Value::Object(fields));
        }
        loop {
            let name = self.text()?;
            if !self.takes(b':') {
                return None;
            }
            // Different readers would use different ones of two fields with the same name.
            if fields.insert(name, self.value(depth + 1)?).is_some() {
                return None;
            }
            if self.takes(b'}') {
                return Some(Value::Object(fields));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.rest = &self.rest[1..];
        if self.takes(b']') {
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.takes(b']') {
                return Some(Value::Array(items));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let mut escaped = false;
        let quote = |byte: &u8| {
            let literal = escaped;
            escaped = !literal && *byte == b'\\';
            !literal && *byte == b'"'
        };
        let end = self.rest.strip_prefix(b"\"")?.iter().position(quote)? + 2;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        serde_json::from_slice(text).ok()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_serde_json_reads() {
        for json in
            [r#"{"a":[1,-2.5,true,null,"x\\"],"b":{},"c":[],"d":"\u00e9\n"}"#, "[]", r#"{"a":{"b":[{"c":"]}"}]}}"#]
        {
            assert_eq!(read(json.as_bytes()), serde_json::from_str(json).ok(), "{json}");
        }
    }

    #[test]
    fn what_is_odd_is_no_tree() {
        for json in ["", "{", "[1", "[1 2]", r#"{"a"}"#, r#"{"a":1,"a":2}"#, r#"["a]"#, "[]x", "[,]", r#"{"a":1,}"#] {
            assert_eq!(read(json.as_bytes()), None, "{json}");
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(DEPTH).as_bytes()).is_some());
        assert!(read(nested(DEPTH + 2).as_bytes()).is_none());
    }
}
