//! Cron as a kind of service.

use tenon_service::kind::NoOptions;
use tenon_service::kind::{Dev, DevOpening, Flag, Kind, Opened, Opening, Store, check, path_of};
use tenon_service::{Limits, ServicesError, sqlite_file};

use super::store::CronStore;
use super::{Cron, PostgresCron, SqliteCron, routes};

/// The kind.
pub static KIND: Kind = Kind {
    name: "cron",
    summary: "cron jobs in PostgreSQL or SQLite",
    variable: "DATABASE_URL",
    flags: &[Flag::POOL],
    check: check::<NoOptions>,
    stores: &[
        Store::postgres(|opening| Box::pin(postgres(opening))),
        Store::sqlite(|opening| Box::pin(sqlite(opening))),
    ],
    dev: Some(Dev {
        name: "cron.db",
        open: |DevOpening { path, host, cache, limits }| {
            let cron = Cron::open(path, host.clone(), limits, cache)?;
            Ok(routes(cron, limits.clone()))
        },
    }),
};

async fn postgres(Opening { url, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    Ok(opened(PostgresCron::connect(&url, &limits).await?, limits))
}

async fn sqlite(Opening { url, files, limits, .. }: Opening) -> Result<Opened, ServicesError> {
    let path = path_of(&url)?.to_path_buf();
    let (cache, of_store) = (files.cache, limits.clone());
    let store = sqlite_file::opened(move || SqliteCron::open(&path, &of_store, cache.as_deref())).await?;
    Ok(opened(store, limits))
}

fn opened<S: CronStore>(store: S, limits: Limits) -> Opened {
    Opened::new(store.clone(), routes(Cron::new(store), limits), |store| async move { store.ping().await })
}
