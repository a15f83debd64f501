//! The kinds of service. Each is a folder with a `service.rs`, and one entry here, from which sidecars, the development
//! services, their errors and the commands of `tenon-server` are made. The command line of `tenon` and the documentation
//! have their table in `cli/src/embed/sidecar-kinds.ts`.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use prometheus_client::metrics::counter::Counter;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::host::HostSlot;
use crate::settings::options_of;
use crate::{Limits, ServicesError, SidecarFiles, cron, kv, proxy, queue, sql, storage};

/// All kinds.
pub(crate) static KINDS: [&Kind; 6] = [&sql::KIND, &kv::KIND, &storage::KIND, &queue::KIND, &cron::KIND, &proxy::KIND];

/// The kinds that a sidecar can be of, in the order of the documentation.
pub fn sidecar_kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.into_iter()
}

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
    pub(crate) check: fn(&Map<String, Value>) -> Result<(), ServicesError>,
    /// Its possible stores.
    pub(crate) stores: &'static [Store],
    /// Its part of the development services, if it has one.
    pub(crate) dev: Option<Dev>,
}

/// A store of a kind.
pub(crate) struct Store {
    /// The prefixes of its URLs, such as `postgres://`.
    pub(crate) schemes: &'static [&'static str],
    /// Such a URL, for errors.
    pub(crate) example: &'static str,
    pub(crate) open: Open,
}

/// An option of a kind on a command line.
pub struct Flag {
    /// Its name in [`SidecarSettings`](crate::SidecarSettings), in camel case.
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
    pub(crate) const fn new(key: &'static str, name: &'static str, value: FlagValue, help: &'static str) -> Self {
        Self { key, name, value, help }
    }

    /// The connections to a database.
    pub(crate) const POOL: Self =
        Self::new("poolSize", "pool-size", FlagValue::Number(1), "Connections to the database");

    /// The prefix of names in Redis.
    pub(crate) const PREFIX: Self = Self::new("prefix", "prefix", FlagValue::Text, "Prefix of every name in Redis");
}

/// A part of the development services.
pub(crate) struct Dev {
    /// The file or folder of its data, in the common folder. A SQLite file has further files beside it.
    pub(crate) name: &'static str,
    /// Opens that file or folder.
    pub(crate) open: fn(DevOpening<'_>) -> Result<Router, ServicesError>,
}

/// The parameters of a part of the development services.
pub(crate) struct DevOpening<'a> {
    pub(crate) path: &'a Path,
    pub(crate) host: &'a HostSlot,
    /// The folder of compiled code.
    pub(crate) cache: Option<&'a Path>,
    pub(crate) limits: &'a Limits,
}

/// The URL, options and limits for opening a store.
pub(crate) struct Opening {
    /// The URL, which may contain a password.
    pub(crate) url: String,
    pub(crate) options: Map<String, Value>,
    pub(crate) files: SidecarFiles,
    pub(crate) limits: Limits,
}

impl Opening {
    /// The options of the kind.
    pub(crate) fn options<T: DeserializeOwned>(&self) -> Result<T, ServicesError> {
        options_of(&self.options)
    }
}

/// Checks options by their type.
pub(crate) fn check<T: DeserializeOwned>(options: &Map<String, Value>) -> Result<(), ServicesError> {
    options_of::<T>(options).map(drop)
}

/// Opens a store.
type Open = fn(Opening) -> OpenedSoon;

impl Store {
    pub(crate) const fn postgres(open: Open) -> Self {
        Self { schemes: POSTGRES, example: POSTGRES_EXAMPLE, open }
    }

    pub(crate) const fn redis(open: Open) -> Self {
        Self { schemes: REDIS, example: REDIS_EXAMPLE, open }
    }

    pub(crate) const fn sqlite(open: Open) -> Self {
        Self { schemes: SQLITE, example: SQLITE_EXAMPLE, open }
    }
}

/// A store that is being opened.
pub(crate) type OpenedSoon = Pin<Box<dyn Future<Output = Result<Opened, ServicesError>> + Send>>;

/// A store that is open.
pub(crate) struct Opened {
    pub(crate) routes: Router,
    pub(crate) ping: Ping,
    pub(crate) answers: Answers,
}

/// The origin of a server's answers.
#[derive(Clone, Debug)]
pub(crate) enum Answers {
    /// Our routes.
    Own,
    /// Somebody else's server, whose answers are passed on as they come.
    OfUpstream {
        /// Counts attempts beyond each request's first.
        retried: Counter,
    },
}

/// Checks that the store responds; callable repeatedly.
pub(crate) type Ping = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

impl Opened {
    /// The routes over a store, and its health check.
    pub(crate) fn new<S, F>(store: S, routes: Router, ask: fn(S) -> F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self { routes, ping: Arc::new(move || Box::pin(ask(store.clone()))), answers: Answers::Own }
    }
}

impl Kind {
    /// Finds a kind by its name.
    ///
    /// # Errors
    ///
    /// An unknown name; the error lists the kinds.
    pub(crate) fn named(name: &str) -> Result<&'static Self, ServicesError> {
        let names = KINDS.map(|kind| kind.name);
        let wrong = || ServicesError::Config(format!("`{name}` is not a kind of sidecar: use {}", listed(&names)));
        KINDS.into_iter().find(|kind| kind.name == name).ok_or_else(wrong)
    }

    /// Finds the store of a URL.
    ///
    /// # Errors
    ///
    /// An unsupported URL; the error names only the expected ones, because the URL may contain a password.
    pub(crate) fn store(&self, url: &str) -> Result<&'static Store, ServicesError> {
        let is_of =
            |store: &&Store| store.schemes.iter().any(|scheme| url.starts_with(scheme) && url.len() > scheme.len());
        self.stores.iter().find(is_of).ok_or_else(|| {
            let examples: Vec<&str> = self.stores.iter().map(|store| store.example).collect();
            unknown(&listed(&examples))
        })
    }
}

/// `a, b or c`.
fn listed(texts: &[&str]) -> String {
    match texts {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

/// Makes the error of an unsupported URL.
pub(crate) fn unknown(expected: &str) -> ServicesError {
    ServicesError::Config(format!("this kind of sidecar needs a URL such as {expected}"))
}

/// The path in `scheme:/path`, `scheme:path` or `scheme:///path`.
///
/// # Errors
///
/// The path is empty.
pub(crate) fn path_of(url: &str) -> Result<&Path, ServicesError> {
    let path = url.split_once(':').map_or(url, |(_, path)| path);
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() { Err(unknown("sqlite:/path/to/file.db, with a path")) } else { Ok(Path::new(path)) }
}

/// The URLs of PostgreSQL.
pub(crate) const POSTGRES: &[&str] = &["postgres://", "postgresql://"];
pub(crate) const POSTGRES_EXAMPLE: &str = "postgres://user@host/database";

/// The URLs of SQLite.
pub(crate) const SQLITE: &[&str] = &["sqlite:"];
pub(crate) const SQLITE_EXAMPLE: &str = "sqlite:/path/to/file.db";

/// The URLs of Redis.
pub(crate) const REDIS: &[&str] = &[
    "redis://",
    "rediss://",
    "redis+unix://",
    "unix://",
    "redis+sentinel://",
    "rediss+sentinel://",
    "redis+cluster://",
    "rediss+cluster://",
];
pub(crate) const REDIS_EXAMPLE: &str = "redis://host:6379/0, rediss://host:6379/0, \
                                        redis+sentinel://host:26379/mymaster/0, redis+cluster://host:6379";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_their_stores() {
        assert_eq!(Kind::named("kv").unwrap().name, "kv");
        let error = Kind::named("cache").err().unwrap().to_string();
        assert_eq!(error, "`cache` is not a kind of sidecar: use sql, kv, storage, queue, cron or http");
        let queue = Kind::named("queue").unwrap();
        for (url, scheme) in
            [("postgresql://a/b", "postgres://"), ("sqlite:a.db", "sqlite:"), ("rediss://a", "redis://")]
        {
            assert_eq!(queue.store(url).unwrap().schemes[0], scheme);
        }
        for url in ["sqlite:", "mysql://secret", "redis", ""] {
            let error = queue.store(url).err().unwrap().to_string();
            assert!(error.contains("postgres://user@host/database, redis://") && !error.contains("secret"), "{error}");
        }
        for (url, path) in [("sqlite:a.db", "a.db"), ("file:///a/b", "/a/b"), ("sqlite::memory:", ":memory:")] {
            assert_eq!(path_of(url).unwrap(), Path::new(path));
        }
        assert!(path_of("sqlite://").is_err());
    }
}
