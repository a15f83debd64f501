//! Records: events of `tracing` as data.

use std::collections::HashMap;
use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use tenon_visible::shown;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// One record of the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogRecord {
    /// Milliseconds since 1970.
    pub time: f64,
    /// `error`, `warn`, `info` or `debug`.
    pub level: String,
    /// `module` for a line that a module writes, `access` for a request, otherwise a part of Tenon.
    pub target: String,
    /// Text.
    pub message: String,
    /// Name of the module, for records about one.
    pub module: Option<String>,
    /// Request ID, for records about a request.
    pub request_id: Option<String>,
    /// All other fields.
    pub fields: HashMap<String, Value>,
}

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text, or any value in Rust's debug format.
    Text(String),
    /// A number. Integers beyond 2⁵³ are rounded.
    Number(f64),
    /// A Boolean.
    Bool(bool),
}

impl LogRecord {
    pub(crate) fn of(event: &Event<'_>) -> Self {
        let metadata = event.metadata();
        let mut record = Self::new(metadata.level(), metadata.target());
        event.record(&mut record);
        record
    }

    pub(crate) fn new(level: &Level, target: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let level = level.as_str().to_lowercase();
        Self { time: (now.as_secs_f64() * 1000.0).floor(), level, target: target.to_string(), ..Self::default() }
    }

    /// Approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let fields = self.fields.iter().map(|(name, value)| {
            name.len() + if let Value::Text(text) = value { text.len() } else { size_of::<f64>() }
        });
        self.message.len() + self.target.len() + fields.sum::<usize>()
    }

    fn put(&mut self, field: &Field, value: Value) {
        // A program may write records to a terminal.
        let value = match value {
            Value::Text(text) => Value::Text(shown(&text).into_owned()),
            other => other,
        };
        match (field.name(), value) {
            ("message", Value::Text(text)) => self.message = text,
            ("module", Value::Text(text)) => self.module = Some(text),
            ("request_id", Value::Text(text)) => self.request_id = Some(text),
            (name, value) => drop(self.fields.insert(name.to_string(), value)),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "records are for JavaScript, which has one type of numbers")]
impl Visit for LogRecord {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, Value::Text(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::Text(value.to_string()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, Value::Number(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::Number(value as f64));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::Number(value as f64));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::Bool(value));
    }
}
