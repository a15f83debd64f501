//! Standard error: readable lines or JSON.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;

use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::registry::LookupSpan;

use crate::{LogError, OutputLayer, filtered, level_of, outputs_changed, subscribe};

/// Level and format of standard error.
static CHOSEN: OnceLock<(LevelFilter, Format)> = OnceLock::new();

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Readable,
    Json,
}

/// Logs to standard error. The first call decides, because a process has one standard error. `level` is `off`, `error`,
/// `warn`, `info` or `debug`; `format` is `readable` or `json`.
///
/// # Errors
///
/// A level or a format that does not exist.
pub fn start(level: &str, format: &str) -> Result<(), LogError> {
    let level = level_of(level)?;
    let format = match format {
        "readable" => Format::Readable,
        "json" => Format::Json,
        other => return Err(LogError::Format(other.to_string())),
    };
    subscribe();
    if CHOSEN.set((level, format)).is_ok() {
        outputs_changed();
    }
    Ok(())
}

/// Makes a layer for each format. At most one of them has a level.
pub(crate) fn layers<S>() -> [OutputLayer<S>; 2]
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let color = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let readable = layer().with_ansi(color).with_target(false).with_writer(stderr);
    let json = layer().json().flatten_event(true).with_writer(stderr);
    [filtered(readable, || level_in(Format::Readable)), filtered(json, || level_in(Format::Json))]
}

fn level_in(format: Format) -> Option<LevelFilter> {
    CHOSEN.get().filter(|(_, chosen)| *chosen == format).map(|(level, _)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_and_a_format_that_do_not_exist_are_named() {
        assert_eq!(start("loud", "json"), Err(LogError::Level("loud".to_string())));
        assert_eq!(start("info", "xml").unwrap_err().to_string(), "`xml` is not a log format: use readable or json");
        assert_eq!(start("off", "json"), Ok(()));
        assert_eq!(start("info", "readable"), Ok(()), "the first call decides");
    }
}
