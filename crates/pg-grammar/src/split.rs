//! Splits a file into statements, as PostgreSQL's grammar reads it.
//!
//! The trees of a large file would not fit into the parser's memory, so it gets the file in parts. A part ends after a line, and gives
//! the statements that a semicolon ends in it. The rest belongs to the next part. A part that ends inside a statement or a
//! quoted text does not parse, and a larger one is tried. So only the whole rest of the file can be wrong.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::load::Grammar;
use crate::parse::Wrong;

/// Bytes of the first part. Parsing one takes some milliseconds, and the trees some megabytes.
const PART: usize = 256 * 1024;

/// Bytes of the parser's heap for a part.
const HEAP: usize = 256 << 20;

/// A statement in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Bytes of the file before it.
    pub at: usize,
    /// The statement with the comments in it, without the semicolon.
    pub sql: &'a str,
    /// Its kind.
    pub kind: Kind,
}

/// The kinds of statements that matter to those who run files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `BEGIN` or `START TRANSACTION`, without options.
    Begin,
    /// `COMMIT` or `END`, without options.
    Commit,
    /// Any other statement that controls transactions.
    Transaction,
    /// `COPY … FROM STDIN`, whose data is beside the statements.
    CopyFromStdin,
    /// `SET` or `RESET` of one parameter.
    Set,
    /// Any other.
    Other,
}

/// The reason why a file cannot be split.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct SplitError {
    /// Bytes of the file before the mistake.
    pub at: usize,
    /// PostgreSQL's message, or a limit.
    pub message: String,
    /// The mistake is where the data of a `COPY … FROM STDIN` would be.
    pub in_copied_data: bool,
}

#[derive(Deserialize)]
struct Trees<'a> {
    #[serde(borrow, default)]
    stmts: Vec<Tree<'a>>,
}

#[derive(Deserialize)]
struct Tree<'a> {
    #[serde(borrow)]
    stmt: &'a RawValue,
    #[serde(default)]
    stmt_location: usize,
    /// Zero for a statement that no semicolon ends.
    #[serde(default)]
    stmt_len: usize,
}

impl Grammar {
    /// Returns the statements of a file in their order. Blanks and comments between them are left out.
    ///
    /// It computes for some milliseconds a megabyte and needs 2 MiB of stack, so call it on a thread that may block.
    ///
    /// # Errors
    ///
    /// [`SplitError`] with the place of what is not PostgreSQL, or of a statement that is too large.
    pub fn split<'a>(&self, file: &'a str) -> Result<Vec<Piece<'a>>, SplitError> {
        let mut pieces = Vec::new();
        let (mut start, mut size) = (0, PART);
        while start < file.len() {
            let end = end_of_part(file, start, size);
            let is_last = end == file.len();
            match self.trees(&file[start..end]) {
                Some(Ok(json)) => {
                    let before = start;
                    start = take(&mut pieces, file, start..end, &json, is_last)?;
                    size = if start == before { size.saturating_mul(2) } else { PART };
                }
                // The mistake in a part may be its end.
                _ if !is_last => size = size.saturating_mul(2),
                Some(Err(wrong)) => return Err(self.explained(file, start, start + wrong.at, wrong.message)),
                None => {
                    let message = "a statement is too large or nested too deeply to be parsed".to_owned();
                    return Err(SplitError { at: start, message, in_copied_data: false });
                }
            }
        }
        Ok(pieces)
    }

    /// The trees of a part as JSON. None when the parser exceeded its memory or depth.
    fn trees(&self, part: &str) -> Option<Result<Vec<u8>, Wrong>> {
        self.json(part, HEAP, &self.interrupt(), <[u8]>::to_vec)
    }

    fn explained(&self, file: &str, start: usize, at: usize, message: String) -> SplitError {
        // The data of a COPY follows on the next line.
        let before = file[..at].rfind('\n').map_or(start, |line| line.max(start));
        let in_copied_data = self.trees(&file[start..before]).and_then(Result::ok).is_some_and(|json| {
            let trees = serde_json::from_slice::<Trees<'_>>(&json).map(|trees| trees.stmts).unwrap_or_default();
            trees.last().is_some_and(|last| last.stmt_len > 0 && kind_of(last.stmt.get()) == Kind::CopyFromStdin)
        });
        SplitError { at, message, in_copied_data }
    }
}

/// The end of the first line that ends `size` bytes or more after the start.
fn end_of_part(file: &str, start: usize, size: usize) -> usize {
    let from = start.saturating_add(size).min(file.len());
    let line = file.as_bytes()[from..].iter().position(|byte| *byte == b'\n');
    line.map_or(file.len(), |line| from + line + 1)
}

/// Takes the statements of a part, and returns where the next part begins.
fn take<'a>(
    pieces: &mut Vec<Piece<'a>>,
    file: &'a str,
    part: std::ops::Range<usize>,
    json: &[u8],
    is_last: bool,
) -> Result<usize, SplitError> {
    let failed = |error: serde_json::Error| SplitError {
        at: part.start,
        message: format!("the parse tree cannot be read: {error}"),
        in_copied_data: false,
    };
    let mut next = part.start;
    for Tree { stmt, stmt_location, stmt_len } in serde_json::from_slice::<Trees<'_>>(json).map_err(failed)?.stmts {
        if stmt_len == 0 && !is_last {
            return Ok(next);
        }
        let at = part.start + stmt_location;
        let end = if stmt_len == 0 { part.end } else { at + stmt_len };
        let sql = file.get(at..end).unwrap_or_default();
        let leading = sql.len() - sql.trim_start().len();
        pieces.push(Piece { at: at + leading, sql: sql.trim(), kind: kind_of(stmt.get()) });
        // The semicolon is one byte.
        next = (end + 1).min(part.end);
    }
    Ok(if is_last { part.end } else { next })
}

/// The kind of a statement by its tree, such as `{"TransactionStmt":{"kind":"TRANS_STMT_BEGIN"}}`.
fn kind_of(tree: &str) -> Kind {
    #[derive(Deserialize)]
    struct Node {
        #[serde(rename = "TransactionStmt")]
        transaction: Option<Transaction>,
        #[serde(rename = "CopyStmt")]
        copy: Option<Copy>,
        #[serde(rename = "VariableSetStmt")]
        set: Option<Set>,
    }
    #[derive(Deserialize)]
    struct Set {
        kind: String,
    }
    #[derive(Deserialize)]
    struct Transaction {
        kind: String,
        options: Option<IgnoredAny>,
        #[serde(default)]
        chain: bool,
    }
    #[derive(Deserialize)]
    struct Copy {
        #[serde(default)]
        is_from: bool,
        filename: Option<IgnoredAny>,
        #[serde(default)]
        is_program: bool,
    }
    match serde_json::from_str(tree) {
        Ok(Node { transaction: Some(Transaction { kind, options, chain }), .. }) => match kind.as_str() {
            "TRANS_STMT_BEGIN" | "TRANS_STMT_START" if options.is_none() => Kind::Begin,
            "TRANS_STMT_COMMIT" if !chain => Kind::Commit,
            _ => Kind::Transaction,
        },
        Ok(Node { set: Some(Set { kind }), .. })
            if matches!(&*kind, "VAR_SET_VALUE" | "VAR_SET_DEFAULT" | "VAR_RESET") =>
        {
            Kind::Set
        }
        Ok(Node { copy: Some(Copy { is_from: true, filename: None, is_program: false }), .. }) => Kind::CopyFromStdin,
        _ => Kind::Other,
    }
}
