//! Where the crates' log lines go: standard error of the process.

use std::io::{IsTerminal, stderr};

use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::failure::Failure;

/// The target of access lines, which have a switch of their own and are not a matter of the level.
const ACCESS: &str = "access";

/// Sets the process's log up; the first runtime decides, since there is one standard error. `level` is `off`, `error`,
/// `warn`, `info` or `debug`; `format` is `readable` or `json`.
pub(crate) fn start(level: &str, format: &str) -> Result<(), Failure> {
    let level: LevelFilter = level.parse().map_err(|_| {
        Failure::new("CONFIG", format!("`{level}` is no log level: use off, error, warn, info or debug"))
    })?;
    let shown = filter_fn(move |metadata: &Metadata<'_>| metadata.target() == ACCESS || *metadata.level() <= level)
        .with_max_level_hint(level.max(LevelFilter::INFO));
    let log = match format {
        "readable" => {
            let color = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            layer().with_ansi(color).with_target(false).with_writer(stderr).boxed()
        }
        "json" => layer().json().flatten_event(true).with_writer(stderr).boxed(),
        other => {
            return Err(Failure::new("CONFIG", format!("`{other}` is no log format: use readable or json")));
        }
    };
    // An error means that a log is set up already.
    let _ = tracing_subscriber::registry().with(log.with_filter(shown)).try_init();
    Ok(())
}
