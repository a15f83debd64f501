//! Serving a runtime on a TCP listener: HTTP/1.1 with keep-alive and HTTP/2, with TLS when it is configured, and a
//! shutdown that lets running requests finish.

mod connection;

use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::os::fd::AsFd;
#[cfg(windows)]
use std::os::windows::io::AsSocket;
use std::time::Duration;

use tenon_http_server::{Bounds, Serving};
use tokio::net::TcpListener;

use crate::config::{ms, size};
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
        self.serve(listener, Audience::All)
    }

    /// Serves `/metrics`, `/health` and `/ready` on `listener`, without TLS, and nothing else. The other listeners answer 404 for
    /// `/metrics` from now on.
    #[must_use]
    pub fn listen_for_operations(&self, listener: TcpListener) -> Server {
        self.serve(listener, Audience::Operations)
    }

    /// Serves `listener`. On a loopback address, it refuses requests that name another host than this machine, because
    /// pages of other sites must not call a module in development (DNS rebinding).
    #[must_use]
    pub fn listen_locally(&self, listener: TcpListener) -> Server {
        self.serve(listener, Audience::Local)
    }

    /// Serves the socket of another runtime's server, for the same clients. Both serve it until that one is closed, so
    /// no connection is refused.
    ///
    /// # Errors
    ///
    /// An I/O error, when the system does not take the socket.
    pub fn take_over(&self, Socket { listener, audience }: Socket) -> io::Result<Server> {
        Ok(self.serve(TcpListener::from_std(listener)?, audience))
    }

    fn serve(&self, listener: TcpListener, audience: Audience) -> Server {
        let is_public = audience != Audience::Operations;
        if !is_public {
            self.note_operations();
        }
        let address = listener.local_addr().ok();
        #[cfg(unix)]
        let copy = listener.as_fd().try_clone_to_owned();
        #[cfg(windows)]
        let copy = listener.as_socket().try_clone_to_owned();
        let socket = copy.map(|listener| Socket { listener: listener.into(), audience });
        let local = audience == Audience::Local && address.is_some_and(|address| address.ip().is_loopback());
        let (runtime, limits) = (self.clone(), self.limits().clone());
        let tls = if is_public { self.tls() } else { None };
        let bounds =
            Bounds { max_connections: size(limits.max_connections), shutdown_timeout: ms(limits.shutdown_timeout_ms) };
        let serving =
            Serving::start(listener, bounds, |stopped| Connections { runtime, limits, tls, stopped, local, is_public });
        Server { address, socket, serving }
    }
}

/// The socket of a server, for [`Runtime::take_over`].
pub struct Socket {
    listener: std::net::TcpListener,
    audience: Audience,
}

/// A listener that is being served.
pub struct Server {
    address: Option<SocketAddr>,
    socket: io::Result<Socket>,
    serving: Serving,
}

impl Server {
    /// The address that is listened on; its port is the real one when 0 was asked for.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns the socket for another runtime. It accepts connections until both servers are closed.
    ///
    /// # Errors
    ///
    /// An I/O error, when the process can open no further file.
    pub fn socket(&self) -> io::Result<Socket> {
        let Socket { listener, audience } = self.socket.as_ref().map_err(|error| error.kind())?;
        Ok(Socket { listener: listener.try_clone()?, audience: *audience })
    }

    /// Stops accepting, waits for running requests within the shutdown time, and closes the remaining connections.
    pub async fn close(self) {
        // An open copy would go on accepting.
        drop(self.socket);
        self.serving.close().await;
    }
}

#[cfg(test)]
pub(crate) mod tests;
