//! SQL as a kind of service.

use super::postgres::PostgresSql;
use super::sqlite::SqliteSql;
use super::{SqlAccess, SqlStore, routes};
use crate::registry::{Dev, DevOpening, Kind, Opened, Opening, Store, path_of};
use crate::{Limits, ServicesError, sqlite_file};

pub(crate) static KIND: Kind = Kind {
    name: "sql",
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Dev {
        name: "sql.db",
        open: |DevOpening { path, cache, limits, .. }| {
            let access = SqlAccess::default();
            Ok(routes(SqliteSql::open(path, access, limits.clone(), cache)?, limits.clone()).into())
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
    let path = path_of(&url)?.to_path_buf();
    let (access, cache, of_store) = (options.access, options.parser.cache, limits.clone());
    let store = sqlite_file::opened(move || SqliteSql::open(&path, access, of_store, cache.as_deref())).await?;
    Ok(opened(store, limits))
}

fn opened<S: SqlStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
