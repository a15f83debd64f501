//! Knowledge of the engine `StarlingMonkey` as componentize-js builds it: its allocator and garbage collector, its host
//! calls, its exports, and its work on the first call. `docs/engine.md` lists the gain of each file, and the changes
//! that break it.
//!
//! Each file looks for its target in the engine, and leaves an engine without it unchanged.

pub(crate) mod arguments;
pub(crate) mod clock;
pub(crate) mod entropy;
pub(crate) mod garbage;
pub(crate) mod hollow;
pub(crate) mod linked;
pub(crate) mod log;
pub(crate) mod moment;
pub(crate) mod packed;
pub(crate) mod poll;
pub(crate) mod rehearsal;
pub(crate) mod weval;
