//! Key-value as a kind of service.

use super::{KvStore, RedisKv, SqliteKv, routes};
use crate::redis_link::RedisLink;
use crate::registry::{Dev, DevOpening, Kind, Opened, Opening, Store, path_of};
use crate::{Limits, ServicesError};

pub(crate) static KIND: Kind = Kind {
    name: "kv",
    stores: &[Store::redis(|opening| Box::pin(redis(opening))), Store::sqlite(|opening| Box::pin(sqlite(opening)))],
    dev: Dev {
        name: "kv.db",
        open: |DevOpening { path, limits, .. }| Ok(routes(SqliteKv::open(path)?, limits.clone()).into()),
    },
};

async fn redis(Opening { url, options, limits }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(RedisKv::new(RedisLink::connect(&url, &limits).await?, &options.prefix), limits))
}

async fn sqlite(Opening { url, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(SqliteKv::open(path_of(&url)?)?, limits))
}

fn opened<S: KvStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(store, limits), |store| async move { store.ping().await })
}
