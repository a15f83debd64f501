//! Tapes: recordings of requests, one file each.
//!
//! A guest is deterministic: it computes the same from the same memory and the same values of the host. A [`Tape`] has the digest
//! of the component, every call into the guest, every value that the host gave it, in their order, and the results of the guest.
//! `tenon-runtime` records and replays; this crate owns the file.
//!
//! - [`event`]: the events of a request.
//! - [`wire`]: how values are written, and the strict reader.
//! - [`encoder`]: events as bytes, while a request runs.
//! - [`file`]: the whole file.
//! - [`folder`]: the folder of files, with its bounds.
//!
//! The format is described in docs/replay.md. A reader accepts bytes of strangers: each length is checked before it is used, and
//! nothing is allocated beyond the size of the file.

mod dictionary;
pub mod encoder;
pub mod event;
mod file;
mod folder;
mod wire;

pub use encoder::Encoder;
pub use event::{
    BEGIN, BROKEN, CANCEL, Call, END, Event, Failure, Field, NEXT, PIECE, Piece, Reason, Request, Response, Variable,
};
pub use file::{Kept, MAX_BYTES, Meta, Tape, VERSION};
pub use folder::{EXTENSION, Listed, TapeFolder, Written};
pub use wire::TapeError;

#[cfg(test)]
mod tests;
