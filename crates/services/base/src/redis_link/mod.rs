//! The link to Redis: one server, the master that sentinels name, or a cluster.
//!
//! A refused command has not run (its slot moved, its master became a replica or has not been replaced yet), so it is
//! sent again, for as long as a request may wait. A command whose connection broke is not, because it may have run.

mod cluster;
mod sentinel;
mod url;

use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, Value, cmd};
use serde::Deserialize;
use tokio::time::{Instant, sleep};

use cluster::Cluster;
pub use cluster::slot_of;
use sentinel::Sentinels;
use url::RedisAddress;

use crate::store_error::{StoreError, StoreFailure};
use crate::{Limits, ServicesError};

/// The first pause before resending a refused command; it doubles.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest such pause.
const MAX_PAUSE: Duration = Duration::from_millis(320);

/// Number of names that Redis visits in one step of a scan.
const SCANNED_AT_ONCE: usize = 1000;

/// The options of kinds on Redis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisNames {
    /// The prefix of all names.
    #[serde(default = "prefix")]
    pub prefix: String,
}

fn prefix() -> String {
    "tenon:".to_owned()
}

/// Redis. Cloning shares the connections.
#[derive(Clone)]
pub struct RedisLink {
    servers: Servers,
    /// Time for resending a refused command.
    wait: Duration,
}

#[derive(Clone)]
enum Servers {
    One(ConnectionManager),
    Sentinels(Sentinels),
    Cluster(Cluster),
}

impl RedisLink {
    /// Connects to the servers of a URL, and pings one of them.
    pub async fn connect(url: &str, limits: &Limits) -> Result<Self, ServicesError> {
        install_cryptography();
        let servers = match RedisAddress::parse(url).map_err(ServicesError::Config)? {
            RedisAddress::One => Servers::One(one(url, limits).await?),
            RedisAddress::Sentinels(place) => Servers::Sentinels(Sentinels::new(place, limits).map_err(no_link)?),
            RedisAddress::Cluster(place) => Servers::Cluster(Cluster::connect(place, limits).await.map_err(no_link)?),
        };
        let link = Self { servers, wait: limits.queue_timeout };
        link.send(&cmd("PING")).await.map_err(no_link)?;
        Ok(link)
    }

    /// Reports whether keys are spread over several servers, by their slots.
    pub fn has_slots(&self) -> bool {
        matches!(self.servers, Servers::Cluster(_))
    }

    /// Sends a command to the server of its keys.
    pub async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let deadline = Instant::now() + self.wait;
        let mut pause = PAUSE;
        loop {
            match self.send(command).await {
                Ok(answer) => return T::from_redis_value(answer).map_err(|error| failed(error.into())),
                Err(error) if !self.was_refused(&error) || Instant::now() + pause > deadline => {
                    return Err(failed(error));
                }
                Err(_) => sleep(pause).await,
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Visits each name that matches a pattern and exists throughout the scan, at least once.
    pub async fn scan(&self, pattern: &[u8], mut visit: impl FnMut(Vec<u8>) + Send) -> Result<(), StoreError> {
        if let Servers::Cluster(cluster) = &self.servers {
            return cluster.scan(pattern, &mut visit).await;
        }
        let mut cursor = 0;
        loop {
            let (next, names): (u64, Vec<Vec<u8>>) = self.ask(&scan_step(cursor, pattern)).await?;
            names.into_iter().for_each(&mut visit);
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    /// A section of `INFO`, from each server that has keys.
    pub async fn info(&self, section: &str) -> Result<Vec<String>, StoreError> {
        let mut command = cmd("INFO");
        command.arg(section);
        match &self.servers {
            Servers::Cluster(cluster) => cluster.ask_masters(&command).await,
            _ => self.ask(&command).await.map(|text| vec![text]),
        }
    }

    /// Asks whether all servers that have keys answer.
    pub async fn ping(&self) -> Result<(), StoreFailure> {
        let asked = match &self.servers {
            Servers::Cluster(cluster) => cluster.ping().await,
            _ => self.send(&cmd("PING")).await.map(drop),
        };
        asked.map_err(|error| StoreFailure::new(format_args!("Redis: {error}")))
    }

    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        match &self.servers {
            Servers::One(manager) => command.query_async(&mut manager.clone()).await,
            Servers::Sentinels(sentinels) => sentinels.send(command).await,
            Servers::Cluster(cluster) => cluster.send(command).await,
        }
    }

    /// Reports whether a command has not run, and may succeed on another server or a moment later.
    fn was_refused(&self, error: &RedisError) -> bool {
        use ServerErrorKind::{Ask, BusyLoading, ClusterDown, MasterDown, Moved, ReadOnly, TryAgain};
        if matches!(self.servers, Servers::One(_)) {
            return false;
        }
        match error.kind() {
            ErrorKind::Server(kind) => {
                matches!(kind, Ask | BusyLoading | ClusterDown | MasterDown | Moved | ReadOnly | TryAgain)
            }
            ErrorKind::ClusterConnectionNotFound | ErrorKind::MasterNameNotFoundBySentinel => true,
            ErrorKind::Io => error.is_connection_refusal(),
            _ => false,
        }
    }
}

/// The clients of Redis and S3 come without a cryptography provider.
pub fn install_cryptography() {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

async fn one(url: &str, limits: &Limits) -> Result<ConnectionManager, ServicesError> {
    let client = ::redis::Client::open(url).map_err(|_| {
        let reason = "this is not a URL of a Redis server".to_owned();
        ServicesError::Backend { what: "Redis", reason }
    })?;
    let address = client.get_connection_info().addr().to_string();
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(limits.queue_timeout))
        .set_response_timeout(Some(limits.statement_timeout))
        .set_number_of_retries(2);
    let failed = |error| ServicesError::Backend { what: "Redis", reason: format!("{address}: {error}") };
    ConnectionManager::new_with_config(client, config).await.map_err(failed)
}

fn no_link(error: RedisError) -> ServicesError {
    ServicesError::Backend { what: "Redis", reason: error.to_string() }
}

fn failed(error: RedisError) -> StoreError {
    match error.code() {
        // Redis' answer to a write beyond `maxmemory`.
        Some("OOM") => StoreError::Full,
        Some("CROSSSLOT") => StoreError::OtherSlot,
        _ => StoreFailure::new(format!("Redis: {error}")).into(),
    }
}

fn scan_step(cursor: u64, pattern: &[u8]) -> Cmd {
    let mut command = cmd("SCAN");
    command.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(SCANNED_AT_ONCE);
    command
}
