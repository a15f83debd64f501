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
use tenon_connection::Budget;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::connection;
use super::guard::{self, Guard};
use super::metrics::{self, Metrics};
use super::problem;
use super::token::{self, Token};
use crate::{Limits, ServicesError};

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
    Unix { listener: UnixListener, _file: SocketFile },
}

impl Listener {
    pub(crate) async fn tcp(address: SocketAddr) -> Result<Self, ServicesError> {
        let listener = TcpListener::bind(address).await;
        Ok(Self::Tcp(listener.map_err(|source| ServicesError::listen(address.to_string(), source))?))
    }

    async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // A client that is gone already is seen by whoever reads.
                let _ = stream.set_nodelay(true);
                Box::new(stream)
            }
            Self::Unix { listener, .. } => Box::new(listener.accept().await?.0),
        })
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
            Ok(inode) => Ok(Self::Unix { listener, _file: SocketFile { path: path.to_path_buf(), inode } }),
            Err(error) => {
                let _ = fs::remove_file(&beside);
                Err(fail(error))
            }
        }
    }
}

/// A connection of either kind.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

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
    /// Serves `app` on `listener`; on stop, requests have some time to finish.
    pub(crate) fn start(listener: Listener, app: Router, limits: &Limits) -> Self {
        let (stop, stopped) = watch::channel(false);
        let address = match &listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix { .. } => None,
        };
        Self { stop, serving: tokio::spawn(serve(listener, app, stopped, limits.clone())), address }
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

/// How long is waited when no connection can be accepted, as when there are no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

async fn serve(listener: Listener, app: Router, mut stopped: watch::Receiver<bool>, limits: Limits) {
    let budget = Budget::new(limits.max_buffered_bytes);
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let mut connections = JoinSet::new();
    loop {
        // A connection beyond the limit waits in the system's queue.
        let accept = async {
            let place = Arc::clone(&places).acquire_owned().await.ok();
            listener.accept().await.map(|stream| (stream, place))
        };
        let accepted = tokio::select! {
            accepted = accept => accepted,
            Some(_) = connections.join_next() => continue,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, place)) => {
                // Clients are runtimes, which share what there is: no one of them has a part of its own.
                let serving =
                    connection::serve(stream, app.clone(), limits.clone(), budget.unshared(), stopped.clone());
                connections.spawn(async move {
                    serving.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!("no connection can be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    // The name goes first: no new client may find a server that is closing.
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.shutdown_timeout, ended).await.is_err() {
        tracing::warn!("requests were cut off that did not finish within {:?}", limits.shutdown_timeout);
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
