//! The development services: everything at once, out of one folder, for this machine only.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::task::JoinHandle;

use crate::cron::{self, Cron, HostSlot, SqliteCron};
use crate::http::guard::Guard;
use crate::http::serve::{Health, Listener, Running, app};
use crate::kv::{self, SqliteKv};
use crate::queue::{self, SqliteQueue};
use crate::sql::sqlite::SqliteSql;
use crate::sql::{self, SqlAccess};
use crate::storage::{self, FolderStore};
use crate::{Host, Limits, ServicesError, page};

/// What the development services are told.
#[derive(Clone, Debug)]
pub struct DevOptions {
    /// Where everything is kept; it is made when it is not there.
    pub folder: PathBuf,
    /// A loopback address.
    pub host: IpAddr,
    /// 0 takes a free port.
    pub port: u16,
    /// Begin with nothing: what the folder holds is deleted.
    pub fresh: bool,
    /// The bounds of a request.
    pub limits: Limits,
}

/// The development services, while they run.
pub struct DevServices {
    running: Running,
    clock: JoinHandle<()>,
    host: HostSlot,
}

impl DevServices {
    /// Opens the folder and listens.
    ///
    /// # Errors
    ///
    /// A folder that cannot be used, an address that is not this machine's own, or one that is in use.
    pub async fn start(options: DevOptions) -> Result<Self, ServicesError> {
        let DevOptions { folder, host, port, fresh, limits } = options;
        if !host.is_loopback() {
            let message = "the development services run what they are told and so listen on a loopback address only";
            return Err(ServicesError::Config(message.to_string()));
        }
        // First of all the address: two at once in one folder is no state to begin with.
        let listener = Listener::tcp(SocketAddr::new(host, port)).await?;
        let slot = HostSlot::default();
        let opened = tokio::task::spawn_blocking({
            let (slot, limits) = (slot.clone(), limits.clone());
            move || open(&folder, fresh, slot, &limits)
        });
        let (routes, cron) = opened.await.map_err(|error| ServicesError::Config(error.to_string()))??;
        let health = Health::new("development services");
        let routes =
            routes.merge(page::routes(slot.clone())).route("/health", get(|| async move { axum::Json(health.up()) }));
        let running = Running::start(listener, app(routes, Guard::Loopback, None), &limits);
        Ok(Self { running, clock: cron.start(), host: slot })
    }

    /// Where they listen, such as `http://127.0.0.1:9919`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.address().map_or_else(String::new, |address| format!("http://{address}"))
    }

    /// Gives the page its modules and requests, and cron its modules to call; none takes them away again.
    pub fn attach(&self, host: Option<Arc<dyn Host>>) {
        self.host.set(host);
    }

    /// Stops, when running requests have finished or their time is over.
    pub async fn close(self) {
        self.clock.abort();
        self.host.set(None);
        self.running.close().await;
    }
}

fn open(
    folder: &Path,
    fresh: bool,
    host: HostSlot,
    limits: &Limits,
) -> Result<(Router, Cron<SqliteCron>), ServicesError> {
    let fail = |error: std::io::Error| ServicesError::Folder { path: folder.to_path_buf(), reason: error.to_string() };
    if fresh && folder.exists() {
        clear(folder).map_err(fail)?;
    }
    fs::create_dir_all(folder).map_err(fail)?;
    let kv = SqliteKv::open(&folder.join("kv.db"))?;
    let sql = SqliteSql::open(&folder.join("sql.db"), SqlAccess::default(), limits.clone())?;
    let storage = FolderStore::open(&folder.join("storage"))?;
    let queue = SqliteQueue::open(&folder.join("queue.db"))?;
    let cron = Cron::open(&folder.join("cron.db"), host)?;
    let routes = kv::routes(kv, limits.clone())
        .merge(sql::routes(sql, limits.clone()))
        .merge(storage::routes(storage, None, limits.clone()))
        .merge(queue::routes(queue, limits.clone()))
        .merge(cron::routes(cron.clone(), limits.clone()));
    Ok((routes, cron))
}

/// Deletes what the services have made in a folder, and nothing else of it.
fn clear(folder: &Path) -> std::io::Result<()> {
    for name in ["kv.db", "sql.db", "queue.db", "cron.db"] {
        for suffix in ["", "-wal", "-shm"] {
            match fs::remove_file(folder.join(format!("{name}{suffix}"))) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    match fs::remove_dir_all(folder.join("storage")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
