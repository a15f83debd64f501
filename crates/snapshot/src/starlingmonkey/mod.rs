//! All that knows the engine `StarlingMonkey`, as componentize-js builds it: its allocator and garbage collector, its calls of the
//! host, its exports, and what it does once. `docs/engine.md` lists what each file gains, and what breaks it.
//!
//! Each looks for what it needs in the engine that it is given, and leaves an engine that has it not as it is.

pub(crate) mod arguments;
pub(crate) mod clock;
pub(crate) mod entropy;
pub(crate) mod garbage;
pub(crate) mod hollow;
pub(crate) mod log;
pub(crate) mod moment;
pub(crate) mod poll;
pub(crate) mod rehearsal;
pub(crate) mod taken;
pub(crate) mod weval;
