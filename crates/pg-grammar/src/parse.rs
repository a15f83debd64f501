//! Parses one statement in one instance.

use serde_json::Value;
use thiserror::Error;
use wasmtime::{Result, Store, TypedFunc, bail};

use crate::imports::{Exports, Host};
use crate::load::Grammar;
use crate::tree;

/// Fuel (about one unit per WebAssembly instruction): a base amount, and an amount for each byte of the statement.
const FUEL: u64 = 20_000_000;
const FUEL_PER_BYTE: u64 = 20_000;

/// The reason why a text has no tree.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    /// The text is not PostgreSQL; the message is PostgreSQL's own.
    #[error("{0}")]
    Syntax(String),
    /// The parser exceeded a limit or failed.
    #[error("the statement is too large or nested too deeply to be parsed")]
    Failed,
}

/// The mistake in a text.
pub(crate) struct Wrong {
    /// Bytes before it.
    pub(crate) at: usize,
    /// PostgreSQL's own message.
    pub(crate) message: String,
}

impl Grammar {
    /// Returns the statements of a text as PostgreSQL's raw parse trees. Each is an object with one key, the name of
    /// its node type. Fields that are zero, false or empty are left out, as in libpg_query. Blanks and comments have no
    /// statement.
    ///
    /// It computes for 50 µs or more and needs 2 MiB of stack, so call it on a thread that may block.
    ///
    /// # Errors
    ///
    /// The text is not PostgreSQL, or exceeds a limit.
    pub fn parse(&self, sql: &str) -> std::result::Result<Vec<Value>, ParseError> {
        let json = self.tree(sql).ok_or(ParseError::Failed)?.map_err(|wrong| ParseError::Syntax(wrong.message))?;
        statements(&json).ok_or(ParseError::Failed)
    }

    /// Returns the trees as JSON; none when the parser exceeded a limit or failed.
    pub(crate) fn tree(&self, sql: &str) -> Option<std::result::Result<Vec<u8>, Wrong>> {
        let tree = self.run(sql);
        tree.inspect_err(|error| tracing::debug!("the SQL parser failed: {error:#}")).ok()
    }

    fn run(&self, sql: &str) -> Result<std::result::Result<Vec<u8>, Wrong>> {
        let mut store = Store::new(self.parser.module().engine(), Host::default());
        store.limiter(|host| &mut host.limits);
        store.set_fuel(FUEL + FUEL_PER_BYTE * sql.len() as u64)?;
        let instance = self.parser.instantiate(&mut store)?;
        let exports = Exports::of(&instance, &mut store)?;
        let memory = exports.memory;
        store.data_mut().exports = Some(exports);
        instance.get_typed_func::<(), ()>(&mut store, "A")?.call(&mut store, ())?;

        let allocate: TypedFunc<u32, u32> = instance.get_typed_func(&mut store, "C")?;
        let text = allocate.call(&mut store, u32::try_from(sql.len() + 1)?)?;
        if text == 0 {
            bail!("no memory for the statement");
        }
        memory.write(&mut store, text as usize, sql.as_bytes())?;
        memory.write(&mut store, text as usize + sql.len(), &[0])?;
        let parse: TypedFunc<u32, u32> = instance.get_typed_func(&mut store, "F")?;
        let result = parse.call(&mut store, text)?;

        // struct PgQueryParseResult { char *parse_tree; char *stderr_buffer; PgQueryError *error; }
        let memory = memory.data(&store);
        let [tree, _, error] = [0, 4, 8].map(|offset| word(memory, result, offset));
        match (tree, error) {
            (Some(tree), Some(0)) if tree != 0 => Ok(Ok(text_at(memory, tree)?.to_vec())),
            // struct PgQueryError { char *message; char *funcname; char *filename; int lineno; int cursorpos; … }
            (_, Some(error)) if error != 0 => {
                let message = word(memory, error, 0).map_or(Ok(&b""[..]), |message| text_at(memory, message))?;
                let message = String::from_utf8_lossy(message).into_owned();
                // It counts characters from 1; 0 is no place.
                let characters = word(memory, error, 16).unwrap_or_default().saturating_sub(1) as usize;
                let at = sql.char_indices().nth(characters).map_or(sql.len(), |(at, _)| at);
                Ok(Err(Wrong { at, message }))
            }
            _ => bail!("a result without a tree"),
        }
    }
}

/// Reads the 32-bit word `offset` bytes after a pointer.
fn word(memory: &[u8], pointer: u32, offset: usize) -> Option<u32> {
    let at = (pointer != 0).then_some(pointer as usize + offset)?;
    Some(u32::from_le_bytes(*memory.get(at..)?.first_chunk()?))
}

/// Reads a C string.
fn text_at(memory: &[u8], pointer: u32) -> Result<&[u8]> {
    let rest = memory.get(pointer as usize..).unwrap_or_default();
    match rest.iter().position(|byte| *byte == 0) {
        Some(end) => Ok(&rest[..end]),
        None => bail!("a text without an end"),
    }
}

fn statements(json: &[u8]) -> Option<Vec<Value>> {
    let Value::Object(mut whole) = tree::read(json)? else { return None };
    let Value::Array(statements) = whole.remove("stmts")? else { return None };
    statements.into_iter().map(|mut statement| statement.get_mut("stmt").map(Value::take)).collect()
}
