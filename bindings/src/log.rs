//! Where the crates' log lines go: standard error of the process.

use std::io::{IsTerminal, stderr};

use tracing::level_filters::LevelFilter;

use crate::failure::Failure;

/// Sets the process's log up; the first runtime decides, since there is one standard error. `level` is `off`, `error`,
/// `warn`, `info` or `debug`.
pub(crate) fn start(level: &str) -> Result<(), Failure> {
    let level: LevelFilter = level.parse().map_err(|_| {
        Failure::new("CONFIG", format!("`{level}` is no log level: use off, error, warn, info or debug"))
    })?;
    let color = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // An error means that a log is set up already.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(color)
        .with_target(false)
        .with_writer(stderr)
        .try_init();
    Ok(())
}
