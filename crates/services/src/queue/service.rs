//! Queues as a kind of service.

use super::{PostgresQueue, QueueStore, RedisQueue, SqliteQueue, routes};
use crate::redis_link::RedisLink;
use crate::registry::{Dev, DevOpening, Kind, Opened, Opening, Store, path_of};
use crate::{Limits, ServicesError};

pub(crate) static KIND: Kind = Kind {
    name: "queue",
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::redis(|opening| Box::pin(redis(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Dev {
        name: "queue.db",
        open: |DevOpening { path, limits, .. }| Ok(routes(SqliteQueue::open(path)?, limits.clone()).into()),
    },
};

async fn postgres(Opening { url, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(PostgresQueue::connect(&url, &limits).await?, limits))
}

async fn redis(Opening { url, options, limits }: Opening) -> Result<Opened, ServicesError> {
    let link = RedisLink::connect(&url, &limits).await?;
    Ok(opened(RedisQueue::connect(link, &options.prefix).await?, limits))
}

async fn sqlite(Opening { url, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(SqliteQueue::open(path_of(&url)?)?, limits))
}

fn opened<S: QueueStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
