//! SQLite's own limits (`sqlite3_limit`), each of which is set here.

/// The number of each limit in `sqlite3.h`, its name, and its value. `SQLITE_LIMIT_LENGTH` is the caller's
/// ([`crate::Options::max_value_bytes`]).
pub const LIMITS: [(i32, &str, i32); 14] = [
    // The text of a statement in bytes. 32,766 placeholders need 0.3 MB.
    (1, "SQL_LENGTH", 1_000_000),
    (2, "COLUMN", 2000),
    (3, "EXPR_DEPTH", 1000),
    (4, "COMPOUND_SELECT", 500),
    // The operations of a compiled statement.
    (5, "VDBE_OP", 5_000_000),
    (6, "FUNCTION_ARG", 127),
    // VACUUM attaches one.
    (7, "ATTACHED", 1),
    // SQLite's function for LIKE and GLOB calls itself for each `%` and `*`.
    (8, "LIKE_PATTERN_LENGTH", 5000),
    (9, "VARIABLE_NUMBER", 32_766),
    (10, "TRIGGER_DEPTH", 100),
    (11, "WORKER_THREADS", 0),
    (12, "PARSER_DEPTH", 1000),
    (13, "SCHEMA", 10_000),
    (14, "TRIGGER_STEPS", 1000),
];
