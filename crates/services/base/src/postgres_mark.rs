//! A setting of a connection to PostgreSQL that shows whether settings reach the server.
//!
//! A proxy such as PgBouncer in transaction mode passes sessions from one client to the next, and drops the settings of
//! connections. One client would run statements that another has prepared.

use sqlx::postgres::{PgConnectOptions, PgConnection};

use crate::lease::secret_id;

/// The server keeps unknown settings whose name has two parts.
const SETTING: &str = "tenon.connection";

const READ: &str = "SELECT pg_catalog.current_setting('tenon.connection', true)";

const DROPPED_SETTINGS: &str = "the server has not taken the settings of the connection: a proxy such as PgBouncer is in \
     between; give the address of PostgreSQL itself";

/// A value of the setting that is unique to this process.
#[derive(Clone, Debug)]
pub struct Mark(String);

impl Mark {
    /// Adds a mark to the settings of connections.
    ///
    /// # Errors
    ///
    /// The system has no randomness.
    pub fn on(options: PgConnectOptions) -> Result<(PgConnectOptions, Self), sqlx::Error> {
        let mark = secret_id()?;
        Ok((options.options([(SETTING, mark.as_str())]), Self(mark)))
    }

    /// Checks that a new connection has its settings.
    ///
    /// # Errors
    ///
    /// Fails with the database's error, or when the mark is missing.
    pub async fn check(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let found: Option<String> = sqlx::query_scalar(READ).persistent(false).fetch_one(connection).await?;
        if found.as_ref() == Some(&self.0) { Ok(()) } else { Err(sqlx::Error::Configuration(DROPPED_SETTINGS.into())) }
    }
}
