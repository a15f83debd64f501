//! Parses one statement in one instance.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;
use wasmtime::{Engine, Result, Store, TypedFunc, UpdateDeadline, bail};

use crate::imports::{Exports, Host};
use crate::load::Grammar;
use crate::tree::{self, Tree, Unread};

/// The reason why a text has no tree.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    /// The text is not PostgreSQL; the message is PostgreSQL's own.
    #[error("{0}")]
    Syntax(String),
    /// The parser exceeded its memory or depth, or failed.
    #[error("the statement is too large or nested too deeply to be parsed")]
    Failed,
    /// [`Interrupt::fire`] was called.
    #[error("parsing the statement took too long")]
    Interrupted,
}

/// Limit in bytes of an error message. PostgreSQL repeats the text from the error on, which may be all of it.
const MAX_MESSAGE: usize = 1024;

/// Memory that one parse may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of the parser's heap. Its constants and its stack take some 2 MiB more.
    pub heap: usize,
    /// Bytes of the tree.
    pub tree: usize,
}

impl Bounds {
    /// Returns all bytes.
    #[must_use]
    pub const fn total(self) -> usize {
        self.heap + self.tree
    }
}

/// Ends parses from another thread. Clones end the same ones.
#[derive(Clone)]
pub struct Interrupt {
    engine: Engine,
    fired: Arc<AtomicBool>,
}

impl Interrupt {
    /// Ends the parse that was given this interrupt, or is given it later.
    pub fn fire(&self) {
        self.fired.store(true, Ordering::SeqCst);
        // Running code looks at the flag when it sees a new epoch.
        self.engine.increment_epoch();
    }

    /// Reports whether [`Interrupt::fire`] was called.
    #[must_use]
    pub fn is_fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }
}

/// The mistake in a text.
pub(crate) struct Wrong {
    /// Bytes before it.
    pub(crate) at: usize,
    /// PostgreSQL's own message.
    pub(crate) message: String,
}

impl Grammar {
    /// Makes an interrupt for a parse.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        Interrupt { engine: self.parser.module().engine().clone(), fired: Arc::default() }
    }

    /// Passes the statements of a text to `read`, as PostgreSQL's raw parse trees. Each is an object with one field,
    /// the name of its node type. Fields that are zero, false or empty are left out, as in libpg_query. Blanks and
    /// comments have no statement.
    ///
    /// It computes for 50 µs or more and needs 2 MiB of stack, so call it on a thread that may block.
    ///
    /// # Errors
    ///
    /// The text is not PostgreSQL, exceeds a limit, or the interrupt has fired.
    pub fn parse<R>(
        &self,
        sql: &str,
        bounds: Bounds,
        interrupt: &Interrupt,
        read: impl FnOnce(&[&Tree<'_>]) -> R,
    ) -> std::result::Result<R, ParseError> {
        match self.json(sql, bounds.heap, interrupt, |json| statements(json, bounds.tree, read)) {
            Some(Ok(read)) => read,
            Some(Err(wrong)) => Err(ParseError::Syntax(wrong.message)),
            None if interrupt.is_fired() => Err(ParseError::Interrupted),
            None => Err(ParseError::Failed),
        }
    }

    /// Passes the trees as JSON to `read`. None when the parser exceeded a limit, failed, or was interrupted.
    pub(crate) fn json<R>(
        &self,
        sql: &str,
        heap: usize,
        interrupt: &Interrupt,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Option<std::result::Result<R, Wrong>> {
        let done = self.run(sql, heap, interrupt, read);
        done.inspect_err(|error| tracing::debug!("the SQL parser failed: {error:#}")).ok()
    }

    fn run<R>(
        &self,
        sql: &str,
        heap: usize,
        interrupt: &Interrupt,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<std::result::Result<R, Wrong>> {
        let mut store = Store::new(self.parser.module().engine(), Host::new(heap));
        store.limiter(|host| &mut host.limits);
        store.set_epoch_deadline(1);
        let fired = interrupt.clone();
        store.epoch_deadline_callback(move |_| {
            if fired.is_fired() {
                bail!("interrupted");
            }
            Ok(UpdateDeadline::Continue(1))
        });
        // An interrupt from here on is seen by the callback.
        if interrupt.is_fired() {
            bail!("interrupted");
        }
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
            (Some(tree), Some(0)) if tree != 0 => Ok(Ok(read(text_at(memory, tree)?))),
            // struct PgQueryError { char *message; char *funcname; char *filename; int lineno; int cursorpos; … }
            (_, Some(error)) if error != 0 => {
                let message = word(memory, error, 0).map_or(Ok(&b""[..]), |message| text_at(memory, message))?;
                // It counts characters from 1; 0 is no place.
                let characters = word(memory, error, 16).unwrap_or_default().saturating_sub(1) as usize;
                let at = sql.char_indices().nth(characters).map_or(sql.len(), |(at, _)| at);
                Ok(Err(Wrong { at, message: shortened(message) }))
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

/// The message as a text, cut off after [`MAX_MESSAGE`] bytes.
fn shortened(message: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(&message[..message.len().min(MAX_MESSAGE)]).into_owned();
    if message.len() > MAX_MESSAGE {
        text.push('…');
    }
    text
}

fn statements<R>(json: &[u8], room: usize, read: impl FnOnce(&[&Tree<'_>]) -> R) -> std::result::Result<R, ParseError> {
    let whole = tree::read(json, room).map_err(|why| {
        if why == Unread::Odd {
            tracing::debug!("the SQL parser's JSON is not understood");
        }
        ParseError::Failed
    })?;
    let Tree::List(statements) = &whole["stmts"] else { return Err(ParseError::Failed) };
    let statements: Option<Vec<&Tree<'_>>> = statements.iter().map(|statement| statement.get("stmt")).collect();
    statements.map(|statements| read(&statements)).ok_or(ParseError::Failed)
}
