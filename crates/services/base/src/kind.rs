//! A kind of service: its name, options and stores, and its part of the development services.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use prometheus_client::metrics::counter::Counter;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::host::HostSlot;
use crate::store_error::StoreFailure;
use crate::{Limits, ServicesError};

/// A kind of service.
pub struct Kind {
    /// Such as `sql`.
    pub name: &'static str,
    /// Completes "Serve …".
    pub summary: &'static str,
    /// The variable of the environment that its URL may come from.
    pub variable: &'static str,
    /// Its options on a command line.
    pub flags: &'static [Flag],
    /// Checks that options are known and of the right types.
    pub check: fn(&Map<String, Value>) -> Result<(), ServicesError>,
    /// Its possible stores.
    pub stores: &'static [Store],
    /// Its part of the development services, if it has one.
    pub dev: Option<Dev>,
}

/// A store of a kind.
pub struct Store {
    /// The prefixes of its URLs, such as `postgres://`.
    pub schemes: &'static [&'static str],
    /// Such a URL, for errors.
    pub example: &'static str,
    /// Opens it.
    pub open: Open,
}

/// An option of a kind on a command line.
pub struct Flag {
    /// Its name in the settings of a sidecar, in camel case.
    pub key: &'static str,
    /// Its name on the command line, without dashes.
    pub name: &'static str,
    /// The form of its value.
    pub value: FlagValue,
    /// Its line in the help.
    pub help: &'static str,
}

/// The form of an option on a command line, and of its value in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// No value: true when it is given.
    Switch,
    /// A text.
    Text,
    /// A whole number from this one on.
    Number(u32),
    /// Names with commas in between, in lower case.
    Names,
    /// A text each time that it is given.
    Texts,
    /// `name=value` each time that it is given.
    Pairs,
}

impl Flag {
    /// Makes an option.
    pub const fn new(key: &'static str, name: &'static str, value: FlagValue, help: &'static str) -> Self {
        Self { key, name, value, help }
    }

    /// The connections to a database.
    pub const POOL: Self = Self::new("poolSize", "pool-size", FlagValue::Number(1), "Connections to the database");

    /// The prefix of names in Redis.
    pub const PREFIX: Self = Self::new("prefix", "prefix", FlagValue::Text, "Prefix of every name in Redis");
}

/// A part of the development services.
pub struct Dev {
    /// The file or folder of its data, in the common folder. A SQLite file has further files beside it.
    pub name: &'static str,
    /// Opens that file or folder.
    pub open: fn(DevOpening<'_>) -> Result<Router, ServicesError>,
}

/// The parameters of a part of the development services.
pub struct DevOpening<'a> {
    /// The file or folder to open.
    pub path: &'a Path,
    /// The slot of the runtime.
    pub host: &'a HostSlot,
    /// The folder of compiled code.
    pub cache: Option<&'a Path>,
    /// The limits of a request.
    pub limits: &'a Limits,
}

/// The URL, options and limits for opening a store.
pub struct Opening {
    /// The URL, which may contain a password.
    pub url: String,
    /// The options of the kind, by names in camel case.
    pub options: Map<String, Value>,
    /// Files of this machine.
    pub files: SidecarFiles,
    /// The limits of a request.
    pub limits: Limits,
}

impl Opening {
    /// The options of the kind.
    pub fn options<T: DeserializeOwned>(&self) -> Result<T, ServicesError> {
        options_of(&self.options)
    }
}

/// Files of the machine that runs a sidecar.
#[derive(Clone, Debug, Default)]
pub struct SidecarFiles {
    /// PostgreSQL's grammar: `libpg-query.wasm` of the npm package `libpg-query`.
    pub grammar: Option<PathBuf>,
    /// The folder of compiled code.
    pub cache: Option<PathBuf>,
}

/// Reads the options of a kind.
///
/// # Errors
///
/// An unknown option, or one of the wrong type.
fn options_of<T: DeserializeOwned>(options: &Map<String, Value>) -> Result<T, ServicesError> {
    T::deserialize(Value::Object(options.clone())).map_err(config)
}

/// The options of a kind without options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

fn config(error: serde_json::Error) -> ServicesError {
    ServicesError::Config(error.to_string())
}

/// Checks options by their type.
pub fn check<T: DeserializeOwned>(options: &Map<String, Value>) -> Result<(), ServicesError> {
    options_of::<T>(options).map(drop)
}

/// Opens a store.
type Open = fn(Opening) -> OpenedSoon;

impl Store {
    /// A store in PostgreSQL.
    pub const fn postgres(open: Open) -> Self {
        Self { schemes: POSTGRES, example: POSTGRES_EXAMPLE, open }
    }

    /// A store in Redis.
    pub const fn redis(open: Open) -> Self {
        Self { schemes: REDIS, example: REDIS_EXAMPLE, open }
    }

    /// A store in a SQLite file.
    pub const fn sqlite(open: Open) -> Self {
        Self { schemes: SQLITE, example: SQLITE_EXAMPLE, open }
    }
}

/// A store that is being opened.
pub type OpenedSoon = Pin<Box<dyn Future<Output = Result<Opened, ServicesError>> + Send>>;

/// A store that is open.
pub struct Opened {
    /// The routes over it.
    pub routes: Router,
    /// Its health check.
    pub ping: Ping,
    /// The origin of its answers.
    pub answers: Answers,
}

/// The origin of a server's answers.
#[derive(Clone, Debug)]
pub enum Answers {
    /// Our routes.
    Own,
    /// Somebody else's server, whose answers are passed on as they come.
    OfUpstream {
        /// Counts attempts beyond each request's first.
        retried: Counter,
    },
}

/// Checks that the store responds; callable repeatedly.
pub type Ping = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), StoreFailure>> + Send>> + Send + Sync>;

impl Opened {
    /// The routes over a store, and its health check.
    pub fn new<S, F>(store: S, routes: Router, ask: fn(S) -> F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Future<Output = Result<(), StoreFailure>> + Send + 'static,
    {
        Self { routes, ping: Arc::new(move || Box::pin(ask(store.clone()))), answers: Answers::Own }
    }
}

impl Kind {
    /// Finds the store of a URL.
    ///
    /// # Errors
    ///
    /// An unsupported URL; the error names only the expected ones, because the URL may contain a password.
    pub fn store(&self, url: &str) -> Result<&'static Store, ServicesError> {
        let is_of =
            |store: &&Store| store.schemes.iter().any(|scheme| url.starts_with(scheme) && url.len() > scheme.len());
        self.stores.iter().find(is_of).ok_or_else(|| {
            let examples: Vec<&str> = self.stores.iter().map(|store| store.example).collect();
            unknown(&listed(&examples))
        })
    }
}

/// `a, b or c`.
pub fn listed(texts: &[&str]) -> String {
    match texts {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

/// Makes the error of an unsupported URL.
pub fn unknown(expected: &str) -> ServicesError {
    ServicesError::Config(format!("this kind of sidecar needs a URL such as {expected}"))
}

/// The path in `scheme:/path`, `scheme:path` or `scheme:///path`.
///
/// # Errors
///
/// The path is empty.
pub fn path_of(url: &str) -> Result<&Path, ServicesError> {
    let path = url.split_once(':').map_or(url, |(_, path)| path);
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() { Err(unknown("sqlite:/path/to/file.db, with a path")) } else { Ok(Path::new(path)) }
}

/// The URLs of PostgreSQL.
pub const POSTGRES: &[&str] = &["postgres://", "postgresql://"];
/// A URL of PostgreSQL, for errors.
pub const POSTGRES_EXAMPLE: &str = "postgres://user@host/database";

/// The URLs of SQLite.
pub const SQLITE: &[&str] = &["sqlite:"];
/// A URL of SQLite, for errors.
pub const SQLITE_EXAMPLE: &str = "sqlite:/path/to/file.db";

/// The URLs of Redis.
pub const REDIS: &[&str] = &[
    "redis://",
    "rediss://",
    "redis+unix://",
    "unix://",
    "redis+sentinel://",
    "rediss+sentinel://",
    "redis+cluster://",
    "rediss+cluster://",
];
/// URLs of Redis, for errors.
pub const REDIS_EXAMPLE: &str = "redis://host:6379/0, rediss://host:6379/0, \
                                        redis+sentinel://host:26379/mymaster/0, redis+cluster://host:6379";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_urls() {
        for (url, path) in [("sqlite:a.db", "a.db"), ("file:///a/b", "/a/b"), ("sqlite::memory:", ":memory:")] {
            assert_eq!(path_of(url).unwrap(), Path::new(path));
        }
        assert!(path_of("sqlite://").is_err());
    }
}
