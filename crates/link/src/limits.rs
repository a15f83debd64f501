//! Limits of the modules of a handler.

/// The most bytes of one module. The engine is the largest module of a component, by some megabytes.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The most modules of a handler.
pub const MAX_MODULES: usize = 8;

/// The most memories of all modules of a handler. The runtime allows as many besides the engine's
/// (`crates/runtime/src/instance/bounds.rs`).
pub const MAX_MEMORIES: usize = 8;

/// The most bytes of a component function's signature, as JSON.
pub(crate) const MAX_TYPE_BYTES: usize = 64 * 1024;

/// The most parameters and results of a function, together.
pub(crate) const MAX_VALUES: usize = 64;

/// Converts a count within the limits.
pub(crate) fn number_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
