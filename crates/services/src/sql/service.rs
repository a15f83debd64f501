//! SQL as a kind of service.

use super::postgres::PostgresSql;
use super::sqlite::SqliteSql;
use super::{SqlAccess, SqlStore, routes};
use crate::registry::{Dev, Kind, Opened, Opening, Store, path_of};
use crate::{Limits, ServicesError};

pub(crate) static KIND: Kind = Kind {
    name: "sql",
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Dev {
        name: "sql.db",
        open: |path, _, limits| {
            Ok(routes(SqliteSql::open(path, SqlAccess::default(), limits.clone())?, limits.clone()).into())
        },
    },
};

async fn postgres(Opening { url, options, limits }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(PostgresSql::connect(&url, options.access, &options.parser, limits.clone()).await?, limits))
}

async fn sqlite(Opening { url, options, limits }: Opening) -> Result<Opened, ServicesError> {
    if options.access.role.is_some() {
        return Err(ServicesError::Config("--role is for PostgreSQL: SQLite has no roles".to_string()));
    }
    Ok(opened(SqliteSql::open(path_of(&url)?, options.access, limits.clone())?, limits))
}

fn opened<S: SqlStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
