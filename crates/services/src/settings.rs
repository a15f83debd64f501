//! A sidecar's settings: from a program's options, a command line, or a server's configuration.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use tenon_service::{Backend, Kind, Limits, ServicesError, SidecarFiles};

use crate::kinds::kind_named;

/// A kind of sidecar, its store, and its options. [`Limits`] has the defaults of omitted limits.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SidecarSettings {
    /// A name of [`sidecar_kinds`](crate::sidecar_kinds).
    #[serde(rename = "run")]
    pub kind: String,
    /// The store: `postgres://…`, `redis://…`, `sqlite:/path`, `s3://bucket` or `file:/path`. It may contain a
    /// password.
    pub url: String,
    /// Connections to the database.
    pub pool_size: Option<u32>,
    /// Total milliseconds of a request's statements.
    pub statement_timeout_ms: Option<u32>,
    /// `sql`: milliseconds between two statements of a transaction.
    pub transaction_idle_ms: Option<u32>,
    /// `sql`: total milliseconds of a transaction.
    pub transaction_timeout_ms: Option<u32>,
    /// Rows of one result.
    pub max_rows: Option<u32>,
    /// Bytes of a request's body.
    pub max_body_bytes: Option<u32>,
    /// The options of the kind, by names in camel case. Its `service.rs` has their types.
    #[serde(flatten)]
    pub options: Map<String, Value>,
    /// Files of this machine, which no configuration names.
    #[serde(skip)]
    pub files: SidecarFiles,
}

impl SidecarSettings {
    /// A sidecar without options.
    #[must_use]
    pub fn new(kind: &str, url: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            url: url.to_owned(),
            pool_size: None,
            statement_timeout_ms: None,
            transaction_idle_ms: None,
            transaction_timeout_ms: None,
            max_rows: None,
            max_body_bytes: None,
            options: Map::new(),
            files: SidecarFiles::default(),
        }
    }

    /// Reads settings from JSON.
    ///
    /// # Errors
    ///
    /// [`ServicesError::Config`] for a kind that does not exist, and for an option that it does not have. The error
    /// does not repeat the URL.
    pub fn from_json(value: Value) -> Result<Self, ServicesError> {
        let settings: Self = serde_json::from_value(value).map_err(config)?;
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<&'static Kind, ServicesError> {
        let kind = kind_named(&self.kind)?;
        (kind.check)(&self.options)?;
        Ok(kind)
    }

    /// The limits of a request.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let defaults = Limits::default();
        let count = |given: Option<u32>, default: usize| given.map_or(default, |given| given as usize);
        let time = |given: Option<u32>, default| given.map_or(default, |ms| Duration::from_millis(ms.max(1).into()));
        Limits {
            pool_size: self.pool_size.unwrap_or(defaults.pool_size).max(1),
            statement_timeout: time(self.statement_timeout_ms, defaults.statement_timeout),
            transaction_idle: time(self.transaction_idle_ms, defaults.transaction_idle),
            transaction_timeout: time(self.transaction_timeout_ms, defaults.transaction_timeout),
            max_rows: count(self.max_rows, defaults.max_rows),
            max_body_bytes: count(self.max_body_bytes, defaults.max_body_bytes),
            ..defaults
        }
    }

    /// The service and its store.
    ///
    /// # Errors
    ///
    /// [`ServicesError::Config`] for a kind that does not exist, an option that it does not have, or a URL that it does
    /// not support. The error does not repeat the URL.
    pub fn backend(self) -> Result<Backend, ServicesError> {
        let kind = self.check()?;
        Backend::new(kind, self.url, self.options, self.files)
    }
}

fn config(error: serde_json::Error) -> ServicesError {
    ServicesError::Config(error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_that_are_left_out_are_the_defaults() {
        let mut settings = SidecarSettings::new("sql", "sqlite::memory:");
        assert_eq!(settings.limits().max_rows, Limits::default().max_rows);
        (settings.max_rows, settings.pool_size, settings.statement_timeout_ms) = (Some(7), Some(0), Some(0));
        let limits = settings.limits();
        assert_eq!((limits.max_rows, limits.pool_size), (7, 1));
        assert_eq!(limits.statement_timeout, Duration::from_millis(1));
    }

    #[test]
    fn a_kind_that_does_not_exist_and_an_option_that_it_does_not_have_are_refused() {
        let unknown = SidecarSettings::new("mail", "").backend().err().unwrap();
        assert!(unknown.to_string().contains("`mail` is not a kind of sidecar"), "{unknown}");
        let settings = |more: Value| {
            let mut value = json!({ "run": "sql", "url": "sqlite:secret" });
            value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            SidecarSettings::from_json(value)
        };
        let given = settings(json!({ "readOnly": true, "maxRows": 5 })).unwrap();
        assert!(given.options["readOnly"] == json!(true) && given.max_rows == Some(5));
        for (more, part) in [
            (json!({ "listen": "x" }), "unknown field `listen`"),
            (json!({ "prefix": "x" }), "unknown field `prefix`"),
            (json!({ "readOnly": "yes" }), "expected a boolean"),
            (json!({ "maxRows": "many" }), "expected u32"),
            (json!({ "tables": [1] }), "expected a string"),
            (json!({ "run": "cron", "readOnly": true }), "unknown field `readOnly`"),
        ] {
            let error = settings(more.clone()).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(part) && !error.contains("secret"), "{more}: {error}");
        }
    }
}
