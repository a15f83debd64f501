//! Listening on TCP or a Unix socket, until the stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use tenon_http_server::{Bounds, Budget, Listen, Serve, Serving};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::watch;

use super::connection;
use super::guard::{self, Guard};
use super::metrics::{self, Metrics};
use super::problem;
use super::token::{self, Token};
#[cfg(unix)]
use super::unix_socket::SocketFile;
use crate::kind::Answers;
use crate::{Limits, ServicesError};

/// Adds the layers of every server here: guard, token, metrics and `/metrics`, problems. Answers of others are passed on as
/// they come, to programs alone.
pub fn app(routes: Router, guard: Guard, token: Option<Token>, answers: &Answers) -> Router {
    let metrics = Metrics::new(answers);
    let read = get(metrics::read).with_state(metrics.clone());
    let is_own = matches!(answers, Answers::Own);
    let mut app = routes.route("/metrics", read);
    if is_own {
        app =
            app.fallback(problem::no_such_path).layer(from_fn(problem::explain_methods)).layer(from_fn(guard::sandbox));
    }
    app = app.layer(from_fn_with_state(metrics, metrics::count));
    match token {
        Some(token) if is_own => app = app.layer(from_fn_with_state(token, token::check)),
        Some(token) => app = app.layer(from_fn_with_state(token, token::check_and_remove)),
        None => {}
    }
    if !is_own {
        app = app.layer(from_fn(guard::refuse_pages));
    }
    app.layer(from_fn_with_state(guard, guard::check))
}

/// A listening socket.
pub enum Listener {
    /// A TCP socket.
    Tcp(TcpListener),
    /// A Unix socket.
    #[cfg(unix)]
    Unix {
        /// The socket.
        listener: UnixListener,
        /// Its file, which is deleted with it.
        file: SocketFile,
    },
}

impl Listener {
    /// A TCP socket at an address.
    pub async fn tcp(address: SocketAddr) -> Result<Self, ServicesError> {
        let listener = TcpListener::bind(address).await;
        Ok(Self::Tcp(listener.map_err(|source| ServicesError::listen(address.to_string(), source))?))
    }
}

impl Listen for Listener {
    type Connection = Box<dyn Stream>;

    async fn accept(&self) -> io::Result<Self::Connection> {
        Ok(match self {
            Self::Tcp(listener) => Box::new(Listen::accept(listener).await?.0),
            #[cfg(unix)]
            Self::Unix { listener, .. } => Box::new(Listen::accept(listener).await?),
        })
    }

    fn close(self) -> Vec<Self::Connection> {
        fn boxed(stream: impl Stream + 'static) -> Box<dyn Stream> {
            Box::new(stream)
        }
        match self {
            Self::Tcp(listener) => Listen::close(listener).into_iter().map(|(stream, _)| boxed(stream)).collect(),
            #[cfg(unix)]
            Self::Unix { listener, file } => {
                // No new client finds a closing server.
                drop(file);
                Listen::close(listener).into_iter().map(boxed).collect()
            }
        }
    }
}

/// A connection of either kind.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A running server.
pub struct Running {
    serving: Serving,
    address: Option<SocketAddr>,
}

impl Running {
    /// Serves `app` on `listener`; at the stop, requests have some time to finish.
    pub fn start(listener: Listener, app: Router, limits: &Limits) -> Self {
        let address = match &listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(unix)]
            Listener::Unix { .. } => None,
        };
        let bounds = Bounds { max_connections: limits.max_connections, shutdown_timeout: limits.shutdown_timeout };
        let (limits, budget) = (limits.clone(), Budget::new(limits.max_buffered_bytes));
        let serving = Serving::start(listener, bounds, |stopped| Clients { app, limits, budget, stopped });
        Self { serving, address }
    }

    /// The TCP address, with the real port when 0 was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops accepting, and returns when running requests have finished or their time limit has passed.
    pub async fn close(self) {
        self.serving.close().await;
    }
}

/// The application that the connections of a listener ask.
struct Clients {
    app: Router,
    limits: Limits,
    budget: Budget,
    stopped: watch::Receiver<bool>,
}

impl Serve<Box<dyn Stream>> for Clients {
    fn serve(self: Arc<Self>, stream: Box<dyn Stream>) -> Option<impl Future<Output = ()> + Send + 'static> {
        // Clients are runtimes, which share the budget without a share for each.
        let account = self.budget.unshared();
        Some(connection::serve(stream, self.app.clone(), self.limits.clone(), account, self.stopped.clone()))
    }
}

/// `GET /health`: the service's name, its uptime, and the state of its store.
#[derive(Clone)]
pub struct Health {
    kind: Arc<str>,
    started: Instant,
}

impl Health {
    /// Starts the clock of a kind of service.
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.into(), started: Instant::now() }
    }

    /// The answer of a service whose store responds.
    pub fn up(&self) -> serde_json::Value {
        serde_json::json!({
            "status": "ok", "kind": &*self.kind, "version": env!("CARGO_PKG_VERSION"),
            "uptime_s": (self.started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        })
    }
}
