//! Statements of an SQL file.

/// Splits a file into statements. A semicolon in a text, a comment, a dollar-quoted body or a trigger of SQLite ends none. A byte order
/// mark, which editors put in front of a file, is left out.
pub(crate) fn statements_of(text: &str) -> Vec<String> {
    let (mut statements, mut statement, mut depth) = (Vec::new(), String::new(), 0_u32);
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let piece = &rest[..piece_length(rest)];
        rest = &rest[piece.len()..];
        if piece == ";" && depth == 0 {
            end(&mut statements, &mut statement);
            continue;
        }
        if piece.starts_with("/*") {
            // It parts two words, as a space does.
            statement.push(' ');
        } else if !piece.starts_with("--") {
            statement.push_str(piece);
        }
        if (piece.eq_ignore_ascii_case("begin") || piece.eq_ignore_ascii_case("case")) && is_trigger(&statement) {
            depth += 1;
        }
        if piece.eq_ignore_ascii_case("end") {
            depth = depth.saturating_sub(1);
        }
    }
    end(&mut statements, &mut statement);
    statements
}

fn end(statements: &mut Vec<String>, statement: &mut String) {
    let text = statement.trim();
    if !text.is_empty() {
        statements.push(text.to_string());
    }
    statement.clear();
}

/// Reports whether a statement has statements of its own between BEGIN and END.
fn is_trigger(statement: &str) -> bool {
    let mut words =
        statement.split(|each: char| !each.is_alphanumeric() && each != '_').filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default().to_ascii_lowercase();
    if next() != "create" {
        return false;
    }
    match &*next() {
        "trigger" => true,
        "temp" | "temporary" => next() == "trigger",
        _ => false,
    }
}

/// The length of a quoted text, a comment, a dollar-quoted text (PostgreSQL), a word, or any other character. One that has no end goes
/// on to the end of the file.
fn piece_length(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    match text.as_bytes()[0] {
        quote @ (b'\'' | b'"') => quoted_length(text, quote),
        b'-' if text.starts_with("--") => text.find('\n').unwrap_or(text.len()),
        b'/' if text.starts_with("/*") => text[2..].find("*/").map_or(text.len(), |at| at + 4),
        b'$' => dollar_length(text).unwrap_or(first),
        byte if is_word(byte) && !byte.is_ascii_digit() => word_length(text),
        _ => first,
    }
}

/// The length of a quoted text. A doubled quote is part of it.
fn quoted_length(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    text.len()
}

/// The length of `$tag$…$tag$`; none for a parameter, such as `$1`.
fn dollar_length(text: &str) -> Option<usize> {
    let tag = word_length(&text[1..]);
    if tag > 0 && text.as_bytes()[1].is_ascii_digit() {
        return None;
    }
    let delimiter = text.get(..tag + 2).filter(|delimiter| delimiter.ends_with('$'))?;
    let body = &text[delimiter.len()..];
    Some(body.find(delimiter).map_or(text.len(), |at| at + 2 * delimiter.len()))
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|byte| is_word(*byte)).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_inside_something_ends_no_statement() {
        let trigger =
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET b = CASE WHEN 1 THEN 2 END; DELETE FROM c; END";
        for (text, statements) in [
            ("", vec![]),
            ("-- only a comment;\n/* and; another */", vec![]),
            (
                "CREATE TABLE a (b TEXT); CREATE TABLE c (d TEXT);\n",
                vec!["CREATE TABLE a (b TEXT)", "CREATE TABLE c (d TEXT)"],
            ),
            ("INSERT INTO a VALUES ('it''s; fine')", vec!["INSERT INTO a VALUES ('it''s; fine')"]),
            ("SELECT \"a;b\" FROM c; -- end;\nSELECT 1", vec!["SELECT \"a;b\" FROM c", "SELECT 1"]),
            ("DO $$ BEGIN x; END $$; SELECT 1", vec!["DO $$ BEGIN x; END $$", "SELECT 1"]),
            ("DO $a$ $$; $b$ $a$; SELECT $1", vec!["DO $a$ $$; $b$ $a$", "SELECT $1"]),
            ("SELECT '€;', $1; é", vec!["SELECT '€;', $1", "é"]),
            ("SELECT 'open; $", vec!["SELECT 'open; $"]),
            ("\u{feff}SELECT 1;\n", vec!["SELECT 1"]),
            ("SELECT/* one */1", vec!["SELECT 1"]),
            (
                "CREATE TRIGGER\"t\" AFTER INSERT ON a BEGIN SELECT 1; END; SELECT 2",
                vec!["CREATE TRIGGER\"t\" AFTER INSERT ON a BEGIN SELECT 1; END", "SELECT 2"],
            ),
            (&format!("{trigger}; SELECT 1"), vec![trigger, "SELECT 1"]),
        ] {
            assert_eq!(statements_of(text), statements, "{text}");
        }
    }
}
