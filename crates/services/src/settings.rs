//! A sidecar's settings from a program's options, a command line, or a server's configuration.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::{Backend, BackendOptions, Limits, ServicesError, SqlAccess, SqlParser};

/// A kind of sidecar, its store, and its options. [`Limits`] has the defaults of omitted limits.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SidecarSettings {
    /// `sql`, `kv`, `storage`, `queue` or `cron`.
    #[serde(rename = "run")]
    pub kind: String,
    /// The store: `postgres://…`, `redis://…`, `sqlite:/path`, `s3://bucket` or `file:/path`. It may contain a
    /// password.
    pub url: String,
    /// `sql`: refuses writing statements.
    #[serde(default)]
    pub read_only: bool,
    /// `sql`: the tables that statements may name.
    pub tables: Option<Vec<String>>,
    /// `sql`, PostgreSQL: the role that runs the statements.
    pub role: Option<String>,
    /// `sql`, PostgreSQL: the file `libpg-query.wasm`, which contains its grammar.
    #[serde(skip)]
    pub parser: Option<PathBuf>,
    /// The folder of compiled code.
    #[serde(skip)]
    pub cache: Option<PathBuf>,
    /// `kv`: the prefix of all names in Redis.
    pub prefix: Option<String>,
    /// `storage` on a folder: the base of signed URLs.
    pub public_url: Option<String>,
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
}

impl SidecarSettings {
    /// A sidecar without options.
    #[must_use]
    pub fn new(kind: &str, url: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            url: url.to_owned(),
            read_only: false,
            tables: None,
            role: None,
            parser: None,
            cache: None,
            prefix: None,
            public_url: None,
            pool_size: None,
            statement_timeout_ms: None,
            transaction_idle_ms: None,
            transaction_timeout_ms: None,
            max_rows: None,
            max_body_bytes: None,
        }
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
    /// [`ServicesError::Config`] for a kind that does not exist.
    pub fn backend(self) -> Result<Backend, ServicesError> {
        let defaults = BackendOptions::default();
        let options = BackendOptions {
            access: SqlAccess {
                read_only: self.read_only,
                tables: self.tables.map(|tables| tables.into_iter().collect()),
                role: self.role,
            },
            parser: SqlParser { file: self.parser, cache: self.cache },
            prefix: self.prefix.unwrap_or(defaults.prefix),
            public_url: self.public_url,
        };
        Backend::new(&self.kind, self.url, options)
    }
}

#[cfg(test)]
mod tests {
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
    fn a_kind_that_does_not_exist_and_a_key_that_is_not_known_are_refused() {
        let unknown = SidecarSettings::new("mail", "").backend().err().unwrap();
        assert!(unknown.to_string().contains("`mail` is not a kind of sidecar"), "{unknown}");
        let json = r#"{ "run": "sql", "url": "sqlite::memory:", "readOnly": true, "maxRows": 5 }"#;
        let settings: SidecarSettings = serde_json::from_str(json).unwrap();
        assert!(settings.read_only && settings.max_rows == Some(5));
        assert!(serde_json::from_str::<SidecarSettings>(r#"{ "run": "sql", "url": "", "listen": "x" }"#).is_err());
    }
}
