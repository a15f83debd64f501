//! Standard error: readable lines or JSON.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::io::{self, IsTerminal, Write, stderr};
use std::sync::OnceLock;

use tenon_visible::{shown, shown_in_json};
use tracing::Subscriber;
use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
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
    let readable = layer()
        .fmt_fields(debug_fn(readable_field))
        .with_ansi(color)
        .with_target(false)
        .with_writer(|| Showing { out: stderr(), show: shown_text });
    let json = layer().json().flatten_event(true).with_writer(|| Showing { out: stderr(), show: shown_in_json });
    [filtered(readable, || level_in(Format::Readable)), filtered(json, || level_in(Format::Json))]
}

/// Writes a field of a readable record: the message, `name=value`, and a stack, which is the last field, as a block of lines.
fn readable_field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    // An escape sequence could change other lines on a terminal.
    let text = format!("{value:?}").replace('\u{1b}', "\\u{1b}");
    match field.name() {
        "message" => writer.write_str(&text),
        "stack" => text.lines().try_for_each(|line| write!(writer, "\n    {line}")),
        name => write!(writer, " {name}={text}"),
    }
}

/// Writes records to `out` whose hidden characters are shown, so that nobody can hide a part of a line. A record is written
/// by one call.
struct Showing<W> {
    out: W,
    show: fn(&str) -> Cow<'_, str>,
}

impl<W: Write> Write for Showing<W> {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        self.write_all(record).map(|()| record.len())
    }

    fn write_all(&mut self, record: &[u8]) -> io::Result<()> {
        self.out.write_all((self.show)(&String::from_utf8_lossy(record)).as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A readable record. Its colors are escape sequences, which `tracing` escapes everywhere else.
fn shown_text(record: &str) -> Cow<'_, str> {
    if !record.contains('\u{1b}') {
        return shown(record);
    }
    let parts: Vec<_> = record.split('\u{1b}').map(shown).collect();
    Cow::Owned(parts.join("\u{1b}"))
}

fn level_in(format: Format) -> Option<LevelFilter> {
    CHOSEN.get().filter(|(_, chosen)| *chosen == format).map(|(level, _)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_in_both_formats() {
        let written = |show: fn(&str) -> Cow<'_, str>, record: &str| {
            let mut out = Vec::new();
            Showing { out: &mut out, show }.write_all(record.as_bytes()).unwrap();
            String::from_utf8(out).unwrap()
        };
        let colored = "\u{1b}[32m INFO\u{1b}[0m a\u{202e}b\u{2028}c\n";
        assert_eq!(written(shown_text, colored), "\u{1b}[32m INFO\u{1b}[0m a\\u{202e}b\\u{2028}c\n");
        assert_eq!(written(shown_text, "a\u{85}b\n"), "a\\u{85}b\n");
        assert_eq!(written(shown_in_json, "{\"message\":\"a\u{202e}b\"}\n"), "{\"message\":\"a\\u202eb\"}\n");
    }

    #[test]
    fn a_level_and_a_format_that_do_not_exist_are_named() {
        assert_eq!(start("loud", "json"), Err(LogError::Level("loud".to_string())));
        assert_eq!(start("info", "xml").unwrap_err().to_string(), "`xml` is not a log format: use readable or json");
        assert_eq!(start("off", "json"), Ok(()));
        assert_eq!(start("info", "readable"), Ok(()), "the first call decides");
    }
}
