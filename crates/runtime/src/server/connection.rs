//! One connection: which protocol it speaks, and serving that within the time that clients are given.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::timed::Timed;
use super::tls::Tls;
use crate::Runtime;
use crate::body::ResponseBody;
use crate::config::{Limits, count, ms, size};

/// What every HTTP/2 connection begins with (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Requests at once on one HTTP/2 connection.
const MAX_STREAMS: u32 = 200;

/// How often a silent HTTP/2 connection is asked whether it is still there, and how long it has to say so.
const PING: Duration = Duration::from_secs(20);

/// Headers that hyper reads without allocating for them.
const FREE_HEADERS: usize = 100;

/// How the connections of a listener are served.
pub(super) struct Connections {
    pub(super) runtime: Runtime,
    pub(super) limits: Limits,
    pub(super) tls: Option<Tls>,
    pub(super) stopped: watch::Receiver<bool>,
}

enum Protocol {
    Http1,
    Http2,
}

impl Connections {
    /// Serves one connection to its end. What a client does wrong with it is no news.
    pub(super) async fn serve(&self, stream: TcpStream, watcher: Watcher) {
        let mut stopped = self.stopped.clone();
        let begun = async {
            let patience = ms(self.limits.header_timeout_ms);
            tokio::time::timeout(patience, self.begin(stream)).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
        };
        // Before its first bytes a connection has nothing to finish.
        let begun = tokio::select! {
            begun = begun => begun,
            _ = stopped.changed() => return,
        };
        let served = match begun {
            Ok((Begun::Plain(stream), Protocol::Http1)) => self.http1(stream, watcher).await,
            Ok((Begun::Plain(stream), Protocol::Http2)) => self.http2(stream, watcher).await,
            Ok((Begun::Tls(stream), Protocol::Http1)) => self.http1(*stream, watcher).await,
            Ok((Begun::Tls(stream), Protocol::Http2)) => self.http2(*stream, watcher).await,
            Err(error) => return tracing::debug!("a connection did not begin: {error}"),
        };
        if let Err(error) = served {
            tracing::debug!("a connection ended: {error}");
        }
    }

    async fn begin(&self, stream: TcpStream) -> io::Result<(Begun, Protocol)> {
        let Some(tls) = &self.tls else {
            let protocol = sniff(&stream).await?;
            return Ok((Begun::Plain(stream), protocol));
        };
        let stream = tls.accept(stream).await?;
        let protocol =
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") { Protocol::Http2 } else { Protocol::Http1 };
        Ok((Begun::Tls(Box::new(stream)), protocol))
    }

    async fn http1(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        watcher: Watcher,
    ) -> hyper::Result<()> {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(ms(self.limits.header_timeout_ms))
            .max_buf_size(size(self.limits.max_header_bytes + self.limits.max_url_bytes).max(16 * 1024) * 2);
        // hyper refuses what is beyond these by itself, with an empty answer; the runtime's own limits come first.
        if size(self.limits.max_headers) > FREE_HEADERS {
            builder.max_headers(size(self.limits.max_headers) + 1);
        }
        let connection = builder.serve_connection(self.io(stream), self.service());
        watcher.watch(connection).await
    }

    async fn http2(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        watcher: Watcher,
    ) -> hyper::Result<()> {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_STREAMS)
            .max_header_list_size(count(self.limits.max_header_bytes + self.limits.max_url_bytes).saturating_mul(2))
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        let connection = builder.serve_connection(self.io(stream), self.service());
        watcher.watch(connection).await
    }

    fn io<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> TokioIo<Timed<S>> {
        TokioIo::new(Timed::new(stream, ms(self.limits.write_timeout_ms)))
    }

    fn service(
        &self,
    ) -> impl Service<
        Request<Incoming>,
        Response = http::Response<ResponseBody>,
        Error = Infallible,
        Future: Send + 'static,
    > + Send
    + 'static {
        let runtime = self.runtime.clone();
        service_fn(move |request| {
            let runtime = runtime.clone();
            async move { Ok(runtime.handle(request).await) }
        })
    }
}

/// A connection whose protocol is known.
enum Begun {
    Plain(TcpStream),
    Tls(Box<tokio_rustls::server::TlsStream<TcpStream>>),
}

/// The protocol of a plain connection, by its first bytes, which stay where they are. HTTP/2 without TLS is spoken by
/// clients that know of it beforehand (RFC 9113, section 3.3).
async fn sniff(stream: &TcpStream) -> io::Result<Protocol> {
    let mut seen = [0; PREFACE.len()];
    let mut before = 0;
    loop {
        stream.readable().await?;
        let length = stream.peek(&mut seen).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if seen[..length] != PREFACE[..length] {
            return Ok(Protocol::Http1);
        }
        if length == PREFACE.len() {
            return Ok(Protocol::Http2);
        }
        // Bytes that were seen keep the socket readable, so waiting for more of them takes time.
        if length == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        before = length;
    }
}
