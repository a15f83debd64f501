//! The master that sentinels name, which changes with a failover.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use ::redis::{AsyncConnectionConfig, Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, TlsMode, Value};
use tokio::time::timeout;

use super::url::SentinelAddress;
use crate::Limits;

/// Sentinels, and the connection to the master. Cloning shares them.
#[derive(Clone)]
pub(super) struct Sentinels(Arc<Inner>);

struct Inner {
    client: tokio::sync::Mutex<SentinelClient>,
    current: Mutex<Current>,
    config: AsyncConnectionConfig,
    wait: Duration,
}

/// The connection to the master, and a number that distinguishes it from earlier ones.
#[derive(Default)]
struct Current {
    number: u64,
    connection: Option<MultiplexedConnection>,
}

impl Sentinels {
    pub(super) fn new(place: SentinelAddress, limits: &Limits) -> RedisResult<Self> {
        let SentinelAddress { sentinels, master, database, tls, login, sentinel_login } = place;
        let mut builder =
            SentinelClientBuilder::new(sentinels, master, SentinelServerType::Master)?.set_client_to_redis_db(database);
        if tls {
            builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
        }
        if let Some(user) = login.user {
            builder = builder.set_client_to_redis_username(user);
        }
        if let Some(password) = login.password {
            builder = builder.set_client_to_redis_password(password);
        }
        if let Some(user) = sentinel_login.user {
            builder = builder.set_client_to_sentinel_username(user);
        }
        if let Some(password) = sentinel_login.password {
            builder = builder.set_client_to_sentinel_password(password);
        }
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(limits.queue_timeout))
            .set_response_timeout(Some(limits.statement_timeout));
        let client = tokio::sync::Mutex::new(builder.build()?);
        Ok(Self(Arc::new(Inner { client, current: Mutex::default(), config, wait: limits.queue_timeout })))
    }

    /// Sends a command to the master. After an error of the connection, or of a master that became a replica, the next
    /// command asks the sentinels again.
    pub(super) async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let (number, mut connection) = self.master().await?;
        let sent = command.query_async(&mut connection).await;
        if let Err(error) = &sent
            && (error.is_io_error()
                || error.is_unrecoverable_error()
                || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly))
        {
            let mut current = self.current();
            if current.number == number {
                current.connection = None;
            }
        }
        sent
    }

    async fn master(&self) -> RedisResult<(u64, MultiplexedConnection)> {
        if let Some(found) = self.found() {
            return Ok(found);
        }
        let mut client = self.0.client.lock().await;
        if let Some(found) = self.found() {
            return Ok(found);
        }
        let asked = timeout(self.0.wait, client.get_async_connection_with_config(&self.0.config)).await;
        // Nothing was sent to the master, so the command may be sent again.
        let connection = asked.map_err(|_| no_master("they do not answer"))?.map_err(|error| {
            if error.kind() == ErrorKind::AuthenticationFailed { error } else { no_master(&error.to_string()) }
        })?;
        let mut current = self.current();
        *current = Current { number: current.number + 1, connection: Some(connection.clone()) };
        Ok((current.number, connection))
    }

    fn found(&self) -> Option<(u64, MultiplexedConnection)> {
        let current = self.current();
        current.connection.clone().map(|connection| (current.number, connection))
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_master(reason: &str) -> RedisError {
    (ErrorKind::MasterNameNotFoundBySentinel, "the sentinels give no master", reason.to_owned()).into()
}
