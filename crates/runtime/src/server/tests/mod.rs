mod closing;
mod requests;

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::*;
use crate::request::client::REQUEST_BYTES;
use crate::{Limits, ModuleSource, RuntimeConfig};

/// A server of `/run/<name>/` for each component, and its address; the folder holds their files.
async fn server(components: &[(&str, Vec<u8>)], limits: Limits) -> (Server, SocketAddr, Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut modules = Vec::new();
    for (name, bytes) in components {
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, bytes).unwrap();
        modules.push(ModuleSource::new(*name, path));
    }
    let runtime = Runtime::new(RuntimeConfig { modules, limits, ..RuntimeConfig::default() }).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = runtime.listen(listener);
    let address = server.address().unwrap();
    (server, address, runtime, folder)
}

fn limits() -> Limits {
    Limits { max_concurrent: 4, ..Limits::default() }
}

/// Sends bytes and reads until the server closes.
pub(crate) async fn raw(address: SocketAddr, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn http2_without_tls() {
    let (server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    for _ in 0..3 {
        let request = http::Request::get(format!("http://{address}/run/echo/")).body(Empty::<bytes::Bytes>::new());
        let response = sender.send_request(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response.into_body().collect().await.unwrap();
    }
    drop(sender);
    server.close().await;
}

/// The value of a metric without labels.
fn metric(runtime: &Runtime, name: &str) -> u64 {
    let text = runtime.metrics();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap();
    line.parse().unwrap()
}

/// Waits until something is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect(what);
}

/// A body that stalls after its first piece.
struct Stalled(Option<Bytes>);

impl Body for Stalled {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))))
    }
}

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn stalled_uploads_on_one_connection_stay_within_the_budget() {
    let limits = Limits {
        max_body_bytes: MIB,
        max_response_bytes: MIB,
        max_buffered_bytes: 5 * MIB,
        queue_timeout_ms: 50,
        ..limits()
    };
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let uploads: Vec<_> = (0..60)
        .map(|_| {
            let mut sender = sender.clone();
            let body = Stalled(Some(Bytes::from(vec![b'x'; 900 << 10])));
            let request = http::Request::post(format!("http://{address}/run/echo/")).body(body).unwrap();
            tokio::spawn(async move { sender.send_request(request).await.map(|response| response.into_parts().0) })
        })
        .collect();
    // One connection gets a third; further data waits, and is then refused.
    until("uploads are refused", || metric(&runtime, "tenon_buffer_refusals_total") >= 50).await;
    let held = metric(&runtime, "tenon_buffered_bytes");
    assert!((900 << 10..=2 * MIB).contains(&held), "{held}");
    let others = raw(address, "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(others.starts_with("HTTP/1.1 200"), "{others}");
    until("refusals are answered", || uploads.iter().any(tokio::task::JoinHandle::is_finished)).await;
    for upload in uploads {
        if !upload.is_finished() {
            upload.abort();
            continue;
        }
        let head = upload.await.unwrap().unwrap();
        assert_eq!(
            (head.status, &head.headers["retry-after"]),
            (StatusCode::SERVICE_UNAVAILABLE, &"1".parse().unwrap())
        );
    }
    connection.abort();
    until("all is released", || metric(&runtime, "tenon_buffered_bytes") == 0).await;
}

#[tokio::test]
async fn what_a_slow_client_has_not_taken_is_within_the_budget() {
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = vec![b'x'; 10 << 20];
    let head = format!("POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    until("the request has run", || !runtime.recent_requests().is_empty()).await;
    until("its permit is back", || metric(&runtime, "tenon_requests_running") == 0).await;
    assert!(metric(&runtime, "tenon_buffered_bytes") >= 10 * MIB);
    drop(stream);
    until("all is released", || metric(&runtime, "tenon_buffered_bytes") == 0).await;
}

/// A foreign component writes its body piece by piece. The pieces that wait for the client are within the budget, and the guest
/// makes no others meanwhile.
#[tokio::test]
async fn what_a_foreign_component_streams_to_a_slow_client_is_within_the_budget() {
    let foreign = tenon_fixtures::bridged(&tenon_fixtures::echo(200));
    let (_server, address, runtime, _folder) = server(&[("echo", foreign)], limits()).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let body = vec![b'x'; 10 << 20];
    let head = format!("POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    until("the request has its head", || !runtime.recent_requests().is_empty()).await;
    // The room of the request's own body, which the guest has read, is free: pieces alone are held.
    let held = || metric(&runtime, "tenon_buffered_bytes");
    // The bridge writes as much at once as wasmtime permits, which is a MiB.
    until("pieces are held, and not the whole", || (REQUEST_BYTES as u64 + 1..2 * MIB).contains(&held())).await;
    assert_eq!(metric(&runtime, "tenon_requests_running"), 1, "the guest waits for its client");
    drop(stream);
    until("all is released", || held() == 0 && metric(&runtime, "tenon_requests_running") == 0).await;
}

#[tokio::test]
async fn an_http2_connection_that_idles_is_closed() {
    let limits = Limits { header_timeout_ms: 500, ..limits() };
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = http::Request::get(format!("http://{address}/run/echo/")).body(Empty::<Bytes>::new()).unwrap();
    assert_eq!(sender.send_request(request).await.unwrap().status(), StatusCode::OK);
    let ended = tokio::time::timeout(Duration::from_secs(10), connection).await.expect("the connection is closed");
    assert!(ended.unwrap().is_ok(), "it is closed by GOAWAY");
    drop(sender);
}

#[tokio::test]
async fn an_http2_connection_that_says_half_of_it_is_closed() {
    let limits = Limits { header_timeout_ms: 100, ..limits() };
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = "\0\0\0\x04\0\0\0\0\0";
    // HEADERS without END_HEADERS, whose CONTINUATION never comes; and a frame that breaks off.
    let headers = "\0\0\x01\x01\0\0\0\0\x01\x02";
    for said in
        [preface, &format!("{preface}{settings}"), &format!("{preface}{settings}{headers}"), &format!("{preface}\0")]
    {
        let ended = tokio::time::timeout(Duration::from_secs(10), raw(address, said)).await;
        ended.unwrap_or_else(|_| panic!("{said:?} holds a connection"));
    }
}

/// A connection of HTTP/2 whose client has asked for a large body and takes next to nothing of it.
async fn takes_nothing(address: SocketAddr) -> tokio::task::JoinHandle<hyper::Result<()>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let mut builder = http2::Builder::new(TokioExecutor::new());
    let (mut sender, connection) =
        builder.initial_stream_window_size(1000).handshake(TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let body = Full::new(Bytes::from(vec![b'x'; 1 << 20]));
    let request = http::Request::post(format!("http://{address}/run/echo/")).body(body).unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    // Neither is dropped: that would reset the stream.
    std::mem::forget((response, sender));
    connection
}

#[tokio::test]
async fn a_stream_whose_client_takes_nothing_is_cut_off() {
    let limits = Limits { write_timeout_ms: 200, ..limits() };
    let direct = tenon_fixtures::echo(200);
    let (_server, address, runtime, _folder) = server(&[("echo", direct)], limits).await;
    let connection = takes_nothing(address).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), connection).await;
    ended.expect("the connection is closed").unwrap().unwrap_err();
    until("all is released", || metric(&runtime, "tenon_buffered_bytes") == 0).await;
}

#[tokio::test]
async fn requests_that_are_reset_free_their_places() {
    let (_server, address, runtime, _folder) = server(&[("spin", tenon_fixtures::spin())], limits()).await;
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    for _ in 0..3 {
        let request = http::Request::get(format!("http://{address}/run/spin/")).body(Empty::<Bytes>::new()).unwrap();
        let sent = tokio::spawn(sender.send_request(request));
        until("it runs", || metric(&runtime, "tenon_requests_running") == 1).await;
        sent.abort();
        until("it is cancelled", || metric(&runtime, "tenon_requests_running") == 0).await;
    }
    connection.abort();
    until("all is released", || metric(&runtime, "tenon_buffered_bytes") == 0).await;
}

#[tokio::test]
async fn a_client_has_no_more_connections_than_its_share() {
    let limits = Limits { max_connections_per_client: 2, ..limits() };
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let get = "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let idle = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    assert_eq!(raw(address, get).await, "");
    drop(idle);
    let served = async { while !raw(address, get).await.starts_with("HTTP/1.1 200") {} };
    tokio::time::timeout(Duration::from_secs(10), served).await.expect("it may connect again");
}

#[tokio::test]
async fn a_listener_for_this_machine_refuses_other_names() {
    let (_server, _, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let server = runtime.listen_locally(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = server.address().unwrap();
    runtime.set_page(
        "/page",
        Some(crate::Page {
            status: StatusCode::OK,
            content_type: "text/plain".parse().unwrap(),
            body: Bytes::from_static(b"page"),
            unlisted: false,
        }),
    );
    for path in ["/run/echo/", "/page", "/health"] {
        for (host, status) in
            [("127.0.0.1", 200), ("localhost:3000", 200), ("evil.example:3000", 403), ("10.0.0.1", 403)]
        {
            let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
            let answer = raw(address, &request).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path} {host}: {answer}");
        }
    }
}

#[tokio::test]
async fn clients_that_stall() {
    let limits = Limits { header_timeout_ms: 100, body_timeout_ms: 100, ..limits() };
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    for silent in ["", "P", "PRI * HTTP", "GET /run/echo/ HTTP/1.1\r\nhost: x\r\n"] {
        assert_eq!(raw(address, silent).await, "", "{silent:?} is closed without an answer");
    }
    let nameless = raw(address, "POST /run/echo/ HTTP/1.1\r\ncontent-length: 9\r\n\r\n").await;
    assert!(nameless.starts_with("HTTP/1.1 400"), "a body that nobody will read is not waited for: {nameless}");
    let half = raw(address, "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf").await;
    assert!(half.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{half}");
    assert!(half.contains("the request body did not come within 100 ms"), "{half}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    let limits = Limits { write_timeout_ms: 100, ..limits() };
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = vec![b'x'; 8 << 20];
    let head = format!("POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body).await.unwrap();
    let gone = async {
        while runtime.connections_gauge().get() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_request() {
    let (_server, address, runtime, _folder) = server(&[("spin", tenon_fixtures::spin())], limits()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /run/spin/ HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    until("the request runs", || metric(&runtime, "tenon_requests_running") == 1).await;
    drop(stream);
    until("the request ends with its client", || !runtime.recent_requests().is_empty()).await;
    assert_eq!(runtime.recent_requests()[0].status.as_u16(), 499);
    // The guest runs until it yields.
    until("its permit is back", || metric(&runtime, "tenon_requests_running") == 0).await;
}

#[tokio::test]
async fn a_client_that_hangs_up_in_its_upload_is_noted_as_gone_and_one_that_sends_nonsense_is_not() {
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let chunked = "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    for begun in [
        "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nbody".to_string(),
        format!("{chunked}4\r\nbody\r\n"),
        format!("{chunked}nonsense\r\n"),
    ] {
        let before = runtime.recent_requests().len();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        drop(stream);
        let noted = async {
            while runtime.recent_requests().len() == before {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), noted).await.unwrap();
    }
    let statuses: Vec<_> = runtime.recent_requests().iter().map(|each| each.status.as_u16()).collect();
    assert_eq!(statuses, [499, 499, 400]);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_and_idle_ones_take_no_place() {
    let limits = Limits { max_connections: 2, ..limits() };
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let get = "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let idle = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    let waiting = tokio::spawn(raw(address, get));
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!waiting.is_finished());
    drop(idle);
    assert!(waiting.await.unwrap().starts_with("HTTP/1.1 200"));
}
