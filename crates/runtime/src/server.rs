//! Serving a runtime on a TCP listener: HTTP/1.1 with keep-alive, and a shutdown that lets running requests finish.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Runtime;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long accepting pauses when the system is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listener that is being served.
pub struct Server {
    address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Server {
    pub(crate) fn start(runtime: Runtime, listener: TcpListener, shutdown_timeout: Duration) -> Self {
        let address = listener.local_addr().ok();
        let (stop, stopped) = watch::channel(false);
        let serving = tokio::spawn(serve(runtime, listener, stopped, shutdown_timeout));
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
    shutdown_timeout: Duration,
) {
    let connections = GracefulShutdown::new();
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
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
        let runtime = runtime.clone();
        let service = service_fn(move |request| {
            let runtime = runtime.clone();
            async move { Ok::<_, Infallible>(runtime.handle(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tasks.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended: {error}");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(shutdown_timeout, connections.shutdown()).await.is_err() {
        tracing::warn!("requests were cut off that did not finish within {shutdown_timeout:?}");
    }
    tasks.shutdown().await;
}

/// Running out of descriptors is no reason to spin, nor to stop serving; a client that hung up early is no news.
async fn pause_after(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        tracing::error!("cannot accept a connection: {error}");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}
