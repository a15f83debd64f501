//! Listening: on TCP or a Unix socket, until told to stop.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::guard::{self, Guard};
use super::metrics::{self, Metrics};
use super::problem;
use super::token::{self, Token};
use crate::ServicesError;

/// Wraps routes into what every server here has: guard, token, metrics and `/metrics`, problems.
pub(crate) fn app(routes: Router, guard: Guard, token: Option<Token>) -> Router {
    let metrics = Metrics::new();
    let mut app = routes
        .route("/metrics", get(metrics::read).with_state(metrics.clone()))
        .fallback(problem::no_such_path)
        .layer(from_fn(problem::explain_methods))
        .layer(from_fn(guard::sandbox))
        .layer(from_fn_with_state(metrics, metrics::count));
    if let Some(token) = token {
        app = app.layer(from_fn_with_state(token, token::check));
    }
    app.layer(from_fn_with_state(guard, guard::check))
}

/// What is listened on.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl Listener {
    pub(crate) async fn tcp(address: SocketAddr) -> Result<Self, ServicesError> {
        let listener = TcpListener::bind(address).await;
        Ok(Self::Tcp(listener.map_err(|source| ServicesError::listen(address.to_string(), source))?))
    }

    /// A Unix socket with the given mode. The file of a server that is gone is replaced; one that answers is left alone.
    pub(crate) fn unix(path: &Path, mode: u32) -> Result<Self, ServicesError> {
        let fail = |source| ServicesError::listen(path.display().to_string(), source);
        remove_stale(path).map_err(fail)?;
        // Bound beside its place and moved there once its mode is right: nobody connects in between.
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let _ = fs::remove_file(&beside);
        let listener = UnixListener::bind(&beside).map_err(fail)?;
        let placed = fs::set_permissions(&beside, fs::Permissions::from_mode(mode))
            .and_then(|()| fs::metadata(&beside))
            .and_then(|metadata| fs::rename(&beside, path).map(|()| metadata.ino()));
        match placed {
            Ok(inode) => Ok(Self::Unix(listener, SocketFile { path: path.to_path_buf(), inode })),
            Err(error) => {
                let _ = fs::remove_file(&beside);
                Err(fail(error))
            }
        }
    }
}

/// The file of a socket, which goes with it; not if another server has put its own there since.
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
    }
}

/// A server that runs.
pub(crate) struct Running {
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    address: Option<SocketAddr>,
}

impl Running {
    /// Serves `app` on `listener`; on stop, requests have `patience` to finish.
    pub(crate) fn start(listener: Listener, app: Router, patience: Duration) -> Self {
        let (stop, stopped) = watch::channel(false);
        let until = |mut stopped: watch::Receiver<bool>| async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        let (address, serving) = match listener {
            Listener::Tcp(listener) => {
                let address = listener.local_addr().ok();
                let served = axum::serve(listener, app).with_graceful_shutdown(until(stopped.clone()));
                (address, tokio::spawn(finish(served.into_future(), stopped, patience, None)))
            }
            Listener::Unix(listener, file) => {
                let served = axum::serve(listener, app).with_graceful_shutdown(until(stopped.clone()));
                (None, tokio::spawn(finish(served.into_future(), stopped, patience, Some(file))))
            }
        };
        Self { stop, serving, address }
    }

    /// The TCP address, with the real port when 0 was asked for.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops accepting, and returns when running requests have finished or their time is over.
    pub(crate) async fn close(self) {
        let _ = self.stop.send(true);
        let _ = self.serving.await;
    }
}

async fn finish(
    served: impl Future<Output = io::Result<()>>,
    mut stopped: watch::Receiver<bool>,
    patience: Duration,
    file: Option<SocketFile>,
) {
    let deadline = async {
        let _ = stopped.wait_for(|stop| *stop).await;
        // The name goes first: no new client may find a server that is closing.
        drop(file);
        tokio::time::sleep(patience).await;
    };
    tokio::select! {
        result = served => if let Err(error) = result { tracing::error!("serving failed: {error}") },
        () = deadline => tracing::warn!("requests were cut off that did not finish within {patience:?}"),
    }
}

/// `GET /health`: what answers, since when, and whether its store does.
#[derive(Clone)]
pub(crate) struct Health {
    kind: Arc<str>,
    started: Instant,
}

impl Health {
    pub(crate) fn new(kind: &str) -> Self {
        Self { kind: kind.into(), started: Instant::now() }
    }

    pub(crate) fn up(&self) -> serde_json::Value {
        serde_json::json!({
            "status": "ok", "kind": &*self.kind, "version": env!("CARGO_PKG_VERSION"),
            "uptime_s": (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        })
    }
}
