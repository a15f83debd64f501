//! The block of arguments of a call.
//!
//! The caller writes all inputs into a block, one after the other, and passes its address, its size, and the lengths of the
//! inputs. Outputs are written to the same block, where the function's documentation says. The caller overwrites the block
//! with zeros after the call, because it holds keys. A negative result is [`FAILED`] or [`INVALID`].

use core::slice;

/// The data are not authentic, or the computation has no result.
pub const FAILED: i32 = -1;
/// A key or another argument is not valid.
pub const INVALID: i32 = -2;

/// Calls a function that is generic over a hash function with the one of a number, which is the one in its name: 1, 256,
/// 384 or 512.
macro_rules! with_hash {
    ($hash:expr, $function:ident($($argument:expr),*)) => {
        match $hash {
            1 => $function::<sha1::Sha1>($($argument),*),
            256 => $function::<sha2::Sha256>($($argument),*),
            384 => $function::<sha2::Sha384>($($argument),*),
            512 => $function::<sha2::Sha512>($($argument),*),
            _ => $crate::arguments::INVALID,
        }
    };
}
pub(crate) use with_hash;

/// Splits a block into its arguments.
pub struct Arguments<'a> {
    left: &'a mut [u8],
}

impl<'a> Arguments<'a> {
    /// Begins at the start of a block.
    ///
    /// # Safety
    /// The block has as many bytes, and nothing else uses them meanwhile.
    pub unsafe fn of(block: *mut u8, size: usize) -> Self {
        // SAFETY: the caller gives a block of `size` bytes, which nothing else uses meanwhile.
        Arguments { left: if size == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(block, size) } } }
    }

    /// Returns the next bytes.
    ///
    /// # Panics
    /// Panics when the block is too short, which only a fault of the caller can cause.
    pub fn take(&mut self, length: usize) -> &'a mut [u8] {
        let (taken, left) = core::mem::take(&mut self.left).split_at_mut(length);
        self.left = left;
        taken
    }
}

/// Encodes a length, or a count of bytes, as a result.
pub fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(FAILED)
}
