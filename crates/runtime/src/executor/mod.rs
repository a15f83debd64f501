//! Where guests run: on the caller's thread (`inline_poll`), among the server's tasks, or on the threads for guests (`compute`).
//!
//! `crowding` finds the modules whose calls would fill the server's own threads.

pub(crate) mod compute;
mod crowding;
pub(crate) mod inline_poll;
pub(crate) mod stopwatch;
pub(crate) mod thread;
