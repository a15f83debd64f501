//! Connections are shared by requests: what a statement would leave behind on one is refused, or the connection goes.

/// Commands that begin or end transactions, or change the session that the next request gets.
const REFUSED: [&str; 25] = [
    "abort",
    "begin",
    "checkpoint",
    "close",
    "commit",
    "copy",
    "deallocate",
    "declare",
    "discard",
    "end",
    "execute",
    "fetch",
    "listen",
    "load",
    "lock",
    "move",
    "prepare",
    "release",
    "reset",
    "rollback",
    "savepoint",
    "set",
    "start",
    "unlisten",
    "notify",
];

/// Words of statements that may change the session in passing.
const TRACES: [&str; 4] = ["set_config", "advisory", "temp", "dblink"];

/// Refuses commands of transactions and sessions.
pub(crate) fn check(sql: &str) -> Result<(), &'static str> {
    let first = first_word(sql);
    if REFUSED.contains(&first.as_str()) {
        Err("a transaction is a /sql/batch, and commands that concern the session are not allowed")
    } else {
        Ok(())
    }
}

/// Whether the connection may not be what it was.
pub(crate) fn leaves_traces(sql: &str) -> bool {
    let first = first_word(sql);
    let lower = sql.to_ascii_lowercase();
    // A block or a procedure may do anything.
    first == "do" || first == "call" || TRACES.iter().any(|word| lower.contains(word))
}

/// Whether the rows that a statement gives are those that it changed.
pub(crate) fn changes_rows(sql: &str) -> bool {
    match first_word(sql).as_str() {
        "insert" | "update" | "delete" | "merge" => true,
        "with" => {
            let lower = sql.to_ascii_lowercase();
            ["insert", "update", "delete", "merge"].iter().any(|word| lower.contains(word))
        }
        _ => false,
    }
}

/// Whether there is nothing in a text that would run.
pub(crate) fn is_empty(sql: &str) -> bool {
    beginning(sql).is_empty()
}

/// The first word of a statement in lower case.
fn first_word(sql: &str) -> String {
    let rest = beginning(sql);
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest[..end].to_ascii_lowercase()
}

/// A statement from its first word on, behind spaces, comments, semicolons and parentheses.
fn beginning(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}', '\u{b}', ';', '(']);
        if let Some(comment) = rest.strip_prefix("--") {
            rest = comment.find(['\n', '\r']).map_or("", |end| &comment[end..]);
        } else if rest.starts_with("/*") {
            rest = behind_comment(rest);
        } else {
            return rest;
        }
    }
}

/// PostgreSQL's comments nest.
fn behind_comment(text: &str) -> &str {
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') => (depth, at) = (depth + 1, at + 2),
            (b'*', b'/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return &text[at..];
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_and_sessions_are_refused() {
        for sql in [
            "BEGIN",
            " ; begin",
            "/* a /* b */ c */ Commit",
            "-- x\nROLLBACK",
            "set statement_timeout = 0",
            "START TRANSACTION",
            "copy users to stdout",
            "/**/--\r\nreset all",
        ] {
            assert!(check(sql).is_err(), "{sql}");
        }
        for sql in ["select 1", "(select 1)", "selec", "begins", "WITH a AS (SELECT 1) TABLE a", "", "/* begin"] {
            assert!(check(sql).is_ok(), "{sql}");
        }
    }

    #[test]
    fn traces() {
        assert!(leaves_traces("SELECT set_config('a.b', 'c', false)"));
        assert!(leaves_traces("CREATE TEMP TABLE x (a int)"));
        assert!(leaves_traces("do $$ begin end $$"));
        assert!(!leaves_traces("SELECT 1"));
    }
}
