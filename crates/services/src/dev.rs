//! The development services: everything at once, out of one folder, for this machine only.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::task::JoinHandle;

use crate::cron::HostSlot;
use crate::http::guard::Guard;
use crate::http::serve::{Health, Listener, Running, app};
use crate::registry::{DevPart, KINDS};
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
    clocks: Vec<JoinHandle<()>>,
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
        let parts = opened.await.map_err(|error| ServicesError::Config(error.to_string()))??;
        let (routes, clocks): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.routes, part.clock)).unzip();
        let routes = routes.into_iter().fold(Router::new(), Router::merge);
        let health = Health::new("development services");
        let routes =
            routes.merge(page::routes(slot.clone())).route("/health", get(|| async move { axum::Json(health.up()) }));
        let running = Running::start(listener, app(routes, Guard::Loopback, None), &limits);
        let clocks = clocks.into_iter().flatten().map(|start| start()).collect();
        Ok(Self { running, clocks, host: slot })
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
        self.clocks.iter().for_each(JoinHandle::abort);
        self.host.set(None);
        self.running.close().await;
    }
}

fn open(folder: &Path, fresh: bool, host: HostSlot, limits: &Limits) -> Result<Vec<DevPart>, ServicesError> {
    let fail = |error: std::io::Error| ServicesError::Folder { path: folder.to_path_buf(), reason: error.to_string() };
    if fresh && folder.exists() {
        clear(folder).map_err(fail)?;
    }
    fs::create_dir_all(folder).map_err(fail)?;
    KINDS.iter().map(|kind| (kind.dev.open)(&folder.join(kind.dev.name), &host, limits)).collect()
}

/// Deletes what the services have made in a folder, and nothing else of it.
fn clear(folder: &Path) -> std::io::Result<()> {
    let is_absent = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    for kind in KINDS {
        let path = folder.join(kind.dev.name);
        if path.is_dir() {
            fs::remove_dir_all(path)?;
            continue;
        }
        for suffix in ["", "-wal", "-shm"] {
            match fs::remove_file(folder.join(format!("{}{suffix}", kind.dev.name))) {
                Err(error) if !is_absent(&error) => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}
