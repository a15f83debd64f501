//! Fuzz targets: properties that hold for any input. Each takes bytes and panics when a property is violated.
//!
//! - [`configuration`]: a runtime's configuration, and the allowed destinations of calls.
//! - [`loading`]: files that are loaded as components.
//! - [`headers`]: requests into a module and responses out of it, over both interfaces.
//! - [`tapes`]: files of recorded requests.
//!
//! `scripts/fuzz.mjs` drives them by coverage (libFuzzer). `cargo test` runs the inputs in `corpus/`: the seeds of
//! fuzzing, and inputs that once found a fault. `cli/src/project/config.fuzz.test.ts` fuzzes the text of `tenon.toml`,
//! which TypeScript parses.

#![cfg(any(test, feature = "libfuzzer"))]

mod configuration;
mod headers;
mod loading;
mod tapes;

pub use configuration::configuration;
pub use headers::headers;
pub use loading::loading;
pub use tapes::tapes;

use std::sync::OnceLock;

use tenon_runtime::Limits;

/// Returns an executor with one thread, so that a target's tasks are done or waiting when the next input comes.
fn tokio() -> &'static tokio::runtime::Runtime {
    static TOKIO: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    TOKIO.get_or_init(|| {
        let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
        made.unwrap_or_else(|error| panic!("no runtime for futures: {error}"))
    })
}

/// Returns limits with few slots, so that all runtimes of a target share one small pool.
fn small() -> Limits {
    Limits { max_concurrent: 4, request_timeout_ms: 2_000, ..Limits::default() }
}

#[cfg(test)]
mod tests;
