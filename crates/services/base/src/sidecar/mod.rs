//! A sidecar: one kind of service for production, which holds the credentials that modules never see.

mod backend;
mod listen;

use std::time::Duration;

use axum::Router;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;

use crate::http::connection::Local;
use crate::http::guard::Guard;
use crate::http::problem::Problem;
use crate::http::serve::{Health, Running, app};
use crate::http::token::Token;
use crate::kind::{Answers, Opened, Ping};
use crate::{Limits, ServicesError};
pub use backend::Backend;
pub use listen::Listen;
use listen::Reach;

/// Time that `/health` waits for the store.
const PING_TIMEOUT: Duration = Duration::from_secs(2);

/// Options of a sidecar.
pub struct SidecarOptions {
    /// Its kind and store.
    pub backend: Backend,
    /// Its address.
    pub listen: Listen,
    /// The bearer token that every request but `/health` must have; none requires none.
    pub token: Option<String>,
    /// Listens without a token where other machines reach it.
    pub insecure: bool,
    /// The limits of a request.
    pub limits: Limits,
}

/// A running sidecar.
pub struct Sidecar {
    running: Running,
    address: String,
}

impl Sidecar {
    /// Connects to the store and listens.
    ///
    /// # Errors
    ///
    /// An unreachable store, or an address that cannot be used. No error contains a password.
    pub async fn start(options: SidecarOptions) -> Result<Self, ServicesError> {
        let SidecarOptions { backend, listen, token, insecure, limits } = options;
        if token.as_ref().is_some_and(String::is_empty) {
            return Err(ServicesError::Config("the token must not be empty".to_string()));
        }
        let reach = if token.is_some() || insecure { Reach::Everyone } else { Reach::ThisMachine };
        let place = listen.resolve(reach).await?;
        let (routes, answers) = open(backend, &limits).await?;
        let (listener, guard, shown) = place.bind().await?;
        let app = app(routes, guard, token.as_deref().map(Token::new), &answers);
        let running = Running::start(listener, app, &limits);
        let address = match running.address() {
            Some(address) => format!("http://{address}"),
            None => shown,
        };
        Ok(Self { running, address })
    }

    /// Its address in the form of `tenon.toml`: `http://127.0.0.1:7001` or `unix:///run/db.sock`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Stops, after running requests have finished or their time limit has passed. A socket's file is deleted.
    pub async fn close(self) {
        self.running.close().await;
    }
}

/// A sidecar in this process, which does not listen. Cloning shares it; the last clone closes its store.
#[derive(Clone)]
pub struct InProcessSidecar(Local);

impl InProcessSidecar {
    /// Connects to the store.
    ///
    /// # Errors
    ///
    /// An unreachable store. No error contains a password.
    pub async fn open(backend: Backend, limits: Limits) -> Result<Self, ServicesError> {
        let (routes, answers) = open(backend, &limits).await?;
        Ok(Self(Local::new(app(routes, guard_of(false), None, &answers), &limits)))
    }

    /// Answers a request as a sidecar on a socket does. Its URI needs no more than a path. Dropping the future
    /// cancels the request.
    pub async fn answer<B>(self, request: Request<B>) -> Response
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<axum::BoxError>,
    {
        self.0.answer(request).await
    }
}

/// Connects to a store, and makes its routes.
async fn open(backend: Backend, limits: &Limits) -> Result<(Router, Answers), ServicesError> {
    let kind = backend.kind();
    let Opened { routes, ping, answers } = backend.open(limits.clone()).await?;
    Ok((with_health(routes, Health::new(kind), ping), answers))
}

fn with_health(routes: Router, health: Health, ping: Ping) -> Router {
    let check = || async move {
        let failed = match tokio::time::timeout(PING_TIMEOUT, ping()).await {
            Ok(Ok(())) => return axum::Json(health.up()).into_response(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", PING_TIMEOUT.as_secs()),
        };
        tracing::warn!("the store does not answer: {failed}");
        unavailable()
    };
    routes.route("/health", get(check))
}

fn unavailable() -> Response {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the store behind this sidecar does not answer").into_response()
}

/// The guard of a listener: host names matter where a browser can reach it.
fn guard_of(loopback: bool) -> Guard {
    if loopback { Guard::Loopback } else { Guard::NoBrowser }
}
