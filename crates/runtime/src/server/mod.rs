//! Serving a runtime on a TCP listener: HTTP/1.1 with keep-alive and HTTP/2, with TLS when it is configured, and a
//! shutdown that lets running requests finish.

mod connection;

use std::net::SocketAddr;
use std::time::Duration;

use tenon_http_server::{Bounds, Serving};
use tokio::net::TcpListener;

use crate::config::tls::Tls;
use crate::config::{Limits, ms, size};
use crate::runtime::Runtime;
use connection::Connections;

/// Time after its start for which a connection that has sent nothing yet is waited for when the server closes: its request may
/// be under way.
const FIRST_BYTES: Duration = Duration::from_millis(500);

/// The clients that a listener is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// All that can reach it.
    All,
    /// Those that name this machine, where its address is a loopback one.
    Local,
    /// Those that watch over the server.
    Operations,
}

impl Runtime {
    /// Serves `listener` until the returned server is closed.
    #[must_use]
    pub fn listen(&self, listener: TcpListener) -> Server {
        Server::start(self.clone(), listener, self.limits(), self.tls(), Audience::All)
    }

    /// Serves `/metrics`, `/health` and `/ready` on `listener`, without TLS, and nothing else. The other listeners answer 404 for
    /// `/metrics` from now on.
    #[must_use]
    pub fn listen_for_operations(&self, listener: TcpListener) -> Server {
        self.note_operations();
        Server::start(self.clone(), listener, self.limits(), None, Audience::Operations)
    }

    /// Serves `listener`. On a loopback address, it refuses requests that name another host than this machine, because
    /// pages of other sites must not call a module in development (DNS rebinding).
    #[must_use]
    pub fn listen_locally(&self, listener: TcpListener) -> Server {
        Server::start(self.clone(), listener, self.limits(), self.tls(), Audience::Local)
    }
}

/// A listener that is being served.
pub struct Server {
    address: Option<SocketAddr>,
    serving: Serving,
}

impl Server {
    /// Serves a listener.
    pub(crate) fn start(
        runtime: Runtime,
        listener: TcpListener,
        limits: &Limits,
        tls: Option<Tls>,
        audience: Audience,
    ) -> Self {
        let address = listener.local_addr().ok();
        let local = audience == Audience::Local && address.is_some_and(|address| address.ip().is_loopback());
        let bounds =
            Bounds { max_connections: size(limits.max_connections), shutdown_timeout: ms(limits.shutdown_timeout_ms) };
        let (limits, is_public) = (limits.clone(), audience != Audience::Operations);
        let serving =
            Serving::start(listener, bounds, |stopped| Connections { runtime, limits, tls, stopped, local, is_public });
        Self { address, serving }
    }

    /// The address that is listened on; its port is the real one when 0 was asked for.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops accepting, waits for running requests within the shutdown time, and closes the remaining connections.
    pub async fn close(self) {
        self.serving.close().await;
    }
}

#[cfg(test)]
pub(crate) mod tests;
