//! SQL as a kind of service.

use tenon_service::kind::{Dev, DevOpening, Flag, FlagValue, Kind, Opened, Opening, Store, check, path_of};
use tenon_service::{Limits, ServicesError, sqlite_file};

use super::postgres::PostgresSql;
use super::sqlite::SqliteSql;
use super::{SqlAccess, SqlStore, routes};

/// The kind.
pub static KIND: Kind = Kind {
    name: "sql",
    summary: "SQL from PostgreSQL or SQLite",
    variable: "DATABASE_URL",
    flags: &[
        Flag::new("readOnly", "read-only", FlagValue::Switch, "Refuse statements that write"),
        Flag::new("role", "role", FlagValue::Text, "The role whose rights statements have (PostgreSQL)"),
        Flag::new("tables", "tables", FlagValue::Names, "The only tables that statements may name, with commas"),
        Flag::POOL,
        Flag::new(
            "statementTimeoutMs",
            "statement-timeout",
            FlagValue::Number(1),
            "Milliseconds that a request's statements may take",
        ),
        Flag::new(
            "transactionIdleMs",
            "transaction-idle",
            FlagValue::Number(1),
            "Milliseconds between two statements of a transaction",
        ),
        Flag::new(
            "transactionTimeoutMs",
            "transaction-timeout",
            FlagValue::Number(1),
            "Milliseconds of a transaction in all",
        ),
        Flag::new("maxRows", "max-rows", FlagValue::Number(1), "Rows of one result"),
    ],
    check: check::<SqlAccess>,
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Some(Dev {
        name: "sql.db",
        open: |DevOpening { path, cache, limits, .. }| {
            let access = SqlAccess::default();
            Ok(routes(SqliteSql::open(path, access, limits.clone(), cache)?, limits.clone()))
        },
    }),
};

async fn postgres(opening: Opening) -> Result<Opened, ServicesError> {
    let access = opening.options()?;
    let Opening { url, files, limits, .. } = opening;
    Ok(opened(PostgresSql::connect(&url, access, &files, limits.clone()).await?, limits))
}

async fn sqlite(opening: Opening) -> Result<Opened, ServicesError> {
    let access: SqlAccess = opening.options()?;
    if access.role.is_some() {
        return Err(ServicesError::Config("--role is for PostgreSQL: SQLite has no roles".to_string()));
    }
    let Opening { url, files, limits, .. } = opening;
    let path = path_of(&url)?.to_path_buf();
    let (cache, of_store) = (files.cache, limits.clone());
    let store = sqlite_file::opened(move || SqliteSql::open(&path, access, of_store, cache.as_deref())).await?;
    Ok(opened(store, limits))
}

fn opened<S: SqlStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
