//! The host's own statements. They are kept by their text, apart from those of callers.

use crate::connection::{Connection, no_memory};
use crate::error::Error;
use crate::row::Row;
use crate::statement::{Owner, Prepared};
use crate::value::{Value, ValueRef};

/// Limit in bytes of the rows of a statement of the host.
const MAX_ROWS: usize = 32 << 20;

impl Connection {
    /// Runs a statement, and returns its rows.
    ///
    /// # Errors
    ///
    /// The rows need too much memory; SQLite's errors; the instance has ended.
    pub fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Error> {
        self.with(sql, |connection, prepared| {
            connection.bind_all(prepared, values)?;
            let columns = connection.columns(prepared)?.len();
            let (mut rows, mut bytes) = (Vec::new(), 0);
            while connection.step(prepared)? {
                let row = connection.row();
                let values = (0..columns).map(|index| row.get(index).map(ValueRef::to_value));
                let row: Vec<Value> = values.collect::<Result<_, _>>()?;
                bytes += row.iter().map(Value::size).sum::<usize>();
                if bytes > MAX_ROWS {
                    return Err(no_memory());
                }
                rows.push(row);
            }
            Ok(rows)
        })
    }

    /// Runs a statement, and reads each of its rows.
    ///
    /// # Errors
    ///
    /// Those of `read` and of SQLite.
    pub fn all<T>(
        &mut self,
        sql: &str,
        values: &[ValueRef<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.with(sql, |connection, prepared| {
            connection.bind_all(prepared, values.iter().copied())?;
            let mut rows = Vec::new();
            while connection.step(prepared)? {
                rows.push(read(&connection.row())?);
            }
            Ok(rows)
        })
    }

    /// Runs a statement, and reads its first row; none when it has no row.
    ///
    /// # Errors
    ///
    /// Those of SQLite.
    pub fn find<T>(
        &mut self,
        sql: &str,
        values: &[ValueRef<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        // The last step is needed, because it ends the transaction of a statement that changes something.
        Ok(self.all(sql, values, read)?.into_iter().next())
    }

    /// Runs a statement that always has a row, and reads the first one.
    ///
    /// # Errors
    ///
    /// [`Error::NoRow`], and those of SQLite.
    pub fn one<T>(
        &mut self,
        sql: &str,
        values: &[ValueRef<'_>],
        read: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.find(sql, values, read)?.ok_or(Error::NoRow)
    }

    /// Runs an INSERT, UPDATE or DELETE, and counts the changed rows.
    ///
    /// # Errors
    ///
    /// Those of SQLite.
    pub fn execute(&mut self, sql: &str, values: &[ValueRef<'_>]) -> Result<u64, Error> {
        self.all(sql, values, |_| Ok(()))?;
        self.changes()
    }

    /// Runs the statements of a text without values, one after the other.
    ///
    /// # Errors
    ///
    /// Those of SQLite. The statements before the failed one have run.
    pub fn run_script(&mut self, sql: &str) -> Result<(), Error> {
        let mut rest = sql;
        while !rest.is_empty() {
            let (pointer, left) = self.compile(rest)?;
            if pointer != 0 {
                let done = self.run(Prepared::once(pointer));
                if self.ended().is_none() {
                    self.finalize(pointer)?;
                }
                done?;
            }
            rest = &rest[rest.len() - left..];
        }
        Ok(())
    }

    /// Runs `work` in a transaction that reads one state of the file.
    ///
    /// # Errors
    ///
    /// Those of `work`, after which the transaction is rolled back, and of SQLite.
    pub fn reading<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.transaction("BEGIN", work)
    }

    /// Runs `work` in a transaction that has the lock of writers from its beginning.
    ///
    /// # Errors
    ///
    /// Those of `work`, after which the transaction is rolled back, and of SQLite.
    pub fn writing<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.transaction("BEGIN IMMEDIATE", work)
    }

    fn transaction<T>(&mut self, begin: &str, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.all(begin, &[], |_| Ok(()))?;
        let done = work(self).and_then(|done| self.all("COMMIT", &[], |_| Ok(())).map(|_| done));
        // After some failures SQLite has ended it already.
        if done.is_err()
            && matches!(self.is_autocommit(), Ok(false))
            && let Err(error) = self.all("ROLLBACK", &[], |_| Ok(()))
        {
            tracing::error!("SQLite: a transaction could not be rolled back: {error}");
        }
        done
    }

    /// Runs `work` with a compiled statement, and ends its run.
    fn with<T>(&mut self, sql: &str, work: impl FnOnce(&mut Self, Prepared) -> Result<T, Error>) -> Result<T, Error> {
        let prepared = self.prepare_for(Owner::Host, sql)?;
        let done = work(self, prepared);
        match self.ended() {
            None => self.finish(prepared).and(done),
            Some(_) => done,
        }
    }

    fn run(&mut self, prepared: Prepared) -> Result<(), Error> {
        while self.step(prepared)? {}
        Ok(())
    }

    fn bind_all<'v>(
        &mut self,
        prepared: Prepared,
        values: impl IntoIterator<Item = impl Into<ValueRef<'v>>>,
    ) -> Result<(), Error> {
        values.into_iter().enumerate().try_for_each(|(index, value)| self.bind(prepared, index + 1, value))
    }
}
