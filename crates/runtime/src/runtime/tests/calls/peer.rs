//! A server that modules call in tests.

use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use futures::{Stream, StreamExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Semaphore};

use super::*;

/// A server that calls go to.
pub(crate) struct Peer {
    seen: Mutex<Vec<String>>,
    /// Requests that were given up before they were answered.
    given_up: AtomicUsize,
    /// Pieces of endless bodies.
    pieces: AtomicUsize,
    pair: Barrier,
    gate: Semaphore,
}

/// Counts a request as given up, unless it is answered.
struct Unanswered<'a>(&'a Peer);

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        self.0.given_up.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts a body as given up, unless it was sent to its end.
struct Unsent(Arc<Peer>);

impl Drop for Unsent {
    fn drop(&mut self) {
        self.0.given_up.fetch_add(1, Ordering::Relaxed);
    }
}

type PeerBody = UnsyncBoxBody<Bytes, io::Error>;

/// A body of unknown length.
fn in_pieces(pieces: impl Stream<Item = io::Result<&'static str>> + Send + 'static) -> PeerBody {
    StreamBody::new(pieces.map(|piece| piece.map(|text| Frame::data(Bytes::from(text))))).boxed_unsync()
}

impl Peer {
    pub(crate) fn new() -> Arc<Self> {
        let (seen, given_up, pieces) = (Mutex::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { seen, given_up, pieces, pair: Barrier::new(2), gate: Semaphore::new(0) })
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn given_up(&self) -> usize {
        self.given_up.load(Ordering::Relaxed)
    }

    /// How many pieces of endless bodies were sent.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.load(Ordering::Relaxed)
    }

    /// A body without an end: pieces of so many bytes, after a pause each.
    fn endless(self: &Arc<Self>, size: usize, pause: Duration) -> PeerBody {
        let piece = Bytes::from(vec![b'x'; size]);
        let pieces = stream::unfold(Unsent(Arc::clone(self)), move |peer| {
            let piece = piece.clone();
            async move {
                tokio::time::sleep(pause).await;
                peer.0.pieces.fetch_add(1, Ordering::Relaxed);
                Some((Ok(Frame::data(piece)), peer))
            }
        });
        StreamBody::new(pieces).boxed_unsync()
    }

    async fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Response<PeerBody> {
        let (parts, body) = request.into_parts();
        let whole = |bytes: Vec<u8>| Full::new(Bytes::from(bytes)).map_err(|never| match never {}).boxed_unsync();
        let token = parts.headers.get("authorization").map(|value| value.to_str().unwrap());
        let asked =
            format!("{} {}{}", parts.method, parts.uri, token.map(|token| format!(" {token}")).unwrap_or_default());
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        let size = || parts.uri.query().unwrap().parse().unwrap();
        let response = Response::builder();
        match parts.uri.path() {
            "/hang" => {
                let _unanswered = Unanswered(self);
                std::future::pending::<()>().await;
            }
            "/pair" => {
                self.pair.wait().await;
            }
            "/gate" => self.gate.acquire().await.unwrap().forget(),
            "/open" => self.gate.add_permits(1),
            "/size" => return response.body(whole(vec![b'x'; size()])).unwrap(),
            "/pieces" => return response.body(in_pieces(stream::iter((0..size()).map(|_| Ok("piece"))))).unwrap(),
            "/broken" => {
                // Once the head and the first piece are sent.
                let error = stream::once(async {
                    tokio::task::yield_now().await;
                    Err(io::Error::other("meant"))
                });
                return response.body(in_pieces(stream::iter([Ok("piece")]).chain(error))).unwrap();
            }
            "/endless" => return response.body(self.endless(64 * 1024, Duration::ZERO)).unwrap(),
            "/trickle" => return response.body(self.endless(1, Duration::from_millis(5))).unwrap(),
            "/mirror" => return response.body(body.map_err(io::Error::other).boxed_unsync()).unwrap(),
            "/early" => return response.status(202).body(whole(Vec::new())).unwrap(),
            "/stall" => {
                let stalled = stream::iter([Ok("piece")]).chain(stream::pending());
                return response.body(in_pieces(stalled)).unwrap();
            }
            "/fields" => return response.header("x-large", "x".repeat(size())).body(whole(Vec::new())).unwrap(),
            "/sql/transaction" => {
                return response.status(201).header("tenon-transaction", "t1").body(whole(Vec::new())).unwrap();
            }
            _ => {}
        }
        let body = body.collect().await.unwrap().to_bytes();
        let mut told = format!("{asked}\n").into_bytes();
        for (name, value) in &parts.headers {
            told.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
        }
        told.extend(body);
        response.status(203).header("x-twice", "1").header("x-twice", "2").body(whole(told)).unwrap()
    }

    pub(crate) async fn serve(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let peer = &self;
        let answer = service_fn(|request| async move { Ok::<_, Infallible>(peer.answer(request).await) });
        // A call that is given up ends the connection.
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
    }

    /// Listens on loopback, and returns its URL.
    pub(crate) async fn listen(self: &Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&peer).serve(stream));
            }
        });
        url
    }
}
