//! The body of a request: read whole before the module is called (`whole`), or while it arrives (`arriving`, `reading`).
//! `reserved` ties bytes to the memory that is reserved for them.

pub(crate) mod arriving;
pub(crate) mod reading;
pub(crate) mod reserved;
pub(crate) mod whole;
