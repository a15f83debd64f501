//! Queues as a kind of service.

use super::{PostgresQueue, QueueStore, RedisQueue, SqliteQueue, routes};
use crate::redis_link::RedisLink;
use crate::registry::{Dev, DevOpening, Kind, Opened, Opening, Store, path_of};
use crate::{Limits, ServicesError, sqlite_file};

pub(crate) static KIND: Kind = Kind {
    name: "queue",
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::redis(|opening| Box::pin(redis(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Dev {
        name: "queue.db",
        open: |DevOpening { path, cache, limits, .. }| {
            Ok(routes(SqliteQueue::open(path, limits, cache)?, limits.clone()).into())
        },
    },
};

async fn postgres(Opening { url, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(PostgresQueue::connect(&url, &limits).await?, limits))
}

async fn redis(Opening { url, options, limits }: Opening) -> Result<Opened, ServicesError> {
    let link = RedisLink::connect(&url, &limits).await?;
    Ok(opened(RedisQueue::connect(link, &options.prefix).await?, limits))
}

async fn sqlite(Opening { url, options, limits }: Opening) -> Result<Opened, ServicesError> {
    let path = path_of(&url)?.to_path_buf();
    let (cache, of_store) = (options.parser.cache, limits.clone());
    let store = sqlite_file::opened(move || SqliteQueue::open(&path, &of_store, cache.as_deref())).await?;
    Ok(opened(store, limits))
}

fn opened<S: QueueStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
