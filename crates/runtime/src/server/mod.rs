//! Serving a runtime on a TCP listener: HTTP/1.1 with keep-alive and HTTP/2, with TLS when it is configured, and a
//! shutdown that lets running requests finish.

mod connection;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::Runtime;
use crate::config::{Limits, ms, size};
use connection::Connections;

pub(crate) use tls::Tls;

/// How long accepting pauses when the system is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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

/// The requests that a listener answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    /// All.
    Everything,
    /// All but `/metrics`, which has a listener of its own.
    Modules,
    /// `/metrics`, `/health` and `/ready`.
    Operations,
}

/// A listener that is being served.
pub struct Server {
    address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
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
        let (stop, stopped) = watch::channel(false);
        let limits = limits.clone();
        let connections =
            Arc::new(Connections { runtime, limits, tls, stopped, local, is_public: audience != Audience::Operations });
        let serving = tokio::spawn(serve(connections, listener));
        Self { address, stop, serving }
    }

    /// The address that is listened on; its port is the real one when 0 was asked for.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops accepting, waits for running requests within the shutdown time, and closes the remaining connections.
    pub async fn close(self) {
        // The receiver is gone only when serving has ended already.
        let _ = self.stop.send(true);
        let _ = self.serving.await;
    }
}

async fn serve(connections: Arc<Connections>, listener: TcpListener) {
    let mut stopped = connections.stopped.clone();
    let places = Arc::new(Semaphore::new(size(connections.limits.max_connections)));
    let mut tasks = JoinSet::new();
    loop {
        // A connection beyond the limit waits in the system's queue.
        let accept = async {
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (listener.accept().await, place)
        };
        tokio::select! {
            (accepted, place) = accept => match accepted {
                Ok((stream, peer)) => connections.begin_serving(&mut tasks, stream, peer.ip(), place),
                Err(error) => pause_after(&error).await,
            },
            _ = stopped.changed() => break,
            Some(_) = tasks.join_next() => {}
        }
    }
    // The system has accepted these already, and would reset them.
    let accepted = listener.into_std().map(|listener| accepted(&listener)).unwrap_or_default();
    for (stream, peer) in accepted {
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { break };
        connections.begin_serving(&mut tasks, stream, peer.ip(), Some(place));
    }
    let shutdown_timeout = ms(connections.limits.shutdown_timeout_ms);
    let ended = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(shutdown_timeout, ended).await.is_err() {
        tracing::warn!("requests were cut off that did not finish within {shutdown_timeout:?}");
    }
    tasks.shutdown().await;
    // Tells modules that the clients of their streamed responses are gone.
    connections.runtime.streams_ended().await;
}

/// The connections that wait to be accepted. The listener does not block.
fn accepted(listener: &std::net::TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    let next = || {
        let (stream, peer) = listener.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(stream).ok()?, peer))
    };
    std::iter::from_fn(next).collect()
}

/// Pauses after a failed accept: the server must neither spin nor stop without descriptors. A client that hung up early
/// is not worth a warning.
async fn pause_after(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        tracing::error!("cannot accept a connection: {error}");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

#[cfg(test)]
pub(crate) mod tests;
