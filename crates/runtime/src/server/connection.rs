//! One connection: which protocol it speaks, and serving that within the time that clients are given.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue};
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tenon_http_server::{
    Account, Activity, Ended, Framed, HalfClosed, Serve, Timed, Timeouts, TooManyConnections, Uploads, drive,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

use super::FIRST_BYTES;
use crate::admission::Counted;
use crate::config::tls::Tls;
use crate::config::{Limits, count, ms, size};
use crate::metering::connection as metering;
use crate::request::client::{Client, Serves};
use crate::request::origin::Peer;
use crate::response::ResponseBody;
use crate::runtime::Runtime;

/// The preface of every HTTP/2 connection (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Length of the preface's first line, `PRI * HTTP/2.0`.
const REQUEST_LINE: usize = 14;

/// Bytes of requests that arrive unasked on an HTTP/2 connection, on all streams together.
const WINDOW: u32 = 256 * 1024;

/// Bytes of a response that a stream of HTTP/2 holds before its client takes them.
const SEND_BUFFER: usize = 64 * 1024;

/// Memory of a connection: its task, the socket's, and hyper's first buffer; more with HTTP/2; more with TLS.
const CONNECTION_BYTES: usize = 16 * 1024;
const HTTP2_BYTES: usize = 32 * 1024;
const TLS_BYTES: usize = 32 * 1024;

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
    /// Reports whether requests must name this machine.
    pub(super) local: bool,
    /// Reports whether it serves more than `/metrics`, `/health` and `/ready`.
    pub(super) is_public: bool,
}

enum Protocol {
    Http1,
    Http2,
}

impl Serve<(TcpStream, SocketAddr)> for Connections {
    fn serve(
        self: Arc<Self>,
        (stream, peer): (TcpStream, SocketAddr),
    ) -> Option<impl Future<Output = ()> + Send + 'static> {
        let (budget, address) = (self.runtime.budget(), peer.ip());
        // A proxy stands for many clients, so it has no share of its own.
        let account = if self.runtime.trusts(address) {
            budget.unshared()
        } else {
            match budget.connection(address, size(self.limits.connections_per_client())) {
                Ok(account) => account,
                // A client with too many connections gets no answer, because that would take another connection.
                Err(TooManyConnections) => return None,
            }
        };
        let open = Counted::new(&self.runtime.connections_gauge());
        Some(async move {
            self.serve_one(stream, address, &account).await;
            drop((account, open));
        })
    }

    /// Tells modules that the clients of their streamed responses are gone.
    async fn ended(&self) {
        self.runtime.streams_ended().await;
    }
}

impl Connections {
    /// Serves one connection to its end. Errors of a client are not worth a warning.
    async fn serve_one(&self, stream: TcpStream, address: IpAddr, account: &Account) {
        let peer = Peer { address, secure: self.tls.is_some() };
        let (mut stopped, accepted) = (self.stopped.clone(), Instant::now());
        // Data that a client has not sent in time is a timeout, and so is data without memory for it.
        let begun = async {
            let timeout = ms(self.limits.header_timeout_ms);
            let begin = async {
                let bytes = CONNECTION_BYTES + self.tls.as_ref().map_or(0, |_| TLS_BYTES);
                let mut room = account.nothing();
                if !room.grow(bytes, ms(self.limits.queue_timeout_ms)).await {
                    return Err(io::Error::other("max_buffered_bytes has no room for it"));
                }
                let (begun, protocol) = self.begin(stream).await?;
                if matches!(protocol, Protocol::Http2) && !room.try_grow(HTTP2_BYTES) {
                    return Err(io::Error::other("max_buffered_bytes has no room for HTTP/2"));
                }
                Ok((begun, protocol, room))
            };
            tokio::time::timeout(timeout, begin).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
        };
        let stopped = async {
            // The sender is gone only when the server is.
            let _ = stopped.wait_for(|stopped| *stopped).await;
            tokio::time::sleep_until(accepted + FIRST_BYTES).await;
        };
        // Before its first bytes a connection has nothing to finish, unless they are under way.
        let begun = tokio::select! {
            begun = begun => begun,
            () = stopped => return,
        };
        let (begun, protocol, _room) = match begun {
            Ok(begun) => begun,
            Err(error) => return tracing::debug!("a connection did not begin: {error}"),
        };
        let served = match (begun, protocol) {
            (Begun::Plain(stream), Protocol::Http1) => self.http1(stream, account, peer).await,
            (Begun::Plain(stream), Protocol::Http2) => self.http2(stream, account, peer).await,
            (Begun::Tls(stream), Protocol::Http1) => self.http1(*stream, account, peer).await,
            (Begun::Tls(stream), Protocol::Http2) => self.http2(*stream, account, peer).await,
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
        account: &Account,
        peer: Peer,
    ) -> Result<(), Ended> {
        let buffer = size(self.limits.max_header_bytes + self.limits.max_url_bytes).max(16 * 1024) * 2;
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(ms(self.limits.header_timeout_ms)).max_buf_size(buffer);
        // hyper refuses larger heads by itself, with an empty answer; the runtime's own limits are lower.
        if size(self.limits.max_headers) > FREE_HEADERS {
            builder.max_headers(size(self.limits.max_headers) + 1);
        }
        let half_closed = HalfClosed::default();
        let stream = Framed::new(stream, account).waiting_for_half_closed(half_closed.clone());
        let (activity, client) = (Activity::default(), self.client(account, buffer, peer));
        let connection = builder.serve_connection(self.io(stream), self.service(client, &activity, Some(half_closed)));
        // hyper closes a connection that idles, and `Timed` one that is blocked.
        metering::counted(drive(connection, account, &activity, None, self.stopped.clone())).await
    }

    async fn http2(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        account: &Account,
        peer: Peer,
    ) -> Result<(), Ended> {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(count(self.limits.max_streams))
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_send_buf_size(SEND_BUFFER)
            .max_header_list_size(count(self.limits.max_header_bytes + self.limits.max_url_bytes).saturating_mul(2))
            .keep_alive_interval(PING)
            .keep_alive_timeout(PING);
        let (activity, client) = (Activity::default(), self.client(account, WINDOW as usize, peer));
        let connection = builder.serve_connection(self.io(stream), self.service(client, &activity, None));
        let timeouts = Timeouts { idle: ms(self.limits.header_timeout_ms), write: ms(self.limits.write_timeout_ms) };
        drive(connection, account, &activity, Some(timeouts), self.stopped.clone()).await
    }

    /// The client of a connection on which `window` bytes arrive unasked.
    fn client(&self, account: &Account, window: usize, peer: Peer) -> Client {
        let uploads = Uploads::new(account, window);
        let serves = match (self.is_public, self.runtime.has_operations()) {
            (false, _) => Serves::Operations,
            (true, true) => Serves::Modules,
            (true, false) => Serves::Everything,
        };
        Client::connected(account.clone(), uploads, ms(self.limits.queue_timeout_ms), (self.local, serves), peer)
    }

    fn io<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> TokioIo<Timed<S>> {
        TokioIo::new(Timed::new(stream, ms(self.limits.write_timeout_ms)))
    }

    /// Answers requests. `half_closed` is that of a connection of HTTP/1.1.
    fn service(
        &self,
        client: Client,
        activity: &Activity,
        half_closed: Option<HalfClosed>,
    ) -> impl Service<
        Request<Incoming>,
        Response = http::Response<ResponseBody>,
        Error = Infallible,
        Future: Send + 'static,
    > + Send
    + 'static {
        let (runtime, client, activity) = (self.runtime.clone(), Arc::new(client), activity.clone());
        service_fn(move |request: Request<Incoming>| {
            let half_closed = half_closed.clone();
            let (runtime, client) = (runtime.clone(), Arc::clone(&client));
            let mut ongoing = half_closed.is_none().then(|| activity.begin());
            async move {
                let version = request.version();
                metering::begins();
                let mut response = runtime.handle_for(&client, request).await;
                metering::answered();
                // The client's next request goes to another server, or there is none.
                let is_last = runtime.is_draining() || half_closed.is_some_and(|half_closed| half_closed.get());
                if is_last && version < Version::HTTP_2 {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                if let Some(ongoing) = &mut ongoing {
                    ongoing.answered();
                }
                Ok(response.map(|body| body.send(ongoing)))
            }
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
            // Whoever names HTTP/2 in its first line and goes on differently speaks neither protocol, and could read no answer.
            let is_http2 = length >= REQUEST_LINE && seen[..REQUEST_LINE] == PREFACE[..REQUEST_LINE];
            return if is_http2 { Err(io::ErrorKind::InvalidData.into()) } else { Ok(Protocol::Http1) };
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
