//! The development services: all kinds from one folder, for this machine only.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tenon_service::host::{Host, HostSlot};
use tenon_service::http::guard::Guard;
use tenon_service::http::serve::{Health, Listener, Running, app};
use tenon_service::kind::{Answers, Dev, DevOpening};
use tenon_service::{Limits, ServicesError};

use crate::kinds::KINDS;
use crate::page;

/// Options of the development services.
#[derive(Clone, Debug)]
pub struct DevOptions {
    /// The folder of all data; created when missing.
    pub folder: PathBuf,
    /// A loopback address.
    pub host: IpAddr,
    /// 0 takes a free port.
    pub port: u16,
    /// Deletes the folder's data first.
    pub fresh: bool,
    /// The folder of compiled code.
    pub cache: Option<PathBuf>,
    /// The limits of a request.
    pub limits: Limits,
}

/// The running development services.
pub struct DevServices {
    running: Running,
    host: HostSlot,
}

impl DevServices {
    /// Opens the folder and listens.
    ///
    /// # Errors
    ///
    /// A folder that cannot be used, an address that is not this machine's own, or one that is in use.
    pub async fn start(options: DevOptions) -> Result<Self, ServicesError> {
        let DevOptions { folder, host, port, fresh, cache, limits } = options;
        if !host.is_loopback() {
            let message =
                "the development services run every statement that they get, so they listen on a loopback address only";
            return Err(ServicesError::Config(message.to_string()));
        }
        // The address first, so that a second instance fails before it opens the same folder.
        let listener = Listener::tcp(SocketAddr::new(host, port)).await?;
        let slot = HostSlot::default();
        let opened = tokio::task::spawn_blocking({
            let (slot, limits) = (slot.clone(), limits.clone());
            move || open(&folder, fresh, slot, cache.as_deref(), &limits)
        });
        let parts = opened.await.map_err(|error| ServicesError::Config(error.to_string()))??;
        let routes = parts.into_iter().fold(Router::new(), Router::merge);
        let health = Health::new("development services");
        let routes =
            routes.merge(page::routes(slot.clone())).route("/health", get(|| async move { axum::Json(health.up()) }));
        let running = Running::start(listener, app(routes, Guard::Loopback, None, &Answers::Own), &limits);
        Ok(Self { running, host: slot })
    }

    /// Their URL, such as `http://127.0.0.1:9919`.
    #[must_use]
    pub fn url(&self) -> String {
        self.running.address().map_or_else(String::new, |address| format!("http://{address}"))
    }

    /// Passes the page its modules and requests, and cron the modules whose runs a consumer does; none removes them.
    pub fn attach(&self, host: Option<Arc<dyn Host>>) {
        self.host.set(host);
    }

    /// Stops, after running requests have finished or their time limit has passed.
    pub async fn close(self) {
        self.host.set(None);
        self.running.close().await;
    }
}

fn open(
    folder: &Path,
    fresh: bool,
    host: HostSlot,
    cache: Option<&Path>,
    limits: &Limits,
) -> Result<Vec<Router>, ServicesError> {
    let fail = |error: std::io::Error| ServicesError::Folder { path: folder.to_path_buf(), reason: error.to_string() };
    if fresh && folder.exists() {
        clear(folder).map_err(fail)?;
    }
    fs::create_dir_all(folder).map_err(fail)?;
    parts().map(|dev| (dev.open)(DevOpening { path: &folder.join(dev.name), host: &host, cache, limits })).collect()
}

fn parts() -> impl Iterator<Item = &'static Dev> {
    KINDS.into_iter().filter_map(|kind| kind.dev.as_ref())
}

/// Deletes the services' own data in a folder, and keeps other files.
fn clear(folder: &Path) -> std::io::Result<()> {
    let is_absent = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    for dev in parts() {
        let path = folder.join(dev.name);
        if path.is_dir() {
            fs::remove_dir_all(path)?;
            continue;
        }
        for suffix in ["", "-wal", "-shm"] {
            match fs::remove_file(folder.join(format!("{}{suffix}", dev.name))) {
                Err(error) if !is_absent(&error) => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}
