//! Files for PostgreSQL, as `psql -f` reads them.

use std::path::PathBuf;

use tenon_pg_grammar::{Grammar, Kind, Piece, SplitError};

use super::{Blocks, Lines, Script, ScriptError, ScriptStatement, without_mark};

/// PostgreSQL's grammar for files, as `libpg-query.wasm` of the npm package `libpg-query`.
#[derive(Clone, Debug, Default)]
pub struct GrammarFile {
    /// The file.
    pub file: Option<PathBuf>,
    /// The folder of its machine code.
    pub cache: Option<PathBuf>,
}

/// Returns the statements of a file. A command of psql, which is not SQL, is an error.
pub(crate) fn of_postgres(grammar: &Grammar, file: &str) -> Result<Script, ScriptError> {
    let text = without_mark(file)?;
    let pieces = grammar.split(text).map_err(|wrong| explained(text, &wrong))?;
    let (mut lines, mut blocks, mut statements) = (Lines::of(text), Blocks::default(), Vec::new());
    for Piece { at, sql, kind } in pieces {
        let line = lines.line(at);
        match kind {
            Kind::Begin => blocks.begin(line)?,
            Kind::Commit => blocks.commit(line)?,
            Kind::Transaction => return Err(Blocks::other(line)),
            Kind::CopyFromStdin => return Err(copied(line)),
            Kind::Other => statements.push(ScriptStatement { line, sql: sql.to_owned() }),
        }
    }
    blocks.end()?;
    Ok(Script { statements, foreign_keys: true })
}

fn explained(text: &str, SplitError { at, message, in_copied_data }: &SplitError) -> ScriptError {
    let line = Lines::of(text).line(*at);
    if *in_copied_data {
        return copied(line);
    }
    let Some(command) = text[*at..].strip_prefix('\\') else { return ScriptError { line, problem: message.clone() } };
    let name: String = command.chars().take_while(|each| each.is_ascii_alphanumeric() || *each == '_').collect();
    let problem = format!("\\{name} is a command of psql, which is not asked: a migration must be SQL alone");
    ScriptError { line, problem }
}

fn copied(line: usize) -> ScriptError {
    let problem = "COPY … FROM STDIN has data that only psql sends: a migration must write rows with INSERT";
    ScriptError { line, problem: problem.to_owned() }
}
