//! Queues as a kind of service.

use tenon_service::kind::{Dev, DevOpening, Flag, Kind, Opened, Opening, Store, check, path_of};
use tenon_service::redis_link::{RedisLink, RedisNames};
use tenon_service::{Limits, ServicesError, sqlite_file};

use super::{PostgresQueue, QueueStore, RedisQueue, SqliteQueue, routes};

/// The kind.
pub static KIND: Kind = Kind {
    name: "queue",
    summary: "queues in PostgreSQL, Redis or SQLite",
    variable: "DATABASE_URL",
    flags: &[Flag::PREFIX, Flag::POOL],
    check: check::<RedisNames>,
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::redis(|opening| Box::pin(redis(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Some(Dev {
        name: "queue.db",
        open: |DevOpening { path, cache, limits, .. }| {
            Ok(routes(SqliteQueue::open(path, limits, cache)?, limits.clone()))
        },
    }),
};

async fn postgres(Opening { url, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(PostgresQueue::connect(&url, &limits).await?, limits))
}

async fn redis(opening: Opening) -> Result<Opened, ServicesError> {
    let RedisNames { prefix } = opening.options()?;
    let Opening { url, limits, .. } = opening;
    let link = RedisLink::connect(&url, &limits).await?;
    Ok(opened(RedisQueue::connect(link, &prefix).await?, limits))
}

async fn sqlite(Opening { url, files, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    let path = path_of(&url)?.to_path_buf();
    let (cache, of_store) = (files.cache, limits.clone());
    let store = sqlite_file::opened(move || SqliteQueue::open(&path, &of_store, cache.as_deref())).await?;
    Ok(opened(store, limits))
}

fn opened<S: QueueStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
