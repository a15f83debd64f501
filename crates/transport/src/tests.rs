use std::convert::Infallible;

use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};

use super::*;

#[test]
fn addresses_are_parsed() {
    let tcp = |host: &str, port| Ok(Address::Tcp { host: host.to_string(), port });
    assert_eq!(Address::parse("http://db:5000"), tcp("db", 5000));
    assert_eq!(Address::parse("http://127.0.0.1"), tcp("127.0.0.1", 80));
    assert_eq!(Address::parse("http://[::1]:8080/"), tcp("[::1]", 8080));
    assert_eq!(Address::parse("unix:///run/db.sock"), Ok(Address::Unix("/run/db.sock".into())));
    for text in ["http://db:5000", "http://[::1]:8080", "unix:///run/db.sock"] {
        assert_eq!(Address::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_wrong_address_says_what_to_write() {
    let message = |text: &str| Address::parse(text).unwrap_err().to_string();
    assert!(message("db:5000").contains("write http://host:port or unix:///path"));
    assert!(message("https://db").contains("write http://host:port"));
    assert!(message("unix://run/db.sock").contains("three slashes"));
    for text in
        ["http://", "http://db/path", "http://db:5000/?x=1", "http://me:secret@db", "http://db:70000", "http://db:"]
    {
        assert!(message(text).contains("must be http://host:port: credentials"), "{text}: {}", message(text));
    }
    for text in ["http://me:secret@db", "postgres://me:s@cret@db/shop"] {
        assert!(!message(text).contains("cret@") && message(text).contains("://…@db"), "{}", message(text));
    }
    assert!(Sidecar::new("my db", Address::parse("http://db").unwrap()).is_err());
}

#[test]
fn modules_are_told_urls() {
    let sidecar = |name, address| Sidecar::new(name, Address::parse(address).unwrap()).unwrap().variable();
    assert_eq!(sidecar("db", "unix:///run/db.sock"), ("SIDECAR_DB_URL".into(), "http://db.sidecar.internal".into()));
    assert_eq!(sidecar("my-cache", "http://Cache:6000"), ("SIDECAR_MY_CACHE_URL".into(), "http://cache:6000".into()));
}

pub(crate) fn config() -> TransportConfig {
    TransportConfig {
        connect_timeout: Duration::from_millis(500),
        response_timeout: Duration::from_secs(1),
        max_concurrent: 8,
        breaker_failures: 3,
        breaker_pause: Duration::from_millis(50),
    }
}

pub(crate) fn transport(sidecars: Vec<Sidecar>, allow: &[&str], config: TransportConfig) -> Transport<Full<Bytes>> {
    Transport::new(sidecars, allow.iter().map(|entry| Allow::parse(entry).unwrap()).collect(), config)
}

fn at(address: &str) -> Vec<Sidecar> {
    vec![Sidecar::new("db", Address::parse(address).unwrap()).unwrap()]
}

async fn send(
    transport: &Transport<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Response<ResponseBody<Full<Bytes>>>, SendError> {
    let route = transport.route(request.uri())?;
    transport.send(&route, request, None).await
}

pub(crate) async fn text(transport: &Transport<Full<Bytes>>, uri: &str) -> Result<String, SendError> {
    let body = send(transport, get(uri)).await?.into_body().collect().await.unwrap().to_bytes();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

/// Checks all sidecars and returns whether each is up.
pub(crate) async fn looked<B>(transport: &Transport<B>) -> Vec<(String, Option<bool>)>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    transport.look(Duration::ZERO).await;
    transport.known(Duration::MAX)
}

/// Serves one connection, and answers each request with its path.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let answer = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(request.uri().to_string()))))
    });
    // A client that drops its pool ends the connection. hyper reports that as an error.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

/// Starts a server that passes each connection, with its number, to `handle`. Returns its URL.
async fn server<F>(handle: impl Fn(usize, TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else { return };
            tokio::spawn(handle(number, stream));
        }
    });
    url
}

/// Reads a request's head, sends `answer`, and closes.
async fn answer_with(mut stream: TcpStream, answer: &[u8]) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let _ = stream.write_all(answer).await;
    let _ = stream.shutdown().await;
}

fn get(uri: &str) -> Request<Full<Bytes>> {
    Request::get(uri).body(Full::default()).unwrap()
}

#[tokio::test]
async fn requests_reach_a_sidecar_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    let transport = transport(at(&address), &[], config());
    assert_eq!(transport.environment(), [("SIDECAR_DB_URL".to_string(), address.clone())]);
    // Two requests on one accepted connection: the second one is pooled.
    for path in ["/a?b=%2F", "/c"] {
        assert_eq!(text(&transport, &format!("{address}{path}")).await.unwrap(), path);
    }
}

#[tokio::test]
async fn requests_reach_a_sidecar_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    let transport = transport(vec![Sidecar::new("db", Address::Unix(path)).unwrap()], &[], config());
    let (_, url) = transport.environment().remove(0);
    for path in ["/users/1", "/users/2"] {
        assert_eq!(text(&transport, &format!("{url}{path}")).await.unwrap(), path);
    }
}

#[tokio::test]
async fn every_other_destination_is_refused() {
    let transport = transport(at("http://127.0.0.1:9"), &[], config());
    for uri in ["http://example.com/", "http://127.0.0.1:10/", "https://127.0.0.1:9/", "http://cache.sidecar.internal/"]
    {
        let error = send(&transport, get(uri)).await.map(drop).unwrap_err();
        assert!(matches!(error, SendError::Refused { .. }), "{uri}: {error}");
    }
    let error = send(&transport, get("http://10.0.0.1/?token=secret")).await.map(drop).unwrap_err();
    assert_eq!(error.to_string(), "http://10.0.0.1 is refused: it must be in `outbound.allow`, unless it is a sidecar");
}

#[tokio::test]
async fn an_allowed_name_does_not_lead_inside() {
    let url = server(|_, stream| serve(stream)).await;
    let port = url.rsplit(':').next().unwrap().to_string();
    let allowed = |entries: Vec<String>| {
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        transport(vec![], &entries, config())
    };
    // A name that the system resolves to the loopback address.
    let (name, inside) = (format!("127.1:{port}"), format!("http://127.1:{port}/x"));
    let error = text(&allowed(vec![name.clone()]), &inside).await.unwrap_err();
    assert!(matches!(error, SendError::PrivateAddress { .. }), "{error}");
    assert!(error.to_string().contains("add that address to `outbound.allow`"), "{error}");
    let error = text(&allowed(vec![name.clone(), "127.0.0.1:1".to_string()]), &inside).await.unwrap_err();
    assert!(matches!(error, SendError::PrivateAddress { .. }), "another port of that address: {error}");
    assert_eq!(text(&allowed(vec![name, format!("127.0.0.1:{port}")]), &inside).await.unwrap(), "/x");
    // A listed address is allowed.
    assert_eq!(text(&allowed(vec![format!("127.0.0.1:{port}")]), &format!("{url}/y")).await.unwrap(), "/y");
    assert_eq!(
        text(&allowed(vec![format!("localhost:{port}")]), &format!("http://localhost:{port}/z")).await.unwrap(),
        "/z"
    );
}

#[tokio::test]
async fn a_sidecar_that_is_away_is_unreachable_and_left_alone_after_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let transport = transport(vec![Sidecar::new("db", Address::Unix(path.clone())).unwrap()], &[], config());
    assert_eq!(looked(&transport).await, [("db".to_string(), Some(false))]);
    for _ in 0..3 {
        let error = text(&transport, "http://db.sidecar.internal/").await.unwrap_err();
        assert!(matches!(error, SendError::Connect { .. }), "{error}");
        assert!(error.located().contains("cannot be reached at "), "{}", error.located());
    }
    let error = text(&transport, "http://db.sidecar.internal/").await.unwrap_err();
    assert!(error.to_string().starts_with("db failed 3 times in a row and is left alone for another"), "{error}");

    // It comes back: after the pause one request is the probe.
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    let back = async {
        while text(&transport, "http://db.sidecar.internal/").await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), back).await.unwrap();
    assert_eq!(looked(&transport).await, [("db".to_string(), Some(true))]);
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_costs_no_request() {
    // Each connection answers one request and closes without announcing it.
    let url = server(|_, stream| answer_with(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")).await;
    let transport = transport(at(&url), &[], config());
    for _ in 0..20 {
        let post = Request::post(&url).body(Full::from("x")).unwrap();
        assert_eq!(send(&transport, post).await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn connecting_is_tried_twice_for_a_request_that_may_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let transport = transport(vec![Sidecar::new("db", Address::Unix(path.clone())).unwrap()], &[], config());
    let mut call = std::pin::pin!(text(&transport, "http://db.sidecar.internal/again"));
    // The first attempt finds no socket, and the call pauses.
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(call.as_mut().poll(&mut context).is_pending());
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    assert_eq!(call.await.unwrap(), "/again");
}

#[tokio::test]
async fn an_exchange_that_breaks_is_not_repeated() {
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let url = server(move |_, stream| {
        seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        answer_with(stream, b"")
    })
    .await;
    let error = text(&transport(at(&url), &[], config()), &url).await.unwrap_err();
    assert!(matches!(error, SendError::Exchange { .. }), "{error}");
    assert!(!error.nothing_sent());
    assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 1);
}

/// A request body that breaks off.
struct Torn;

impl Body for Torn {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, std::io::Error>>> {
        std::task::Poll::Ready(Some(Err(std::io::ErrorKind::Other.into())))
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_the_fault_of_the_sidecar() {
    let there = server(|_, stream| async move { serve(stream).await }).await;
    let transport: Transport<Torn> = Transport::new(at(&there), Vec::new(), config());
    for _ in 0..5 {
        let request = Request::post(&there).body(Torn).unwrap();
        let route = transport.route(request.uri()).unwrap();
        let error = transport.send(&route, request, None).await.map(drop).unwrap_err();
        assert!(matches!(error, SendError::Exchange { .. }), "{error}");
    }
    assert_eq!(looked(&transport).await, [("db".to_string(), Some(true))]);
}

#[tokio::test]
async fn a_slow_sidecar_and_one_that_lies_about_its_length() {
    let slow = server(|_, stream| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
    })
    .await;
    let error = text(&transport(at(&slow), &[], config()), &slow).await.unwrap_err();
    assert_eq!(error.to_string(), "db did not answer within 1000 ms");

    let short = server(|_, stream| answer_with(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nless")).await;
    let body = send(&transport(at(&short), &[], config()), get(&short)).await.unwrap().into_body();
    assert!(matches!(body.collect().await.unwrap_err(), BodyError::Broken(_)));

    let stuck = server(|_, mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nless").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    })
    .await;
    let body = send(&transport(at(&stuck), &[], config()), get(&stuck)).await.unwrap().into_body();
    assert!(matches!(body.collect().await.unwrap_err(), BodyError::Timeout(_)));

    let longer = server(|_, stream| answer_with(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nmore")).await;
    let transport = transport(at(&longer), &[], config());
    for _ in 0..3 {
        assert_eq!(text(&transport, &longer).await.unwrap(), "mo", "surplus bytes are not the next response");
    }
}

#[tokio::test]
async fn impatient_callers_do_not_open_the_circuit_for_others() {
    let slow = server(|_, stream| async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        serve(stream).await;
    })
    .await;
    let transport = transport(at(&slow), &[], config());
    let route = transport.route(&slow.parse().unwrap()).unwrap();
    for _ in 0..5 {
        let error = transport.send(&route, get(&slow), Some(Duration::from_millis(1))).await.map(drop).unwrap_err();
        assert!(matches!(error, SendError::Timeout { .. }), "{error}");
    }
    assert_eq!(text(&transport, &slow).await.unwrap(), "/");
}

#[tokio::test]
async fn a_connection_that_does_not_stand_in_time() {
    // Nobody accepts there, and the system keeps at most two connections in the backlog.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(connected) = tokio::time::timeout(Duration::from_millis(100), TcpStream::connect(address)).await {
        waiting.push(connected.unwrap());
        assert!(waiting.len() < 100, "the system keeps every connection");
    }
    let url = format!("http://{address}");
    let hasty = TransportConfig { connect_timeout: Duration::from_millis(30), ..config() };
    let error = text(&transport(at(&url), &[], hasty), &url).await.unwrap_err();
    assert!(
        matches!(&error, SendError::Connect { source, .. } if source.kind() == std::io::ErrorKind::TimedOut),
        "{error}"
    );
}

#[tokio::test]
async fn calls_at_once_are_bounded_until_their_bodies_are_read() {
    let url = server(|_, stream| serve(stream)).await;
    let one = TransportConfig { max_concurrent: 1, connect_timeout: Duration::from_millis(30), ..config() };
    let transport = transport(at(&url), &[], one);
    let first = send(&transport, get(&url)).await.unwrap();
    let error = text(&transport, &url).await.unwrap_err();
    assert!(matches!(error, SendError::Busy { limit: 1, .. }), "{error}");
    drop(first);
    assert_eq!(text(&transport, &url).await.unwrap(), "/");
}

/// Calls until the outcome is as expected.
async fn call_until(
    transport: &Transport<Full<Bytes>>,
    uri: &str,
    wanted: impl Fn(&Result<String, SendError>) -> bool,
) -> Result<String, SendError> {
    let calling = async {
        loop {
            let outcome = text(transport, uri).await;
            if wanted(&outcome) {
                return outcome;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), calling).await.unwrap()
}

#[tokio::test]
async fn a_sidecar_that_is_back_is_called_before_the_pause_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let config = TransportConfig { breaker_pause: Duration::from_secs(30), ..config() };
    let transport = transport(vec![Sidecar::new("db", Address::Unix(path.clone())).unwrap()], &[], config);
    let url = "http://db.sidecar.internal/";
    call_until(&transport, url, |outcome| matches!(outcome, Err(SendError::Open { .. }))).await.unwrap_err();
    assert_eq!(transport.known(Duration::MAX), [("db".to_string(), Some(false))]);
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    assert_eq!(call_until(&transport, url, Result::is_ok).await.unwrap(), "/");
}

/// Never answers calls. Answers pings if it is `alive`, and reports each on the channel.
async fn hang(alive: bool, pings: tokio::sync::mpsc::UnboundedSender<()>, stream: TcpStream) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let pings = pings.clone();
        async move {
            let is_ping = request.method() == http::Method::OPTIONS && request.uri() == "*";
            if is_ping {
                let _ = pings.send(());
            }
            if !is_ping || !alive {
                std::future::pending::<()>().await;
            }
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
        }
    });
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

#[tokio::test]
async fn a_sidecar_that_hangs_is_told_from_a_slow_one_long_before_its_calls_time_out() {
    for alive in [false, true] {
        let (pings, mut pinged) = tokio::sync::mpsc::unbounded_channel();
        let url = server(move |_, stream| hang(alive, pings.clone(), stream)).await;
        let config = TransportConfig {
            // A living one answers pings within it, on a busy machine, too.
            connect_timeout: Duration::from_millis(500),
            response_timeout: Duration::from_secs(60),
            breaker_pause: Duration::from_secs(30),
            ..config()
        };
        let transport = transport(at(&url), &[], config);
        for _ in 0..3 {
            let (transport, url) = (transport.clone(), url.clone());
            tokio::spawn(async move { text(&transport, &url).await });
        }
        for _ in 0..2 {
            pinged.recv().await.unwrap();
        }
        let route = transport.route(&url.parse().unwrap()).unwrap();
        let briefly = Some(Duration::from_millis(1));
        let error = transport.send(&route, get(&url), briefly).await.map(drop).unwrap_err();
        if alive {
            assert!(matches!(error, SendError::Timeout { .. }), "{error}");
        } else {
            assert!(matches!(error, SendError::Open { .. }), "{error}");
        }
        assert_eq!(transport.known(Duration::MAX), [("db".to_string(), Some(alive))]);
    }
}

#[tokio::test]
async fn a_call_does_not_wait_for_a_place_at_a_sidecar_that_hangs() {
    let (pings, _pinged) = tokio::sync::mpsc::unbounded_channel();
    let url = server(move |_, stream| hang(true, pings.clone(), stream)).await;
    let one = TransportConfig { max_concurrent: 1, response_timeout: Duration::from_secs(60), ..config() };
    let transport = transport(at(&url), &[], one);
    let hanging = (transport.clone(), url.clone());
    tokio::spawn(async move { text(&hanging.0, &hanging.1).await });
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let refused = async {
        loop {
            let polled = std::pin::pin!(text(&transport, &url)).poll(&mut context);
            if let std::task::Poll::Ready(outcome) = polled {
                return outcome.unwrap_err();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let error = tokio::time::timeout(Duration::from_secs(10), refused).await.unwrap();
    assert!(matches!(error, SendError::Busy { limit: 1, .. }), "{error}");
}
