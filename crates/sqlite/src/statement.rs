//! Statements of a connection: compiling, binding, running, and what they open.

use crate::codes;
use crate::connection::Connection;
use crate::error::Error;
use crate::host;
use crate::row::{CELL, CELLS, Row};
use crate::value::ValueRef;

/// Number of compiled statements that a connection keeps, and the longest text of one in bytes.
pub(crate) const KEPT: usize = 128;
const KEPT_TEXT: usize = 16 * 1024;

/// Limit in bytes of the names and declared types of a result's columns.
const MAX_NAMES: usize = 1_000_000;

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

impl Connection {
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
    /// The instance has ended.
    pub fn is_read_only(&mut self, prepared: Prepared) -> Result<bool, Error> {
        Ok(self.call(|functions| &functions.is_read_only, prepared.pointer)? != 0)
    }

    /// The names of a statement's parameters, as they are written; none for `?`.
    ///
    /// # Errors
    ///
    /// The instance has ended.
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
    /// The names are too long, or the instance has ended.
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
    /// The value is too large, or the instance has ended.
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
        let address = self.copy(bytes, 0)?;
        let count = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        self.call(|functions| &functions.bind_bytes, (statement, at, address, count, is_text.into()))
    }

    /// The tables that a statement opens when it runs, with their schemas: also those behind views, triggers and foreign
    /// keys. A table that cannot be named has an empty name. Its parameters must be bound, because it may be compiled again.
    ///
    /// # Errors
    ///
    /// SQLite's errors; the instance has ended.
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
    /// The instance has ended.
    pub fn renewals(&mut self, prepared: Prepared) -> Result<i32, Error> {
        self.call(|functions| &functions.renewals, (prepared.pointer, codes::STMTSTATUS_REPREPARE, 0))
    }

    /// The virtual table whose data a table keeps, such as `docs` for `docs_content`.
    ///
    /// # Errors
    ///
    /// The instance has ended.
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
    /// There is no memory for the text, or the instance has ended.
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
    /// SQLite's errors; the instance has ended.
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
    /// The instance has ended. The error of the last step is not repeated.
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
    /// The instance has ended.
    pub fn forget(&mut self) -> Result<(), Error> {
        while let Some((_, pointer)) = self.kept[Owner::Caller as usize].remove_lru() {
            self.finalize(pointer)?;
        }
        Ok(())
    }
}
