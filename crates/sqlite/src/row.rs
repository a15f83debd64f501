//! A row of a result.

use std::fmt;

use crate::codes;
use crate::connection::Connection;
use crate::error::{Ended, Error};
use crate::host;
use crate::value::{FromValue, ValueRef};

/// Bytes of a cell of a row (`connection.c`), and the number of cells.
pub(crate) const CELL: usize = 16;
pub(crate) const CELLS: usize = 2000;

/// A row of a result, valid until the next step.
pub struct Row<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) cells: &'a [u8],
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
    /// Those of [`Row::get`], and [`Error::Type`] when the value has another type.
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
