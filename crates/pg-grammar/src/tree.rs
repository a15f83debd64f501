//! A parse tree, read from the parser's JSON, which nests more deeply than `serde_json` accepts.
//!
//! The tree borrows its texts from the JSON, and takes some five times the JSON's size. A tree of `serde_json` values
//! takes forty times, because each of its maps has room for eleven fields.

use std::borrow::Cow;
use std::ops::Index;

/// Maximum nesting of the JSON, because readers of the tree recurse. Nesting of expressions takes two to four levels
/// each; PostgreSQL itself refuses trees of some 6,000 levels.
const DEPTH: usize = 1_000;

/// Bytes that an allocation takes besides its content.
const ALLOCATION: usize = 16;

/// A node, a list, or a plain value of a parse tree. A node is an object with one field: the name of its type, and the
/// fields of the node.
#[derive(Debug, PartialEq, Eq)]
pub enum Tree<'a> {
    /// Nothing: also the value of a missing field.
    Null,
    /// A flag.
    Bool(bool),
    /// The text of a number.
    Number(&'a str),
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Tree<'a>>),
    /// Fields in their order.
    Object(Vec<(&'a str, Tree<'a>)>),
}

static NULL: Tree<'static> = Tree::Null;

impl<'a> Tree<'a> {
    /// Returns a field of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.fields()?.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Returns the fields of an object.
    #[must_use]
    pub fn fields(&self) -> Option<&[(&'a str, Tree<'a>)]> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// Returns the items of a list, and none of everything else.
    #[must_use]
    pub fn items(&self) -> &[Tree<'a>] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// Returns a text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl<'a> Index<&str> for Tree<'a> {
    type Output = Tree<'a>;

    fn index(&self, name: &str) -> &Tree<'a> {
        self.get(name).unwrap_or(&NULL)
    }
}

impl<'a> Index<usize> for Tree<'a> {
    type Output = Tree<'a>;

    fn index(&self, place: usize) -> &Tree<'a> {
        self.items().get(place).unwrap_or(&NULL)
    }
}

impl PartialEq<str> for Tree<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Tree<'_> {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl PartialEq<bool> for Tree<'_> {
    fn eq(&self, other: &bool) -> bool {
        *self == Tree::Bool(*other)
    }
}

/// The reason why a JSON text has no tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The tree would take more memory than it may.
    TooLarge,
    /// The text is not the parser's JSON, or is nested too deeply.
    Odd,
}

/// Reads one value, with at most `room` bytes for the tree.
pub(crate) fn read(json: &[u8], room: usize) -> Result<Tree<'_>, Unread> {
    let mut reader = Reader { rest: json, room };
    let value = reader.value(0)?;
    if reader.rest.is_empty() { Ok(value) } else { Err(Unread::Odd) }
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Bytes that the tree may still take.
    room: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Tree<'a>, Unread> {
        if depth > DEPTH {
            return Err(Unread::Odd);
        }
        match self.rest.first() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.text().map(Tree::Text),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Result<Tree<'a>, Unread> {
        let end = self.rest.iter().position(|byte| b",]}".contains(byte)).ok_or(Unread::Odd)?;
        let (scalar, rest) = self.rest.split_at(end);
        self.rest = rest;
        match scalar {
            b"null" => Ok(Tree::Null),
            b"true" => Ok(Tree::Bool(true)),
            b"false" => Ok(Tree::Bool(false)),
            _ => {
                let text = std::str::from_utf8(scalar).map_err(|_| Unread::Odd)?;
                serde_json::from_str::<serde_json::Number>(text).map_err(|_| Unread::Odd)?;
                Ok(Tree::Number(text))
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Tree<'a>, Unread> {
        let mut fields: Vec<(&'a str, Tree<'a>)> = Vec::new();
        self.rest = &self.rest[1..];
        if !self.takes(b'}') {
            self.take(ALLOCATION)?;
            loop {
                // Names have no escapes.
                let Cow::Borrowed(name) = self.text()? else { return Err(Unread::Odd) };
                // Different readers would use different ones of two fields with the same name.
                if !self.takes(b':') || fields.iter().any(|(found, _)| *found == name) {
                    return Err(Unread::Odd);
                }
                let value = self.value(depth + 1)?;
                self.push(&mut fields, (name, value))?;
                if self.takes(b'}') {
                    break;
                }
                if !self.takes(b',') {
                    return Err(Unread::Odd);
                }
            }
        }
        fields.shrink_to_fit();
        Ok(Tree::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Tree<'a>, Unread> {
        let mut items = Vec::new();
        self.rest = &self.rest[1..];
        if !self.takes(b']') {
            self.take(ALLOCATION)?;
            loop {
                let value = self.value(depth + 1)?;
                self.push(&mut items, value)?;
                if self.takes(b']') {
                    break;
                }
                if !self.takes(b',') {
                    return Err(Unread::Odd);
                }
            }
        }
        items.shrink_to_fit();
        Ok(Tree::List(items))
    }

    /// Adds an item. A full list moves to one of twice the size, so the room is three times that of the items.
    fn push<T>(&mut self, items: &mut Vec<T>, item: T) -> Result<(), Unread> {
        self.take(size_of::<T>())?;
        if items.len() == items.capacity() {
            let more = items.len().max(1);
            let moving = 2 * items.len() * size_of::<T>();
            if moving > self.room {
                return Err(Unread::TooLarge);
            }
            items.reserve_exact(more);
        }
        items.push(item);
        Ok(())
    }

    fn text(&mut self) -> Result<Cow<'a, str>, Unread> {
        let (mut escaped, mut has_escapes) = (false, false);
        let quote = |byte: &u8| {
            let literal = escaped;
            escaped = !literal && *byte == b'\\';
            has_escapes |= escaped;
            !literal && *byte == b'"'
        };
        let content = self.rest.strip_prefix(b"\"").ok_or(Unread::Odd)?;
        let end = content.iter().position(quote).ok_or(Unread::Odd)?;
        let (text, rest) = self.rest.split_at(end + 2);
        self.rest = rest;
        if !has_escapes {
            return std::str::from_utf8(&content[..end]).map(Cow::Borrowed).map_err(|_| Unread::Odd);
        }
        // The reader collects the text in a buffer, and copies it.
        self.take(ALLOCATION + 3 * end)?;
        serde_json::from_slice(text).map(Cow::Owned).map_err(|_| Unread::Odd)
    }

    fn take(&mut self, bytes: usize) -> Result<(), Unread> {
        self.room = self.room.checked_sub(bytes).ok_or(Unread::TooLarge)?;
        Ok(())
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
    use serde_json::Value;

    use super::*;

    const ROOM: usize = 1 << 20;

    fn value_of(tree: &Tree<'_>) -> Value {
        match tree {
            Tree::Null => Value::Null,
            Tree::Bool(flag) => (*flag).into(),
            Tree::Number(text) => serde_json::from_str(text).unwrap(),
            Tree::Text(text) => text.as_ref().into(),
            Tree::List(items) => items.iter().map(value_of).collect(),
            Tree::Object(fields) => fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value_of(value)))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    #[test]
    fn reads_what_serde_json_reads() {
        for json in
            [r#"{"a":[1,-2.5,true,null,"x\\"],"b":{},"c":[],"d":"\u00e9\n"}"#, "[]", r#"{"a":{"b":[{"c":"]}"}]}}"#]
        {
            let tree = read(json.as_bytes(), ROOM).unwrap();
            assert_eq!(value_of(&tree), serde_json::from_str::<Value>(json).unwrap(), "{json}");
        }
    }

    #[test]
    fn what_is_odd_is_no_tree() {
        for json in
            ["", "{", "[1", "[1 2]", r#"{"a"}"#, r#"{"a":1,"a":2}"#, r#"["a]"#, "[]x", "[,]", r#"{"a":1,}"#, "[x]"]
        {
            assert_eq!(read(json.as_bytes(), ROOM), Err(Unread::Odd), "{json}");
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(DEPTH).as_bytes(), ROOM).is_ok());
        assert!(read(nested(DEPTH + 2).as_bytes(), ROOM).is_err());
    }

    #[test]
    fn a_tree_has_no_more_than_its_room() {
        let objects = format!("[{}]", vec![r#"{"a":0}"#; 1000].join(","));
        assert!(read(objects.as_bytes(), 300_000).is_ok());
        assert_eq!(read(objects.as_bytes(), 60_000), Err(Unread::TooLarge));
        let escapes = format!("[\"{}\"]", "\\n".repeat(1000));
        assert!(read(escapes.as_bytes(), 10_000).is_ok());
        assert_eq!(read(escapes.as_bytes(), 2_000), Err(Unread::TooLarge));
    }
}
