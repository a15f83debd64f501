//! Files for SQLite, as the program `sqlite3` reads them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenon_sqlite::{Action, Budget, Connection, Error, Library, Options, Rules};

use super::{Blocks, Lines, Script, ScriptError, ScriptStatement, without_mark};

/// Bytes of memory of the compiler: the largest file, and a copy for a statement.
const MEMORY: usize = 256 * 1024 * 1024;

/// The comment that drizzle-kit writes between statements.
const DRIZZLE: &str = "--> statement-breakpoint";

/// Returns the statements of a file. A command of the program, which is not SQL, is an error.
///
/// Foreign keys are off, as `sqlite3` has them, unless a pragma in the file turns them on. The pragma does nothing between BEGIN and COMMIT,
/// and after the first statement of drizzle-kit's files, whose own migrator runs them in one transaction as well: drizzle-kit turns
/// foreign keys on after the first of several rebuilds.
/// `cache` is the folder of compiled code.
pub(crate) fn of_sqlite(file: &str, cache: Option<&Path>) -> Result<Script, ScriptError> {
    // sqlite3 reads lines, so the end of a line is one character even in a text.
    let text = without_mark(file)?.replace("\r\n", "\n");
    let text = text.as_str();
    let mut compiler = Compiler::new(cache).map_err(|error| failed(1, &error))?;
    let (mut lines, mut blocks, mut statements) = (Lines::of(text), Blocks::default(), Vec::new());
    let mut foreign_keys = false;
    let mut enforced = None;
    let of_drizzle = text.contains(DRIZZLE);
    let mut splitter = Splitter::of(text);
    while let Some((at, sql)) = splitter.next(&mut compiler, &mut lines)? {
        let line = lines.line(at);
        match compiler.kind(sql) {
            Kind::Empty => continue,
            Kind::Begin => blocks.begin(line)?,
            Kind::Commit => blocks.commit(line)?,
            Kind::Transaction => return Err(Blocks::other(line)),
            Kind::ForeignKeys(Some(on)) if blocks.open.is_none() && !(of_drizzle && enforced.is_some()) => {
                foreign_keys = on;
            }
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

fn failed(line: usize, error: &Error) -> ScriptError {
    ScriptError { line, problem: format!("SQLite: {error}") }
}

/// Finds the ends of statements with `sqlite3_complete`.
struct Splitter<'a> {
    text: &'a str,
    /// The beginning of the next statement.
    at: usize,
}

impl<'a> Splitter<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next statement with its semicolon, and its position. The last one may have no semicolon.
    fn next(
        &mut self,
        compiler: &mut Compiler,
        lines: &mut Lines<'_>,
    ) -> Result<Option<(usize, &'a str)>, ScriptError> {
        self.skip_lines(compiler, lines)?;
        let text = &self.text[self.at..];
        if text.trim().is_empty() {
            return Ok(None);
        }
        let start = self.at;
        let mut end = self.text.len();
        for (at, _) in text.match_indices(';') {
            let is_complete = compiler.connection.is_complete(&text[..=at]);
            if is_complete.map_err(|error| failed(lines.line(start), &error))? {
                end = start + at + 1;
                break;
            }
        }
        self.at = end;
        let leading = text.len() - text.trim_start().len();
        Ok(Some((start + leading, self.text[start..end].trim())))
    }

    /// Skips lines between statements that have none: blanks, comments, and those that begin with `#`.
    fn skip_lines(&mut self, compiler: &mut Compiler, lines: &mut Lines<'_>) -> Result<(), ScriptError> {
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
            let is_comment = is_whole && line.starts_with('#');
            if !is_comment && !compiler.is_blank(line).map_err(|error| failed(lines.line(self.at), &error))? {
                break;
            }
            self.at += line.len();
        }
        Ok(())
    }
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
    first: First,
}

/// The first action of the statement that is compiled.
#[derive(Clone, Default)]
struct First(Arc<Mutex<Option<Kind>>>);

impl First {
    fn take(&self) -> Option<Kind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Rules for First {
    fn allow(&mut self, action: Action<'_>, _: Option<&str>, _: Option<&str>) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| kind_of(action));
        // Some pragmas take effect when they are compiled.
        false
    }
}

impl Compiler {
    fn new(cache: Option<&Path>) -> Result<Self, Error> {
        let first = First::default();
        let options = Options {
            path: None,
            wait: Duration::ZERO,
            max_value_bytes: MEMORY,
            budget: Budget::new(MEMORY, MEMORY, 0),
            rules: Box::new(first.clone()),
        };
        Ok(Self { connection: Connection::open(&Library::load(cache)?, options)?, first })
    }

    fn kind(&mut self, sql: &str) -> Kind {
        let _ = self.first.take();
        let is_empty = matches!(self.connection.prepare(sql), Err(Error::Nothing));
        self.first.take().unwrap_or(if is_empty { Kind::Empty } else { Kind::Other })
    }

    /// Reports whether a line has nothing but blanks and comments that end in it.
    fn is_blank(&mut self, line: &str) -> Result<bool, Error> {
        // A comment goes on until the end of the text; it is complete only when it has an end.
        Ok(self.connection.is_complete(&format!(";{line}"))? && self.kind(line) == Kind::Empty)
    }
}

fn kind_of(action: Action<'_>) -> Kind {
    match action {
        Action::Transaction("BEGIN") => Kind::Begin,
        Action::Transaction("COMMIT") => Kind::Commit,
        Action::Transaction(_) | Action::Savepoint => Kind::Transaction,
        Action::Pragma("foreign_keys", value) => Kind::ForeignKeys(value.map(is_on)),
        Action::Pragma("defer_foreign_keys", _) => Kind::DeferForeignKeys,
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
