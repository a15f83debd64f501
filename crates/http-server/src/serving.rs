//! The loop of a listener: it accepts connections within a limit, and lets them finish at its end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

/// How long accepting pauses when the system is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A socket that accepts connections.
pub trait Listen: Send + Sync + 'static {
    /// A connection and what is known of its client.
    type Connection: Send + 'static;

    /// Waits for a connection.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Connection>> + Send;

    /// Closes the socket. Returns the connections that the system has accepted already, and would reset.
    fn close(self) -> Vec<Self::Connection>;
}

/// Serves connections.
pub trait Serve<C>: Send + Sync + 'static {
    /// Serves one to its end. None refuses it.
    fn serve(self: Arc<Self>, connection: C) -> Option<impl Future<Output = ()> + Send + 'static>;

    /// Runs after the last connection has ended.
    fn ended(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
}

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at the same time. One beyond the limit waits in the system's queue.
    pub max_connections: usize,
    /// Time to finish for the connections that are open at the end.
    pub shutdown_timeout: Duration,
}

/// A listener that is served until it is closed or dropped.
pub struct Serving {
    stop: watch::Sender<bool>,
    ended: JoinHandle<()>,
}

impl Serving {
    /// Serves a listener. `make` gets the receiver that becomes true at the end.
    pub fn start<L: Listen, S: Serve<L::Connection>>(
        listener: L,
        bounds: Bounds,
        make: impl FnOnce(watch::Receiver<bool>) -> S,
    ) -> Self {
        let (stop, stopped) = watch::channel(false);
        let server = Arc::new(make(stopped.clone()));
        Self { stop, ended: tokio::spawn(serve(listener, bounds, server, stopped)) }
    }

    /// Stops accepting, waits for the connections within their time, and closes those that are left.
    pub async fn close(self) {
        // The receiver is gone only when serving has ended already.
        let _ = self.stop.send(true);
        let _ = self.ended.await;
    }
}

async fn serve<L: Listen, S: Serve<L::Connection>>(
    listener: L,
    bounds: Bounds,
    server: Arc<S>,
    mut stopped: watch::Receiver<bool>,
) {
    let permits = Arc::new(Semaphore::new(bounds.max_connections));
    let mut tasks = JoinSet::new();
    let begin = |tasks: &mut JoinSet<()>, connection, permit: Option<OwnedSemaphorePermit>| {
        if let Some(serving) = Arc::clone(&server).serve(connection) {
            tasks.spawn(async move {
                serving.await;
                drop(permit);
            });
        }
    };
    loop {
        let accept = async {
            let permit = Arc::clone(&permits).acquire_owned().await.ok();
            (listener.accept().await, permit)
        };
        tokio::select! {
            (accepted, permit) = accept => match accepted {
                Ok(connection) => begin(&mut tasks, connection, permit),
                Err(error) => pause_after(&error).await,
            },
            _ = stopped.changed() => break,
            Some(_) = tasks.join_next() => {}
        }
    }
    for connection in listener.close() {
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else { break };
        begin(&mut tasks, connection, Some(permit));
    }
    let ended = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(bounds.shutdown_timeout, ended).await.is_err() {
        tracing::warn!("requests were cut off that did not finish within {:?}", bounds.shutdown_timeout);
    }
    tasks.shutdown().await;
    server.ended().await;
}

/// Pauses after a failed accept: the server must neither spin nor stop without descriptors. A client that hung up early
/// is not worth a warning.
async fn pause_after(error: &io::Error) {
    if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
        tracing::error!("cannot accept a connection: {error}");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

impl Listen for TcpListener {
    type Connection = (TcpStream, SocketAddr);

    async fn accept(&self) -> io::Result<Self::Connection> {
        let (stream, peer) = Self::accept(self).await?;
        Ok((immediate(stream), peer))
    }

    fn close(self) -> Vec<Self::Connection> {
        // The listener does not block.
        let Ok(listener) = self.into_std() else { return Vec::new() };
        let next = || {
            let (stream, peer) = listener.accept().ok()?;
            stream.set_nonblocking(true).ok()?;
            Some((immediate(TcpStream::from_std(stream).ok()?), peer))
        };
        std::iter::from_fn(next).collect()
    }
}

#[cfg(unix)]
impl Listen for tokio::net::UnixListener {
    type Connection = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<Self::Connection> {
        Ok(Self::accept(self).await?.0)
    }

    fn close(self) -> Vec<Self::Connection> {
        let Ok(listener) = self.into_std() else { return Vec::new() };
        let next = || {
            let (stream, _) = listener.accept().ok()?;
            stream.set_nonblocking(true).ok()?;
            tokio::net::UnixStream::from_std(stream).ok()
        };
        std::iter::from_fn(next).collect()
    }
}

/// Prefers latency to throughput: responses are written whole, or in large chunks. The reader notices a client that is
/// gone.
fn immediate(stream: TcpStream) -> TcpStream {
    let _ = stream.set_nodelay(true);
    stream
}
