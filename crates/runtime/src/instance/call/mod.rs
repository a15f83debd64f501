//! Calling a module: one file for each interface that it may export. Each returns a response, or a [`Failure`] with the
//! outcome of the call. `pieces` continues a streamed response of `direct`.

pub(crate) mod direct;
pub(crate) mod direct_entry;
mod entry_point;
pub(crate) mod failure;
pub(crate) mod guest_body;
pub(crate) mod guest_time;
mod instance;
pub(crate) mod pieces;
pub(crate) mod service;
pub(crate) mod wasi_http;

pub(crate) use entry_point::EntryPoint;
pub(crate) use failure::{Failure, trap_text};
pub(crate) use instance::{Blueprint, Instance, SlotPermit};
