//! Where the crates' log lines go: standard error of the process.
//!
//! The addon and the server program call [`start`] once. The crates write their lines with `tracing` and know nothing of it.

use std::io::{IsTerminal, stderr};

use thiserror::Error;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The target of access lines, which have a switch of their own and are not a matter of the level.
const ACCESS: &str = "access";

/// A level or a format that does not exist.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LogError {
    /// The level.
    #[error("`{0}` is no log level: use off, error, warn, info or debug")]
    Level(String),
    /// The format.
    #[error("`{0}` is no log format: use readable or json")]
    Format(String),
}

/// Sets up the log of the process. The first call decides, since there is one standard error. `level` is `off`, `error`, `warn`,
/// `info` or `debug`; `format` is `readable` or `json`.
///
/// # Errors
///
/// A level or a format that does not exist.
pub fn start(level: &str, format: &str) -> Result<(), LogError> {
    let level: LevelFilter = level.parse().map_err(|_| LogError::Level(level.to_string()))?;
    let shown = filter_fn(move |metadata: &Metadata<'_>| metadata.target() == ACCESS || *metadata.level() <= level)
        .with_max_level_hint(level.max(LevelFilter::INFO));
    let log = match format {
        "readable" => {
            let color = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            layer().with_ansi(color).with_target(false).with_writer(stderr).boxed()
        }
        "json" => layer().json().flatten_event(true).with_writer(stderr).boxed(),
        other => return Err(LogError::Format(other.to_string())),
    };
    // An error means that a log is set up already.
    let _ = tracing_subscriber::registry().with(log.with_filter(shown)).try_init();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_and_a_format_that_do_not_exist_are_named() {
        assert_eq!(start("loud", "json"), Err(LogError::Level("loud".to_string())));
        assert_eq!(start("info", "xml").unwrap_err().to_string(), "`xml` is no log format: use readable or json");
        assert_eq!(start("off", "json"), Ok(()));
        assert_eq!(start("info", "readable"), Ok(()), "the first call decides");
    }
}
