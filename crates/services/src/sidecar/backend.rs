//! What a sidecar serves, and the connection to it.

use std::path::PathBuf;
use std::sync::Arc;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use axum::Router;
use object_store::aws::AmazonS3Builder;

use super::Ping;
use crate::cron::{self, Cron, CronStore, PostgresCron, SqliteCron};
use crate::kv::{self, KvStore, RedisKv, SqliteKv};
use crate::queue::{self, PostgresQueue, QueueStore, SqliteQueue};
use crate::sql::postgres::PostgresSql;
use crate::sql::sqlite::SqliteSql;
use crate::sql::{self, SqlAccess, SqlParser, SqlStore};
use crate::storage::{self, BlobStore, FolderStore, S3Store};
use crate::{Limits, ServicesError};

/// A kind of service and its store. URLs may hold passwords; nothing prints them.
pub enum Backend {
    /// `postgres://…`, or `sqlite:` and the path of a file.
    Sql {
        /// The database.
        url: String,
        /// What statements may do.
        access: SqlAccess,
        /// PostgreSQL's grammar.
        parser: SqlParser,
    },
    /// `redis://…`, `rediss://…` with TLS, or `sqlite:` and the path of a file.
    Kv {
        /// The store.
        url: String,
        /// What every name in Redis begins with.
        prefix: String,
    },
    /// `s3://bucket`, with credentials and endpoint from `AWS_*`; or `file:` and the path of a folder.
    Storage {
        /// The store.
        url: String,
        /// A folder's: where clients outside reach the sidecar, such as `https://files.example.com`, for the URLs that it signs.
        public_url: Option<String>,
    },
    /// `postgres://…`, or `sqlite:` and the path of a file.
    Queue {
        /// The store.
        url: String,
    },
    /// `postgres://…`, or `sqlite:` and the path of a file.
    Cron {
        /// The store.
        url: String,
    },
}

impl Backend {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Sql { .. } => "sql",
            Self::Kv { .. } => "kv",
            Self::Storage { .. } => "storage",
            Self::Queue { .. } => "queue",
            Self::Cron { .. } => "cron",
        }
    }

    /// Connects, and makes the routes.
    pub(crate) async fn open(self, limits: Limits) -> Result<(Router, Ping), ServicesError> {
        match self {
            Self::Sql { url, access, parser } => match path_behind(&url, "sqlite:") {
                Some(_) if access.role.is_some() => {
                    Err(ServicesError::Config("--role is for PostgreSQL: SQLite has no roles".to_string()))
                }
                Some(path) => Ok(sql_routes(SqliteSql::open(&path, access, limits.clone())?, limits)),
                None if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                    Ok(sql_routes(PostgresSql::connect(&url, access, &parser, limits.clone()).await?, limits))
                }
                None => Err(unknown("postgres://user@host/database or sqlite:/path/to/file.db")),
            },
            Self::Kv { url, prefix } => match path_behind(&url, "sqlite:") {
                Some(path) => Ok(kv_routes(SqliteKv::open(&path)?, limits)),
                None if url.starts_with("redis://")
                    || url.starts_with("rediss://")
                    || url.starts_with("redis+unix://")
                    || url.starts_with("unix://") =>
                {
                    Ok(kv_routes(RedisKv::new(redis(&url, &limits).await?, &prefix), limits))
                }
                None => Err(unknown("redis://host:6379/0, rediss://host:6379/0 or sqlite:/path/to/file.db")),
            },
            Self::Queue { url } => match path_behind(&url, "sqlite:") {
                Some(path) => Ok(queue_routes(SqliteQueue::open(&path)?, limits)),
                None if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                    Ok(queue_routes(PostgresQueue::connect(&url, &limits).await?, limits))
                }
                None => Err(unknown("postgres://user@host/database or sqlite:/path/to/file.db")),
            },
            Self::Cron { url } => match path_behind(&url, "sqlite:") {
                Some(path) => Ok(cron_routes(SqliteCron::open(&path)?, limits)),
                None if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                    Ok(cron_routes(PostgresCron::connect(&url, &limits).await?, limits))
                }
                None => Err(unknown("postgres://user@host/database or sqlite:/path/to/file.db")),
            },
            Self::Storage { url, public_url } => match path_behind(&url, "file:") {
                Some(path) => {
                    let public_url = public_url.map(checked).transpose()?;
                    Ok(storage_routes(FolderStore::open_alone(&path)?, public_url, limits))
                }
                None => match url.strip_prefix("s3://") {
                    Some(_) if public_url.is_some() => {
                        Err(ServicesError::Config("--public-url is for a folder: S3 signs URLs of its own".to_string()))
                    }
                    Some(bucket) => Ok(storage_routes(s3(bucket).await?, None, limits)),
                    None => Err(unknown("s3://bucket or file:/path/to/folder")),
                },
            },
        }
    }
}

/// Only what is expected is said: what was given may be a password.
fn unknown(expected: &str) -> ServicesError {
    ServicesError::Config(format!("this kind of sidecar takes a URL such as {expected}"))
}

/// The base of signed URLs, without a slash at the end.
fn checked(public_url: String) -> Result<String, ServicesError> {
    let rest = public_url.strip_prefix("https://").or_else(|| public_url.strip_prefix("http://"));
    let is_base = rest.is_some_and(|rest| {
        let host = rest.split('/').next().unwrap_or("");
        !host.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>@".contains(&byte))
    });
    if is_base {
        Ok(public_url.trim_end_matches('/').to_owned())
    } else {
        Err(ServicesError::Config("--public-url takes an address such as https://files.example.com".to_string()))
    }
}

/// The path in `scheme:/path`, `scheme:path` or `scheme:///path`.
fn path_behind(url: &str, scheme: &str) -> Option<PathBuf> {
    let path = url.strip_prefix(scheme)?;
    Some(path.strip_prefix("//").unwrap_or(path).into()).filter(|path: &PathBuf| !path.as_os_str().is_empty())
}

/// Clients of Redis and S3 bring no cryptography of their own.
fn install_cryptography() {
    // An error means that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

async fn redis(url: &str, limits: &Limits) -> Result<ConnectionManager, ServicesError> {
    let fail = |reason: String| ServicesError::Backend { what: "Redis", reason };
    install_cryptography();
    let client = ::redis::Client::open(url).map_err(|_| fail("this is no URL of a Redis".into()))?;
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(limits.queue_timeout))
        .set_response_timeout(Some(limits.statement_timeout))
        .set_number_of_retries(2);
    ConnectionManager::new_with_config(client, config).await.map_err(|error| fail(error.to_string()))
}

async fn s3(bucket: &str) -> Result<S3Store, ServicesError> {
    let fail = |reason: String| ServicesError::Backend { what: "S3", reason };
    if bucket.is_empty() || bucket.contains('/') {
        return Err(unknown("s3://bucket, without a path"));
    }
    install_cryptography();
    let store =
        AmazonS3Builder::from_env().with_bucket_name(bucket).build().map_err(|error| fail(error.to_string()))?;
    let store = S3Store::new(store).map_err(fail)?;
    store.ping().await.map_err(fail)?;
    Ok(store)
}

fn sql_routes<S: SqlStore>(store: S, limits: Limits) -> (Router, Ping) {
    let asked = store.clone();
    (
        sql::routes(store, limits),
        ping_of(move || {
            let store = asked.clone();
            async move { store.ping().await }
        }),
    )
}

fn kv_routes<S: KvStore>(store: S, limits: Limits) -> (Router, Ping) {
    let asked = store.clone();
    (
        kv::routes(store, limits),
        ping_of(move || {
            let store = asked.clone();
            async move { store.ping().await }
        }),
    )
}

fn queue_routes<S: QueueStore>(store: S, limits: Limits) -> (Router, Ping) {
    let asked = store.clone();
    (
        queue::routes(store, limits),
        ping_of(move || {
            let store = asked.clone();
            async move { store.ping().await }
        }),
    )
}

fn cron_routes<S: CronStore>(store: S, limits: Limits) -> (Router, Ping) {
    let asked = store.clone();
    (
        cron::routes(Cron::new(store), limits),
        ping_of(move || {
            let store = asked.clone();
            async move { store.ping().await }
        }),
    )
}

fn storage_routes<S: BlobStore>(store: S, public_url: Option<String>, limits: Limits) -> (Router, Ping) {
    let asked = store.clone();
    (
        storage::routes(store, public_url, limits),
        ping_of(move || {
            let store = asked.clone();
            async move { store.ping().await }
        }),
    )
}

fn ping_of<F>(ask: impl Fn() -> F + Send + Sync + 'static) -> Ping
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    Arc::new(move || Box::pin(ask()))
}
