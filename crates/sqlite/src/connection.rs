//! A connection to one file, in an instance of its own.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hashlink::LruCache;
use wasmtime::{Memory, Store, Trap, TypedFunc, UpdateDeadline, WasmParams, WasmResults};

use crate::action::Rules;
use crate::budget::{Budget, Growth};
use crate::codes;
use crate::error::{Ended, Error};
use crate::files::Files;
use crate::host::{self, Host};
use crate::library::Library;
use crate::limits::LIMITS;
use crate::ticker::Ticker;
use crate::value::{FromValue, ValueRef};
use crate::watch::Watch;

/// Number of compiled statements that a connection keeps, and the longest text of one in bytes.
const KEPT: usize = 128;
const KEPT_TEXT: usize = 16 * 1024;

/// Bytes of a cell of a row (`connection.c`), and the number of cells.
const CELL: usize = 16;
const CELLS: usize = 2000;

/// Limit in bytes of the names and declared types of a result's columns.
const MAX_NAMES: usize = 1_000_000;

/// The number of `SQLITE_LIMIT_LENGTH`.
const LENGTH: i32 = 0;

/// What a connection opens, and its bounds.
pub struct Options {
    /// The file; none for a database in memory, which ends with its connection.
    pub path: Option<PathBuf>,
    /// Time that a statement waits for the locks of others.
    pub wait: Duration,
    /// Limit in bytes of a value and of a row.
    pub max_value_bytes: usize,
    /// What all connections hold together.
    pub budget: Budget,
    /// Which actions are allowed.
    pub rules: Box<dyn Rules>,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A compiled statement of one connection. It is valid until [`Connection::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    pointer: u32,
    kept: bool,
}

impl Prepared {
    /// A statement that is not kept.
    pub(crate) fn once(pointer: u32) -> Self {
        Self { pointer, kept: false }
    }
}

/// Whose statement it is.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Caller,
    Host,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The declared type of the table's column that it is.
    pub declared: Option<String>,
}

/// A connection. Dropping it ends the instance: the files are closed, and an open transaction is rolled back.
pub struct Connection {
    store: Store<Host>,
    functions: Functions,
    memory: Memory,
    ticker: Ticker,
    database: u32,
    cells: u32,
    /// The statements of callers, and those of the host, which other rules have allowed.
    kept: [LruCache<String, u32>; 2],
    ended: Option<Ended>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// Declares the exports that the host calls.
macro_rules! functions {
    ($($name:ident: $export:literal, $arguments:ty, $results:ty;)+) => {
        struct Functions { $($name: TypedFunc<$arguments, $results>),+ }

        impl Functions {
            fn of(instance: &wasmtime::Instance, store: &mut Store<Host>) -> wasmtime::Result<Self> {
                Ok(Self { $($name: instance.get_typed_func(&mut *store, $export)?),+ })
            }
        }
    };
}

functions! {
    allocate: "malloc", u32, u32;
    free: "free", u32, ();
    open: "open", (i32, i32), u32;
    limit: "sqlite3_limit", (u32, i32, i32), i32;
    prepare: "prepare", (u32, u32, i32, u32), u32;
    finalize: "sqlite3_finalize", u32, i32;
    reset: "sqlite3_reset", u32, i32;
    clear: "sqlite3_clear_bindings", u32, i32;
    step: "step", (u32, u32, i32), i32;
    renew: "renew", u32, i32;
    opened: "opened", u32, ();
    shadows: "shadows", (u32, u32), i32;
    complete: "sqlite3_complete", u32, i32;
    renewals: "sqlite3_stmt_status", (u32, i32, i32), i32;
    is_read_only: "sqlite3_stmt_readonly", u32, i32;
    bind_null: "sqlite3_bind_null", (u32, i32), i32;
    bind_integer: "sqlite3_bind_int64", (u32, i32, i64), i32;
    bind_real: "sqlite3_bind_double", (u32, i32, f64), i32;
    bind_bytes: "bind_bytes", (u32, i32, u32, i32, i32), i32;
    parameters: "sqlite3_bind_parameter_count", u32, i32;
    parameter: "sqlite3_bind_parameter_name", (u32, i32), u32;
    columns: "sqlite3_column_count", u32, i32;
    column: "sqlite3_column_name", (u32, i32), u32;
    declared: "sqlite3_column_decltype", (u32, i32), u32;
    message: "sqlite3_errmsg", u32, u32;
    code: "sqlite3_extended_errcode", u32, i32;
    autocommit: "sqlite3_get_autocommit", u32, i32;
    changes: "sqlite3_changes64", u32, i64;
    total_changes: "sqlite3_total_changes64", u32, i64;
}

impl Connection {
    /// Makes an instance, and opens the file, which is made when it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] when there is no memory for an instance, and SQLite's errors of the file.
    pub fn open(library: &Library, options: Options) -> Result<Self, Error> {
        let Options { path, wait, max_value_bytes, budget, rules } = options;
        let in_memory = path.is_none();
        let files = Files::new(path.as_deref(), budget.clone()).map_err(|error| Error::Start(error.into()))?;
        let host = Host {
            files,
            growth: Growth::new(budget),
            memory: None,
            watch: Watch::default(),
            rules,
            opened: Vec::new(),
        };
        let mut store = Store::new(library.connection.module().engine(), host);
        store.limiter(|host| &mut host.growth);
        store.epoch_deadline_callback(|mut context| {
            if context.data_mut().watch.must_end() {
                Err(Trap::Interrupt.into())
            } else {
                Ok(UpdateDeadline::Continue(1))
            }
        });
        store.set_epoch_deadline(1);
        let instance = library.connection.instantiate(&mut store).map_err(Error::Start)?;
        let functions = Functions::of(&instance, &mut store).map_err(Error::Start)?;
        let no_memory = || Error::Start(wasmtime::Error::msg("the instance has no memory"));
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(no_memory)?;
        store.data_mut().memory = Some(memory);
        let initialize = instance.get_typed_func::<(), ()>(&mut store, "_initialize").map_err(Error::Start)?;
        initialize.call(&mut store, ()).map_err(Error::Start)?;
        let mut connection = Self {
            store,
            functions,
            memory,
            ticker: library.ticker.clone(),
            database: 0,
            cells: 0,
            kept: [LruCache::new(KEPT), LruCache::new(KEPT)],
            ended: None,
        };
        connection.cells = connection.call(|functions| &functions.allocate, (CELL * CELLS) as u32)?;
        let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        connection.database = connection.call(|functions| &functions.open, (in_memory.into(), wait))?;
        if connection.cells == 0 || connection.database == 0 {
            return Err(no_memory());
        }
        connection.check_code()?;
        let length = i32::try_from(max_value_bytes).unwrap_or(i32::MAX);
        for (limit, value) in LIMITS.map(|(limit, _, value)| (limit, value)).into_iter().chain([(LENGTH, length)]) {
            let database = connection.database;
            connection.call(|functions| &functions.limit, (database, limit, value))?;
        }
        Ok(connection)
    }

    /// Sets the time at which statements end, and the flag that ends them when their client has left.
    pub fn watch(&mut self, deadline: Option<Instant>, left: Option<Arc<AtomicBool>>) {
        self.store.data_mut().watch = Watch::new(deadline, left);
    }

    /// Reports whether that time has come, or the client has left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.store.data().watch.is_over()
    }

    /// Reports why the instance has ended; none while it can be used.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Bytes of the instance's memory, which never shrinks.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.store.data().growth.held()
    }

    /// Compiles a statement, or finds one that was compiled before.
    ///
    /// # Errors
    ///
    /// The text has no statement or several, and SQLite's errors.
    pub fn prepare(&mut self, sql: &str) -> Result<Prepared, Error> {
        self.prepare_for(Owner::Caller, sql)
    }

    pub(crate) fn prepare_for(&mut self, owner: Owner, sql: &str) -> Result<Prepared, Error> {
        if let Some(pointer) = self.kept[owner as usize].get(sql) {
            return Ok(Prepared { pointer: *pointer, kept: true });
        }
        if sql.contains('\0') {
            return Err(Error::Zero);
        }
        let (pointer, rest) = self.compile(sql)?;
        if pointer == 0 {
            return Err(Error::Nothing);
        }
        let prepared = Prepared { pointer, kept: sql.len() <= KEPT_TEXT };
        if rest > 0 {
            // Blanks and comments may follow.
            let next = self.compile(&sql[sql.len() - rest..]);
            if !matches!(next, Ok((0, _))) {
                self.finalize(pointer)?;
                self.finalize(next?.0)?;
                return Err(Error::Several);
            }
        }
        if prepared.kept {
            if self.kept[owner as usize].len() == KEPT
                && let Some((_, oldest)) = self.kept[owner as usize].remove_lru()
            {
                self.finalize(oldest)?;
            }
            self.kept[owner as usize].insert(sql.to_owned(), pointer);
        }
        Ok(prepared)
    }

    /// Returns a statement, 0 for none, and the number of bytes after it.
    pub(crate) fn compile(&mut self, sql: &str) -> Result<(u32, usize), Error> {
        let text = self.copy(sql.as_bytes(), 4)?;
        let length = i32::try_from(sql.len()).unwrap_or(i32::MAX);
        let rest = text + length.unsigned_abs().next_multiple_of(4);
        let database = self.database;
        let pointer = self.call(|functions| &functions.prepare, (database, text, length, rest))?;
        let left = self.word(rest).ok_or_else(|| self.fault())?;
        let code = if pointer == 0 { self.check_code() } else { Ok(()) };
        self.call(|functions| &functions.free, text)?;
        code.map(|()| (pointer, left as usize))
    }

    pub(crate) fn finalize(&mut self, pointer: u32) -> Result<(), Error> {
        self.call(|functions| &functions.finalize, pointer).map(drop)
    }

    /// Reports whether a statement changes nothing.
    ///
    /// # Errors
    ///
    /// The instance has ended, here and below.
    pub fn is_read_only(&mut self, prepared: Prepared) -> Result<bool, Error> {
        Ok(self.call(|functions| &functions.is_read_only, prepared.pointer)? != 0)
    }

    /// The names of a statement's parameters, as they are written; none for `?`.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn parameters(&mut self, prepared: Prepared) -> Result<Vec<Option<String>>, Error> {
        let count = self.call(|functions| &functions.parameters, prepared.pointer)?;
        let mut names = Vec::new();
        for index in 1..=count {
            let name = self.call(|functions| &functions.parameter, (prepared.pointer, index))?;
            names.push(self.text(name));
        }
        Ok(names)
    }

    /// The columns of a statement's result. They may change with its first step, which compiles it again when its tables have
    /// changed.
    ///
    /// # Errors
    ///
    /// The names are too long, and as above.
    pub fn columns(&mut self, prepared: Prepared) -> Result<Vec<Column>, Error> {
        let count = self.call(|functions| &functions.columns, prepared.pointer)?;
        let mut columns = Vec::new();
        let mut bytes = 0;
        for index in 0..count {
            let name = self.call(|functions| &functions.column, (prepared.pointer, index))?;
            let name = self.text(name).unwrap_or_default();
            let declared = self.call(|functions| &functions.declared, (prepared.pointer, index))?;
            let declared = self.text(declared);
            // A statement may repeat a long name in each of its columns.
            bytes += name.len() + declared.as_ref().map_or(0, String::len);
            if bytes > MAX_NAMES {
                let message = format!("the names of the columns have more than {MAX_NAMES} bytes");
                return Err(Error::Sqlite { code: codes::TOOBIG, message });
            }
            columns.push(Column { name, declared });
        }
        Ok(columns)
    }

    /// Binds a parameter; the first one is 1.
    ///
    /// # Errors
    ///
    /// The value is too large, and as above.
    pub fn bind<'v>(&mut self, prepared: Prepared, index: usize, value: impl Into<ValueRef<'v>>) -> Result<(), Error> {
        let at = i32::try_from(index).unwrap_or(i32::MAX);
        let statement = prepared.pointer;
        let code = match value.into() {
            ValueRef::Null => self.call(|functions| &functions.bind_null, (statement, at)),
            ValueRef::Integer(number) => self.call(|functions| &functions.bind_integer, (statement, at, number)),
            ValueRef::Real(number) => self.call(|functions| &functions.bind_real, (statement, at, number)),
            ValueRef::Text(text) => self.bind_bytes(statement, at, text, true),
            ValueRef::Blob(bytes) => self.bind_bytes(statement, at, bytes, false),
        }?;
        if code == codes::OK { Ok(()) } else { Err(self.error()) }
    }

    fn bind_bytes(&mut self, statement: u32, at: i32, bytes: &[u8], is_text: bool) -> Result<i32, Error> {
        let place = self.copy(bytes, 0)?;
        let count = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        self.call(|functions| &functions.bind_bytes, (statement, at, place, count, is_text.into()))
    }

    /// The tables that a statement opens when it runs, with their schemas: also those behind views, triggers and foreign
    /// keys. A table that cannot be named has an empty name. Its parameters must be bound, because it may be compiled again.
    ///
    /// # Errors
    ///
    /// SQLite's errors, and as above.
    pub fn opened(&mut self, prepared: Prepared) -> Result<Vec<(String, String)>, Error> {
        if self.call(|functions| &functions.renew, prepared.pointer)? != codes::OK {
            return Err(self.error());
        }
        self.store.data_mut().opened.clear();
        self.call(|functions| &functions.opened, prepared.pointer)?;
        Ok(std::mem::take(&mut self.store.data_mut().opened))
    }

    /// Counts how often SQLite has compiled a statement again.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn renewals(&mut self, prepared: Prepared) -> Result<i32, Error> {
        self.call(|functions| &functions.renewals, (prepared.pointer, codes::STMTSTATUS_REPREPARE, 0))
    }

    /// The virtual table whose data a table keeps, such as `docs` for `docs_content`.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn shadowed<'a>(&mut self, table: &'a str) -> Result<Option<&'a str>, Error> {
        let name = self.copy(table.as_bytes(), 1)?;
        let database = self.database;
        let end = self.call(|functions| &functions.shadows, (database, name))?;
        self.call(|functions| &functions.free, name)?;
        Ok(usize::try_from(end).ok().filter(|end| *end > 0).and_then(|end| table.get(..end)))
    }

    /// Reports whether a text ends with a complete statement (`sqlite3_complete`).
    ///
    /// # Errors
    ///
    /// There is no memory for the text, and as above.
    pub fn is_complete(&mut self, sql: &str) -> Result<bool, Error> {
        let text = self.copy(sql.as_bytes(), 1)?;
        let complete = self.call(|functions| &functions.complete, text)?;
        self.call(|functions| &functions.free, text)?;
        Ok(complete != 0)
    }

    /// Makes a step, and returns whether it came to a row, which [`Connection::row`] reads.
    ///
    /// # Errors
    ///
    /// SQLite's errors, and as above.
    pub fn step(&mut self, prepared: Prepared) -> Result<bool, Error> {
        let cells = self.cells;
        match self.call(|functions| &functions.step, (prepared.pointer, cells, CELLS as i32))? {
            codes::DONE => Ok(false),
            codes::ROW => Ok(true),
            _ => Err(self.error()),
        }
    }

    /// The row of the last step, if that came to one.
    #[must_use]
    pub fn row(&self) -> Row<'_> {
        let cells = host::bytes(self.memory, &self.store, self.cells, CELL * CELLS).unwrap_or_default();
        Row { connection: self, cells }
    }

    /// Ends the run of a statement, and forgets its values.
    ///
    /// # Errors
    ///
    /// As above. The error of the last step is not repeated.
    pub fn finish(&mut self, prepared: Prepared) -> Result<(), Error> {
        if !prepared.kept {
            return self.finalize(prepared.pointer);
        }
        self.call(|functions| &functions.reset, prepared.pointer)?;
        self.call(|functions| &functions.clear, prepared.pointer).map(drop)
    }

    /// Forgets the compiled statements of callers, so that the rules decide about each of them anew.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn forget(&mut self) -> Result<(), Error> {
        while let Some((_, pointer)) = self.kept[Owner::Caller as usize].remove_lru() {
            self.finalize(pointer)?;
        }
        Ok(())
    }

    /// Reports whether no transaction is open.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn is_autocommit(&mut self) -> Result<bool, Error> {
        let database = self.database;
        Ok(self.call(|functions| &functions.autocommit, database)? != 0)
    }

    /// Counts the rows that the last INSERT, UPDATE or DELETE has changed.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn changes(&mut self) -> Result<u64, Error> {
        let database = self.database;
        Ok(self.call(|functions| &functions.changes, database)?.unsigned_abs())
    }

    /// Counts the rows that all statements have changed.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn total_changes(&mut self) -> Result<u64, Error> {
        let database = self.database;
        Ok(self.call(|functions| &functions.total_changes, database)?.unsigned_abs())
    }

    /// Copies bytes into memory of the instance, with `more` bytes of zero and at least four of padding.
    fn copy(&mut self, bytes: &[u8], more: usize) -> Result<u32, Error> {
        let size = bytes.len().next_multiple_of(4) + more.next_multiple_of(4) + 4;
        let size = u32::try_from(size).map_err(|_| no_memory())?;
        let place = self.call(|functions| &functions.allocate, size)?;
        if place == 0 {
            return Err(no_memory());
        }
        let into = host::bytes(self.memory, &self.store, place, size as usize).ok_or_else(|| self.fault())?;
        let (start, rest) = into.split_at_mut(bytes.len());
        start.copy_from_slice(bytes);
        rest.fill(0);
        Ok(place)
    }

    fn word(&self, at: u32) -> Option<u32> {
        let bytes: &[u8] = host::bytes(self.memory, &self.store, at, 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn text(&self, at: u32) -> Option<String> {
        host::text(self.memory, &self.store, at).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// The error of the last call of SQLite.
    fn error(&mut self) -> Error {
        match self.check_code() {
            Err(error) => error,
            Ok(()) => self.fault(),
        }
    }

    fn check_code(&mut self) -> Result<(), Error> {
        let database = self.database;
        let code = self.call(|functions| &functions.code, database)?;
        if code == codes::OK {
            return Ok(());
        }
        if code == codes::NOMEM && std::mem::take(&mut self.store.data_mut().growth.crowded) {
            return Err(Error::Crowded);
        }
        let message = self.call(|functions| &functions.message, database)?;
        Err(Error::Sqlite { code, message: self.text(message).unwrap_or_default() })
    }

    fn fault(&self) -> Error {
        Error::Ended(Ended::Fault)
    }

    /// Calls the instance. A trap ends it.
    fn call<A: WasmParams, R: WasmResults>(
        &mut self,
        function: impl FnOnce(&Functions) -> &TypedFunc<A, R>,
        arguments: A,
    ) -> Result<R, Error> {
        if let Some(ended) = self.ended {
            return Err(Error::Ended(ended));
        }
        let running = self.ticker.run();
        self.store.set_epoch_deadline(1);
        let called = function(&self.functions).call(&mut self.store, arguments);
        drop(running);
        called.map_err(|error| {
            let ended = match error.downcast_ref::<Trap>() {
                Some(Trap::Interrupt) => Ended::Time,
                // The second one is the end of the C stack, below which there is no memory.
                Some(Trap::StackOverflow | Trap::MemoryOutOfBounds) => Ended::Depth,
                _ => Ended::Fault,
            };
            tracing::warn!("SQLite: a connection has ended: {error:#}");
            self.ended = Some(ended);
            Error::Ended(ended)
        })
    }
}

/// A row of a result, valid until the next step.
pub struct Row<'a> {
    connection: &'a Connection,
    cells: &'a [u8],
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Row").finish_non_exhaustive()
    }
}

impl<'a> Row<'a> {
    /// A value, by the index of its column.
    ///
    /// # Errors
    ///
    /// There is no such column, or the instance's answer makes no sense.
    pub fn get(&self, index: usize) -> Result<ValueRef<'a>, Error> {
        self.cell(index).ok_or(Error::Ended(Ended::Fault))
    }

    /// A value of a known type, by the index of its column.
    ///
    /// # Errors
    ///
    /// [`Error::Type`] when the value has another type, and as above.
    pub fn read<T: FromValue>(&self, index: usize) -> Result<T, Error> {
        T::from_value(self.get(index)?).ok_or(Error::Type(index))
    }

    fn cell(&self, index: usize) -> Option<ValueRef<'a>> {
        // A cell: i32 type, i32 bytes, and an i64, an f64 or a pointer.
        let (kind, rest) = self.cells.get(index * CELL..(index + 1) * CELL)?.split_first_chunk::<4>()?;
        let (count, value) = rest.split_first_chunk::<4>()?;
        let value: [u8; 8] = value.try_into().ok()?;
        let bytes = || -> Option<&'a [u8]> {
            let count = usize::try_from(i32::from_le_bytes(*count)).ok()?;
            let at = u32::from_le_bytes(*value.first_chunk()?);
            if count == 0 {
                return Some(&[]);
            }
            host::bytes(self.connection.memory, &self.connection.store, at, count).map(|bytes| &*bytes)
        };
        Some(match i32::from_le_bytes(*kind) {
            codes::NULL => ValueRef::Null,
            codes::INTEGER => ValueRef::Integer(i64::from_le_bytes(value)),
            codes::FLOAT => ValueRef::Real(f64::from_le_bytes(value)),
            codes::TEXT => ValueRef::Text(bytes()?),
            codes::BLOB => ValueRef::Blob(bytes()?),
            _ => return None,
        })
    }
}

pub(crate) fn no_memory() -> Error {
    Error::Sqlite { code: codes::NOMEM, message: "out of memory".to_owned() }
}
