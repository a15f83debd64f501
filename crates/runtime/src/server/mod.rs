//! Serving a runtime on a TCP listener: HTTP/1.1 with keep-alive and HTTP/2, with TLS when it is configured, and a
//! shutdown that lets running requests finish.

mod connection;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tenon_connection::TooManyConnections;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::Runtime;
use crate::admission::Counted;
use crate::config::{Limits, ms, size};
use connection::Connections;

pub(crate) use tls::Tls;

/// How long accepting pauses when the system is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listener that is being served.
pub struct Server {
    address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Server {
    /// Serves a listener. `local`: requests must name this machine, where its address is a loopback one.
    pub(crate) fn start(
        runtime: Runtime,
        listener: TcpListener,
        limits: &Limits,
        tls: Option<Tls>,
        local: bool,
    ) -> Self {
        let address = listener.local_addr().ok();
        let local = local && address.is_some_and(|address| address.ip().is_loopback());
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(serve(runtime, listener, stopped, limits.clone(), tls, local));
        Self { address, stop, serving }
    }

    /// The address that is listened on; its port is the real one when 0 was asked for.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops accepting, waits for running requests within the shutdown time, and closes what is left.
    pub async fn close(self) {
        // The receiver is gone only when serving has ended already.
        let _ = self.stop.send(true);
        let _ = self.serving.await;
    }
}

async fn serve(
    runtime: Runtime,
    listener: TcpListener,
    mut stopped: watch::Receiver<bool>,
    limits: Limits,
    tls: Option<Tls>,
    local: bool,
) {
    let shutdown_timeout = ms(limits.shutdown_timeout_ms);
    let places = Arc::new(Semaphore::new(size(limits.max_connections)));
    let open = runtime.connections_gauge();
    let (budget, per_client) = (runtime.budget().clone(), size(limits.connections_per_client()));
    let connections = Arc::new(Connections { runtime: runtime.clone(), limits, tls, stopped: stopped.clone(), local });
    let mut tasks = JoinSet::new();
    loop {
        // A connection beyond the limit waits in the system's queue.
        let accept = async {
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (listener.accept().await, place)
        };
        let (stream, address, (place, account)) = tokio::select! {
            (accepted, place) = accept => match accepted {
                // A client that has too many is not told: it would take a connection more.
                // A proxy stands for many clients, so it has no share of its own.
                Ok((stream, peer)) if connections.runtime.trusts(peer.ip()) => {
                    (stream, peer.ip(), (place, budget.unshared()))
                }
                Ok((stream, peer)) => match budget.connection(peer.ip(), per_client) {
                    Ok(account) => (stream, peer.ip(), (place, account)),
                    Err(TooManyConnections) => continue,
                },
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            },
            _ = stopped.changed() => break,
            Some(_) = tasks.join_next() => continue,
        };
        // Latency over throughput: responses are written whole, or in large chunks.
        let _ = stream.set_nodelay(true);
        let (connections, open) = (Arc::clone(&connections), Counted::new(&open));
        tasks.spawn(async move {
            connections.serve(stream, address, &account).await;
            drop((account, place, open));
        });
    }
    drop(listener);
    let ended = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(shutdown_timeout, ended).await.is_err() {
        tracing::warn!("requests were cut off that did not finish within {shutdown_timeout:?}");
    }
    tasks.shutdown().await;
    // Modules are told that the clients of their streamed responses are gone.
    runtime.streams_ended().await;
}

/// Running out of descriptors is no reason to spin, nor to stop serving; a client that hung up early is no news.
async fn pause_after(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        tracing::error!("cannot accept a connection: {error}");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

#[cfg(test)]
pub(crate) mod tests;
