//! Outputs of the crates' log: standard error of the process, and listeners.
//!
//! The addon and the server program call [`start`] once, and [`listen`] for each function that receives records. The other
//! crates log with `tracing` and do not depend on this one.

mod listener;
mod record;
mod stderr;

use std::sync::OnceLock;

use thiserror::Error;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, Filter, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

pub use listener::{Listener, listen};
pub use record::{LogRecord, Value};
pub use stderr::start;

/// Target of access lines. A switch of their own controls them, and the level does not.
const ACCESS: &str = "access";

/// Target of a library that reports each of its ten attempts to reach a store. The service logs the request that failed after them, so
/// the attempts are for debugging.
const ATTEMPTS: &str = "object_store::client::retry";

/// A level or a format that does not exist.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LogError {
    /// The level.
    #[error("`{0}` is not a log level: use off, error, warn, info or debug")]
    Level(String),
    /// The format.
    #[error("`{0}` is not a log format: use readable or json")]
    Format(String),
}

fn level_of(name: &str) -> Result<LevelFilter, LogError> {
    name.parse().map_err(|_| LogError::Level(name.to_string()))
}

/// Installs the outputs as the subscriber of this process, once.
fn subscribe() {
    static SUBSCRIBED: OnceLock<()> = OnceLock::new();
    SUBSCRIBED.get_or_init(|| {
        let mut outputs = Vec::from(stderr::layers());
        outputs.push(listener::layer());
        // An error means that another part of the process has installed a subscriber.
        let _ = tracing_subscriber::registry().with(outputs).try_init();
    });
}

/// Applies a change of the outputs to every place in the code that logs.
fn outputs_changed() {
    tracing::callsite::rebuild_interest_cache();
}

/// A filter by the present level of an output. `tracing` asks it once for each place in the code that logs, until the
/// outputs change. Without a level, the output shows nothing, not even access lines.
struct AtLevel(fn() -> Option<LevelFilter>);

impl<S: Subscriber> Filter<S> for AtLevel {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        (self.0)().is_some_and(|level| shows(level, metadata))
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if (self.0)().is_some_and(|level| shows(level, metadata)) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some((self.0)().map_or(LevelFilter::OFF, |level| level.max(LevelFilter::INFO)))
    }
}

/// Boxes a layer with its filter.
fn filtered<S>(layer: impl Layer<S> + Send + Sync + 'static, level: fn() -> Option<LevelFilter>) -> OutputLayer<S>
where
    S: Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
{
    layer.with_filter(AtLevel(level)).boxed()
}

type OutputLayer<S> = Box<dyn Layer<S> + Send + Sync>;

fn shows(level: LevelFilter, metadata: &Metadata<'_>) -> bool {
    let own = if metadata.target() == ATTEMPTS { Level::DEBUG } else { *metadata.level() };
    metadata.target() == ACCESS || own <= level
}
