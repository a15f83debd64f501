//! Fuzz targets: what must hold for any input whatever. Each takes bytes and panics when something does not.
//!
//! - [`configuration`]: what a runtime is told, and where modules may then call.
//! - [`loading`]: files that are taken for components.
//! - [`headers`]: requests on their way into a module and responses on their way out, by both interfaces.
//!
//! `scripts/fuzz.mjs` drives them by coverage (libFuzzer); `cargo test` tries what stands in `corpus/`: the inputs that
//! driving starts with, and those that once found something. The text of `tenon.toml` is TypeScript's matter:
//! `cli/src/project/config.fuzz.test.ts`.

#![cfg(any(test, feature = "libfuzzer"))]

mod configuration;
mod headers;
mod loading;

pub use configuration::configuration;
pub use headers::headers;
pub use loading::loading;

use std::sync::OnceLock;

use tenon_runtime::Limits;

/// One thread: what a target starts is done, or waits, when the next input comes.
fn tokio() -> &'static tokio::runtime::Runtime {
    static TOKIO: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    TOKIO.get_or_init(|| {
        let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
        made.unwrap_or_else(|error| panic!("no runtime for futures: {error}"))
    })
}

/// Few places, so that all runtimes of a target share one small pool.
fn small() -> Limits {
    Limits { max_concurrent: 4, request_timeout_ms: 2_000, ..Limits::default() }
}

#[cfg(test)]
mod tests;
