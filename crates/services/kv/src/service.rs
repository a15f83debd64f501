//! Key-value as a kind of service.

use tenon_service::kind::{Dev, DevOpening, Flag, Kind, Opened, Opening, Store, check, path_of};
use tenon_service::redis_link::{RedisLink, RedisNames};
use tenon_service::{Limits, ServicesError, sqlite_file};

use super::{KvStore, RedisKv, SqliteKv, routes};

/// The kind.
pub static KIND: Kind = Kind {
    name: "kv",
    summary: "keys from Redis or SQLite",
    variable: "REDIS_URL",
    flags: &[Flag::PREFIX],
    check: check::<RedisNames>,
    stores: &[Store::redis(|opening| Box::pin(redis(opening))), Store::sqlite(|opening| Box::pin(sqlite(opening)))],
    dev: Some(Dev {
        name: "kv.db",
        open: |DevOpening { path, cache, limits, .. }| Ok(routes(SqliteKv::open(path, limits, cache)?, limits.clone())),
    }),
};

async fn redis(opening: Opening) -> Result<Opened, ServicesError> {
    let RedisNames { prefix } = opening.options()?;
    let Opening { url, limits, .. } = opening;
    Ok(opened(RedisKv::new(RedisLink::connect(&url, &limits).await?, &prefix), limits))
}

async fn sqlite(Opening { url, files, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    let path = path_of(&url)?.to_path_buf();
    let (cache, of_store) = (files.cache, limits.clone());
    let store = sqlite_file::opened(move || SqliteKv::open(&path, &of_store, cache.as_deref())).await?;
    Ok(opened(store, limits))
}

fn opened<S: KvStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
