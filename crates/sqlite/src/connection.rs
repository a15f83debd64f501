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
use crate::row::{CELL, CELLS};
use crate::statement::KEPT;
use crate::ticker::Ticker;
use crate::watch::Watch;

/// The number of `SQLITE_LIMIT_LENGTH`.
const LENGTH: i32 = 0;

/// The file of a connection, and its bounds.
pub struct Options {
    /// The file; none for a database in memory, which ends with its connection.
    pub path: Option<PathBuf>,
    /// Time that a statement waits for the locks of others.
    pub wait: Duration,
    /// Limit in bytes of a value and of a row.
    pub max_value_bytes: usize,
    /// The bytes that all connections hold together.
    pub budget: Budget,
    /// Which actions are allowed.
    pub rules: Box<dyn Rules>,
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Options").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A connection. Dropping it ends the instance: the files are closed, and an open transaction is rolled back.
pub struct Connection {
    pub(crate) store: Store<Host>,
    pub(crate) functions: Functions,
    pub(crate) memory: Memory,
    pub(crate) ticker: Ticker,
    pub(crate) database: u32,
    pub(crate) cells: u32,
    /// The statements of callers, and those of the host, which other rules have allowed.
    pub(crate) kept: [LruCache<String, u32>; 2],
    pub(crate) ended: Option<Ended>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connection").field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// Declares the exports that the host calls.
macro_rules! functions {
    ($($name:ident: $export:literal, $arguments:ty, $results:ty;)+) => {
        pub(crate) struct Functions { $(pub(crate) $name: TypedFunc<$arguments, $results>),+ }

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

    /// Reports whether no transaction is open.
    ///
    /// # Errors
    ///
    /// The instance has ended.
    pub fn is_autocommit(&mut self) -> Result<bool, Error> {
        let database = self.database;
        Ok(self.call(|functions| &functions.autocommit, database)? != 0)
    }

    /// Counts the rows that the last INSERT, UPDATE or DELETE has changed.
    ///
    /// # Errors
    ///
    /// The instance has ended.
    pub fn changes(&mut self) -> Result<u64, Error> {
        let database = self.database;
        Ok(self.call(|functions| &functions.changes, database)?.unsigned_abs())
    }

    /// Counts the rows that all statements have changed.
    ///
    /// # Errors
    ///
    /// The instance has ended.
    pub fn total_changes(&mut self) -> Result<u64, Error> {
        let database = self.database;
        Ok(self.call(|functions| &functions.total_changes, database)?.unsigned_abs())
    }

    /// Copies bytes into memory of the instance, with `more` bytes of zero and at least four of padding.
    pub(crate) fn copy(&mut self, bytes: &[u8], more: usize) -> Result<u32, Error> {
        let size = bytes.len().next_multiple_of(4) + more.next_multiple_of(4) + 4;
        let size = u32::try_from(size).map_err(|_| no_memory())?;
        let address = self.call(|functions| &functions.allocate, size)?;
        if address == 0 {
            return Err(self.refused_memory());
        }
        let into = host::bytes(self.memory, &self.store, address, size as usize).ok_or_else(|| self.fault())?;
        let (start, rest) = into.split_at_mut(bytes.len());
        start.copy_from_slice(bytes);
        rest.fill(0);
        Ok(address)
    }

    pub(crate) fn word(&self, at: u32) -> Option<u32> {
        let bytes: &[u8] = host::bytes(self.memory, &self.store, at, 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    pub(crate) fn text(&self, at: u32) -> Option<String> {
        host::text(self.memory, &self.store, at).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// The error of the last call of SQLite.
    pub(crate) fn error(&mut self) -> Error {
        match self.check_code() {
            Err(error) => error,
            Ok(()) => self.fault(),
        }
    }

    pub(crate) fn check_code(&mut self) -> Result<(), Error> {
        let database = self.database;
        let code = self.call(|functions| &functions.code, database)?;
        if code == codes::OK {
            return Ok(());
        }
        if code == codes::NOMEM {
            return Err(self.refused_memory());
        }
        let message = self.call(|functions| &functions.message, database)?;
        Err(Error::Sqlite { code, message: self.text(message).unwrap_or_default() })
    }

    /// The error of memory that was refused: to this connection, or because others hold it.
    fn refused_memory(&mut self) -> Error {
        if std::mem::take(&mut self.store.data_mut().growth.crowded) { Error::Crowded } else { no_memory() }
    }

    pub(crate) fn fault(&self) -> Error {
        Error::Ended(Ended::Fault)
    }

    /// Calls the instance. A trap ends it.
    pub(crate) fn call<A: WasmParams, R: WasmResults>(
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

pub(crate) fn no_memory() -> Error {
    Error::Sqlite { code: codes::NOMEM, message: "out of memory".to_owned() }
}
