//! Opening connections: from the authority in a request to a TCP stream or a Unix socket.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tower_service::Service;

use crate::address::{Address, authority_of};

/// Connects to sidecars only: it has no other table to look an authority up in.
#[derive(Clone)]
pub(crate) struct Connector {
    routes: Arc<HashMap<String, Address>>,
}

impl Connector {
    pub(crate) fn new(routes: HashMap<String, Address>) -> Self {
        Self { routes: Arc::new(routes) }
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let address = authority_of(&uri).and_then(|authority| self.routes.get(&authority).cloned());
        Box::pin(async move {
            match address {
                Some(Address::Tcp { host, port }) => {
                    let host = host.trim_start_matches('[').trim_end_matches(']').to_string();
                    let stream = TcpStream::connect((host, port)).await?;
                    stream.set_nodelay(true)?;
                    Ok(Stream::Tcp(TokioIo::new(stream)))
                }
                Some(Address::Unix(path)) => Ok(Stream::Unix(TokioIo::new(UnixStream::connect(path).await?))),
                None => Err(io::Error::new(io::ErrorKind::PermissionDenied, "no such sidecar")),
            }
        })
    }
}

/// A connection over either transport.
pub(crate) enum Stream {
    Tcp(TokioIo<TcpStream>),
    Unix(TokioIo<UnixStream>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Unix(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
