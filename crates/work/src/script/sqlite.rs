//! Files for SQLite, as the program `sqlite3` reads them.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};
use rusqlite::{Batch, Connection, ffi};

use super::{Blocks, Lines, Script, ScriptError, ScriptStatement, without_mark};

/// Returns the statements of a file. A command of the program, which is not SQL, is an error.
///
/// Foreign keys are off, as `sqlite3` has them, unless a pragma in the file turns them on. The pragma does nothing between BEGIN and COMMIT.
pub(crate) fn of_sqlite(file: &str) -> Result<Script, ScriptError> {
    // sqlite3 reads lines, so the end of a line is one character even in a text.
    let text = without_mark(file)?.replace("\r\n", "\n");
    let text = text.as_str();
    let compiler = Compiler::new().map_err(|error| ScriptError { line: 1, problem: format!("SQLite: {error}") })?;
    let (mut lines, mut blocks, mut statements) = (Lines::of(text), Blocks::default(), Vec::new());
    let mut foreign_keys = false;
    let mut enforced = None;
    let mut splitter = Splitter::of(text);
    while let Some((at, sql)) = splitter.next(&compiler, &mut lines)? {
        let line = lines.line(at);
        match compiler.kind(sql) {
            Kind::Empty => continue,
            Kind::Begin => blocks.begin(line)?,
            Kind::Commit => blocks.commit(line)?,
            Kind::Transaction => return Err(Blocks::other(line)),
            Kind::ForeignKeys(Some(on)) if blocks.open.is_none() => foreign_keys = on,
            Kind::ForeignKeys(_) => {}
            // It does nothing while foreign keys are off.
            Kind::DeferForeignKeys if !foreign_keys => {}
            Kind::DeferForeignKeys | Kind::Other => {
                if enforced.is_some_and(|before| before != foreign_keys) {
                    let problem = "PRAGMA foreign_keys must not change between statements that run in one transaction: split the file here";
                    return Err(ScriptError { line, problem: problem.to_owned() });
                }
                enforced = Some(foreign_keys);
                statements
                    .push(ScriptStatement { line, sql: sql.strip_suffix(';').unwrap_or(sql).trim_end().to_owned() });
            }
        }
    }
    blocks.end()?;
    Ok(Script { statements, foreign_keys: enforced.unwrap_or(false) })
}

/// Finds the ends of statements with `sqlite3_complete`.
struct Splitter<'a> {
    text: &'a str,
    /// The text and a zero byte.
    bytes: Vec<u8>,
    /// The beginning of the next statement.
    at: usize,
}

impl<'a> Splitter<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, bytes: [text.as_bytes(), &[0]].concat(), at: 0 }
    }

    /// Returns the next statement with its semicolon, and its position. The last one may have no semicolon.
    fn next(&mut self, compiler: &Compiler, lines: &mut Lines<'_>) -> Result<Option<(usize, &'a str)>, ScriptError> {
        self.skip_lines(compiler, lines)?;
        let text = &self.text[self.at..];
        if text.trim().is_empty() {
            return Ok(None);
        }
        let start = self.at;
        let mut ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b';').map(|(end, _)| start + end + 1);
        let end = ends.find(|end| is_complete_until(&mut self.bytes, start, *end)).unwrap_or(self.text.len());
        self.at = end;
        let leading = text.len() - text.trim_start().len();
        Ok(Some((start + leading, self.text[start..end].trim())))
    }

    /// Skips lines between statements that have none: blanks, comments, and those that begin with `#`.
    fn skip_lines(&mut self, compiler: &Compiler, lines: &mut Lines<'_>) -> Result<(), ScriptError> {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let line = &rest[..rest.find('\n').map_or(rest.len(), |end| end + 1)];
            let is_whole = self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n';
            if is_whole && let Some(command) = line.strip_prefix('.') {
                let name: String = command.chars().take_while(char::is_ascii_alphanumeric).collect();
                let problem =
                    format!(".{name} is a command of sqlite3, which is not asked: a migration must be SQL alone");
                return Err(ScriptError { line: lines.line(self.at), problem });
            }
            if !(is_whole && line.starts_with('#') || compiler.is_blank(line)) {
                break;
            }
            self.at += line.len();
        }
        Ok(())
    }
}

/// Reports whether a statement is complete at `end`, where the bytes from `start` on are looked at.
fn is_complete_until(bytes: &mut [u8], start: usize, end: usize) -> bool {
    let after = std::mem::replace(&mut bytes[end], 0);
    let complete = is_complete(&bytes[start..=end]);
    bytes[end] = after;
    complete
}

/// Reports whether a text that ends with a zero byte ends with a complete statement.
fn is_complete(text: &[u8]) -> bool {
    assert_eq!(text.last(), Some(&0), "SQLite reads until a zero byte");
    // SAFETY: the text ends with a zero byte, as checked above, and SQLite only reads it during the call.
    unsafe { ffi::sqlite3_complete(text.as_ptr().cast()) != 0 }
}

/// The kinds of statements that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Blanks and comments.
    Empty,
    Begin,
    Commit,
    /// Any other statement that controls transactions.
    Transaction,
    /// `PRAGMA foreign_keys`, with the value that it sets.
    ForeignKeys(Option<bool>),
    DeferForeignKeys,
    Other,
}

/// SQLite's compiler, with an empty database. It executes nothing.
struct Compiler {
    connection: Connection,
    /// The first action of the statement that is compiled.
    first: Arc<Mutex<Option<Kind>>>,
}

impl Compiler {
    fn new() -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        let first = Arc::<Mutex<Option<Kind>>>::default();
        let found = Arc::clone(&first);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| kind_of(&context.action));
            // Some pragmas take effect when they are compiled.
            Authorization::Deny
        }))?;
        Ok(Self { connection, first })
    }

    fn kind(&self, sql: &str) -> Kind {
        let first = || self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ = first();
        let compiled = Batch::new(&self.connection, sql).next();
        let is_empty = matches!(compiled, Ok(None));
        first().unwrap_or(if is_empty { Kind::Empty } else { Kind::Other })
    }

    /// Reports whether a line has nothing but blanks and comments that end in it.
    fn is_blank(&self, line: &str) -> bool {
        // A comment goes on until the end of the text; it is complete only when it has an end.
        is_complete(&[b";", line.as_bytes(), b"\0"].concat()) && self.kind(line) == Kind::Empty
    }
}

fn kind_of(action: &AuthAction<'_>) -> Kind {
    match action {
        AuthAction::Transaction { operation: TransactionOperation::Begin } => Kind::Begin,
        // rusqlite has no name for COMMIT, the only other one.
        AuthAction::Transaction { operation: TransactionOperation::Unknown } => Kind::Commit,
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => Kind::Transaction,
        AuthAction::Pragma { pragma_name, pragma_value } => match &*pragma_name.to_ascii_lowercase() {
            "foreign_keys" => Kind::ForeignKeys(pragma_value.map(is_on)),
            "defer_foreign_keys" => Kind::DeferForeignKeys,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// Reads a pragma's boolean as SQLite does: a number other than zero, or one of three words.
fn is_on(value: &str) -> bool {
    let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
    match digits.is_empty() {
        true => ["on", "yes", "true"].iter().any(|word| value.eq_ignore_ascii_case(word)),
        // Only the last eight bits count.
        false => digits.parse::<u32>().unwrap_or_default() & 0xff != 0,
    }
}
