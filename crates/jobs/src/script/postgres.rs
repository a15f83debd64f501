//! Files for PostgreSQL, as `psql -f` reads them.

use std::path::PathBuf;

use tenon_pg_grammar::{Bounds, Grammar, Kind, Piece, SplitError, Tree};

use super::{Blocks, Lines, Script, ScriptError, ScriptStatement, without_mark};

/// PostgreSQL's grammar for files, as `libpg-query.wasm` of the npm package `libpg-query`.
#[derive(Clone, Debug, Default)]
pub struct GrammarFile {
    /// The file.
    pub file: Option<PathBuf>,
    /// The folder of its machine code, and of the reader of SQLite files.
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
            Kind::Set => {
                let sql = setting(grammar, sql).unwrap_or_else(|| sql.to_owned());
                statements.push(ScriptStatement { line, sql });
            }
            Kind::Other => statements.push(ScriptStatement { line, sql: sql.to_owned() }),
        }
    }
    blocks.end()?;
    Ok(Script { statements, foreign_keys: true })
}

/// Memory for the tree of a `SET`.
const BOUNDS: Bounds = Bounds { heap: 16 << 20, tree: 4 << 20 };

/// Parameters whose values are lists of names, which PostgreSQL quotes.
const NAMES: [&str; 4] = ["search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries"];

/// Writes a `SET` as a call that lasts as long as the file's transaction, because a sidecar refuses commands of the session. None when a
/// value is not a constant.
fn setting(grammar: &Grammar, sql: &str) -> Option<String> {
    grammar.parse(sql, BOUNDS, &grammar.interrupt(), |trees| call_of(&trees.last()?["VariableSetStmt"])).ok()?
}

fn call_of(set: &Tree<'_>) -> Option<String> {
    let name = set["name"].as_str()?;
    if set["kind"] != "VAR_SET_VALUE" {
        let name = quoted(name);
        return Some(format!(
            "SELECT pg_catalog.set_config(name, reset_val, true) FROM pg_catalog.pg_settings WHERE lower(name) = lower({name})"
        ));
    }
    let values = set["args"].items().iter().map(|value| {
        let value = constant(&value["A_Const"])?;
        let is_name = NAMES.iter().any(|each| name.eq_ignore_ascii_case(each));
        Some(if is_name { format!("\"{}\"", value.replace('"', "\"\"")) } else { value })
    });
    let values = values.collect::<Option<Vec<_>>>()?.join(", ");
    Some(format!("SELECT pg_catalog.set_config({}, {}, true)", quoted(name), quoted(&values)))
}

/// A constant of the tree as text. Zero, false and the empty text are left out of it.
fn constant(tree: &Tree<'_>) -> Option<String> {
    if let Some(text) = tree.get("sval") {
        return Some(text["sval"].as_str().unwrap_or_default().to_owned());
    }
    if let Some(number) = tree.get("fval") {
        return number["fval"].as_str().map(str::to_owned);
    }
    match tree.get("ival")?["ival"] {
        Tree::Number(digits) => Some(digits.to_owned()),
        _ => Some("0".to_owned()),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
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
