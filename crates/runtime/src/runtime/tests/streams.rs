//! Responses that a module streams: `fixtures::streams` documents its paths.

use std::net::SocketAddr;

use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;
use crate::config::Isolation;
use crate::server::Server;
use crate::server::tests::raw;

/// A runtime of the fixture in one isolation.
async fn streaming(isolation: Isolation, limits: Limits) -> (Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.wasm");
    std::fs::write(&path, fixtures::streams()).unwrap();
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let config = RuntimeConfig { modules, limits, isolation, ..RuntimeConfig::default() };
    (Runtime::new(config).await.unwrap(), folder)
}

/// The same, with a listener.
async fn served(isolation: Isolation, limits: Limits) -> (Runtime, TempDir, Server, SocketAddr) {
    let (runtime, folder) = streaming(isolation, limits).await;
    let server = runtime.listen(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = server.address().unwrap();
    (runtime, folder, server, address)
}

fn module_limits(number: u64) -> Limits {
    Limits { max_concurrent: number, ..Limits::default() }
}

const BOTH: [Isolation; 2] = [Isolation::Request, Isolation::Shared];

async fn start(runtime: &Runtime, path: &str) -> Response<ResponseBody> {
    runtime.handle(request("GET", &format!("/run/s{path}"), "")).await
}

/// The next piece of a body: None at the end, and an error where it breaks off.
async fn piece<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Option<Result<String, B::Error>> {
    let frame = tokio::time::timeout(Duration::from_secs(20), body.frame()).await.expect("a piece comes")?;
    Some(frame.map(|frame| String::from_utf8(frame.into_data().ok().unwrap().to_vec()).unwrap()))
}

/// All pieces, and whether they broke off.
async fn pieces<B: Body<Data = Bytes> + Unpin>(mut body: B) -> (Vec<String>, bool) {
    let mut all = Vec::new();
    loop {
        match piece(&mut body).await {
            Some(Ok(text)) => all.push(text),
            Some(Err(_)) => return (all, true),
            None => return (all, false),
        }
    }
}

/// Waits until no response goes on, and nothing is held for one.
async fn at_rest(runtime: &Runtime) {
    until(|| running(runtime) == 0).await;
    until(|| metric(runtime, "tenon_buffered_bytes") == 0).await;
}

/// How many requests have a place.
fn running(runtime: &Runtime) -> u64 {
    metric(runtime, "tenon_requests_running")
}

fn metric(runtime: &Runtime, name: &str) -> u64 {
    let text = runtime.metrics();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or("0").parse().unwrap()
}

fn statuses(runtime: &Runtime) -> Vec<u16> {
    runtime.recent_requests().iter().map(|request| request.status.as_u16()).collect()
}

#[tokio::test]
async fn pieces_come_one_by_one_and_the_instance_serves_on() {
    for isolation in BOTH {
        let (runtime, _folder) = streaming(isolation, module_limits(11)).await;
        for _ in 0..3 {
            let (parts, body) = start(&runtime, "/p3").await.into_parts();
            assert_eq!(parts.status, 200);
            assert!(body.is_streamed() && !parts.headers.contains_key("content-length"), "{:?}", parts.headers);
            assert!(parts.headers.keys().all(|name| !name.as_str().contains("body")), "{:?}", parts.headers);
            assert_eq!(pieces(body).await, (vec!["aaaa".to_string(), "bbbb".to_string(), "cccc".to_string()], false));
            at_rest(&runtime).await;
        }
        let first = pieces(start(&runtime, "/f1").await.into_body()).await;
        assert_eq!(first, (vec!["----".to_string(), "aaaa".to_string()], false));
        assert_eq!(pieces(start(&runtime, "/p0").await.into_body()).await, (Vec::new(), false));
        at_rest(&runtime).await;
        let instances = created(&runtime);
        match isolation {
            Isolation::Shared => {
                assert_eq!((instances, get(&runtime, "/run/s/n").await.status.as_u16()), (1, 201));
            }
            // Each is as good as new, whether it was restored or made; most are restored.
            Isolation::Request => {
                assert!(instances < 5, "{instances}");
                assert_eq!(get(&runtime, "/run/s/n").await.status.as_u16(), 200);
            }
        }
    }
}

/// How many instances were made.
fn created(runtime: &Runtime) -> u64 {
    metric(runtime, r#"tenon_instances_created_total{module="s"}"#)
}

#[tokio::test]
async fn a_piece_is_made_when_it_is_asked_for() {
    let (runtime, _folder) = streaming(Isolation::Shared, module_limits(12)).await;
    let mut body = start(&runtime, "/p9").await.into_body();
    assert_eq!(piece(&mut body).await.unwrap().unwrap(), "aaaa");
    assert_eq!(piece(&mut body).await.unwrap().unwrap(), "bbbb");
    // An answer goes on as long as somebody has it, and nobody else is served by its instance.
    assert_eq!((running(&runtime), get(&runtime, "/run/s/c").await.status.as_u16()), (1, 200));
    assert_eq!(created(&runtime), 2);
    drop(body);
    at_rest(&runtime).await;
    // The instance that was given back last is taken first.
    assert_eq!(get(&runtime, "/run/s/c").await.status.as_u16(), 201, "it was cancelled once");
    assert_eq!(get(&runtime, "/run/s/n").await.status.as_u16(), 202, "no third piece was asked for");
}

#[tokio::test]
async fn an_answer_is_noted_at_its_end() {
    let (runtime, _folder) = streaming(Isolation::Request, module_limits(13)).await;
    let mut body = start(&runtime, "/p1").await.into_body();
    assert_eq!(piece(&mut body).await.unwrap().unwrap(), "aaaa");
    assert_eq!(statuses(&runtime), [0; 0]);
    assert!(piece(&mut body).await.is_none());
    assert_eq!(statuses(&runtime), [200]);
    drop(body);
    drop(start(&runtime, "/p1").await);
    assert_eq!(statuses(&runtime), [200, 499], "one that nobody reads was given up");
    assert!(pieces(start(&runtime, "/e0").await.into_body()).await.1);
    assert_eq!(statuses(&runtime), [200, 499, 200]);
    at_rest(&runtime).await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_finished_breaks_off() {
    for isolation in BOTH {
        let limits = Limits { request_timeout_ms: 1_000, max_response_bytes: 10, ..module_limits(14) };
        let (runtime, _folder) = streaming(isolation, limits).await;
        for (path, expected) in [("/t2", 2), ("/e2", 2), ("/w2", 2), ("/k2", 2), ("/p3", 2), ("/t0", 0)] {
            let (pieces, broken) = pieces(start(&runtime, path).await.into_body()).await;
            assert_eq!((pieces.len(), broken), (expected, true), "{path}, {isolation:?}");
            at_rest(&runtime).await;
        }
        let text = runtime.metrics();
        for line in [
            // `/t2` and `/t0` in their piece, and `/k2` as it was cancelled.
            r#"tenon_traps_total{module="s"} 3"#,
            r#"tenon_timeouts_total{module="s"} 2"#,
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert_eq!(pieces(start(&runtime, "/p2").await.into_body()).await.0.len(), 2);
        at_rest(&runtime).await;
    }
}

/// A guest that computes is given some seconds to come to an end by itself. Then its instance is dropped.
#[tokio::test]
async fn a_guest_that_never_returns_loses_its_instance() {
    let (runtime, _folder) =
        streaming(Isolation::Shared, Limits { request_timeout_ms: 500, ..module_limits(15) }).await;
    assert_eq!(pieces(start(&runtime, "/s1").await.into_body()).await, (vec!["aaaa".to_string()], true));
    assert_eq!(running(&runtime), 1);
    at_rest(&runtime).await;
    assert_eq!(get(&runtime, "/run/s/n").await.status, 200, "the next instance is a fresh one");
}

#[tokio::test]
async fn where_there_is_no_body_the_answer_is_cancelled_at_once() {
    let (runtime, _folder, _server, address) = served(Isolation::Shared, module_limits(16)).await;
    for (method, path, status) in [("HEAD", "/p3", 200), ("GET", "/z3", 204)] {
        let sent = format!("{method} /run/s{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let text = raw(address, &sent).await.to_lowercase();
        assert!(text.starts_with(&format!("http/1.1 {status}")) && text.ends_with("\r\n\r\n"), "{text}");
        assert!(!text.contains("content-length") && !text.contains(":body"), "{text}");
        at_rest(&runtime).await;
    }
    assert_eq!(get(&runtime, "/run/s/c").await.status.as_u16(), 202);
    assert_eq!(get(&runtime, "/run/s/n").await.status.as_u16(), 200);
}

#[tokio::test]
async fn http1_has_chunks_and_an_end_or_none() {
    let (runtime, _folder, _server, address) = served(Isolation::Request, module_limits(17)).await;
    let get =
        |path: &str, version: &str| format!("GET /run/s{path} HTTP/{version}\r\nhost: x\r\nconnection: close\r\n\r\n");
    let whole = raw(address, &get("/p2", "1.1")).await;
    assert!(whole.ends_with("\r\n\r\n4\r\naaaa\r\n4\r\nbbbb\r\n0\r\n\r\n"), "{whole}");
    let old = raw(address, &get("/p2", "1.0")).await;
    assert!(old.ends_with("\r\n\r\naaaabbbb") && !old.contains("chunked"), "{old}");
    for broken in ["/t2", "/e2"] {
        let broken = raw(address, &get(broken, "1.1")).await;
        assert!(broken.ends_with("4\r\naaaa\r\n4\r\nbbbb\r\n"), "{broken}");
    }
    let pipelined = raw(address, &(get("/p1", "1.1").replace("close", "keep-alive") + &get("/p0", "1.1"))).await;
    assert!(
        pipelined.contains("4\r\naaaa\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n") && pipelined.ends_with("\r\n\r\n0\r\n\r\n")
    );
    at_rest(&runtime).await;
}

type Sender2 = http2::SendRequest<Empty<Bytes>>;

async fn connect2(address: SocketAddr, window: u32) -> (Sender2, JoinHandle<hyper::Result<()>>) {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    (sender, tokio::spawn(connection))
}

fn get2(address: SocketAddr, path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("http://{address}/run/s{path}")).body(Empty::new()).unwrap()
}

#[tokio::test]
async fn streams_of_http2_go_on_beside_each_other() {
    let (runtime, _folder, _server, address) = served(Isolation::Shared, module_limits(18)).await;
    let (mut sender, connection) = connect2(address, 65_535).await;
    let mut endless = sender.send_request(get2(address, "/w2")).await.unwrap().into_body();
    assert_eq!(piece(&mut endless).await.unwrap().unwrap(), "aaaa");
    assert_eq!(piece(&mut endless).await.unwrap().unwrap(), "bbbb");
    let whole = pieces(sender.send_request(get2(address, "/p3")).await.unwrap().into_body()).await;
    assert_eq!((whole.0.concat().as_str(), whole.1), ("aaaabbbbcccc", false));
    for broken in ["/t2", "/e2"] {
        let broken = pieces(sender.send_request(get2(address, broken)).await.unwrap().into_body()).await;
        assert_eq!((broken.0.concat().as_str(), broken.1), ("aaaabbbb", true));
    }
    assert_eq!(running(&runtime), 1);
    drop(endless);
    until(|| running(&runtime) == 0).await;
    connection.abort();
    at_rest(&runtime).await;
    assert_eq!(get(&runtime, "/run/s/c").await.status.as_u16(), 201, "a stream that is reset is cancelled");
    assert_eq!(statuses(&runtime).iter().filter(|status| **status == 499).count(), 1);
}

/// As many pieces are made as the socket's buffers take, and one more is held.
#[tokio::test]
async fn a_client_that_takes_nothing_gets_no_more_pieces() {
    let (runtime, _folder, _server, address) = served(Isolation::Shared, module_limits(19)).await;
    let bytes = 256 << 20;
    let path = format!("/b{}", bytes / 49_152);
    // HTTP/1.1: the buffers of the sockets are the system's.
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET /run/s{path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    let held = || metric(&runtime, "tenon_buffered_bytes");
    until(|| held() >= 49_152).await;
    // HTTP/2: the client's window.
    let (mut sender, connection) = connect2(address, 100_000).await;
    let body = sender.send_request(get2(address, &path)).await.unwrap().into_body();
    until(|| running(&runtime) == 2).await;
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(2)).await;
        // Besides a piece: a request and a connection for each, hyper's buffers.
        assert!(held() < 2 * 49_152 + 256 * 1024, "{}", held());
    }
    drop((stream, body, sender));
    connection.abort();
    at_rest(&runtime).await;
    assert_eq!(statuses(&runtime), [499, 499]);
    let made: Vec<u16> = [get(&runtime, "/run/s/c").await, get(&runtime, "/run/s/n").await]
        .map(|answer| answer.status.as_u16())
        .to_vec();
    assert_eq!(made[0], 201);
    assert!(made[1] < 500, "the client took no more than its buffers do");
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off() {
    let limits = Limits { write_timeout_ms: 200, ..module_limits(20) };
    let (runtime, _folder, _server, address) = served(Isolation::Shared, limits).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /run/s/b9999 HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let (mut sender, connection) = connect2(address, 1000).await;
    let body = sender.send_request(get2(address, "/b9999")).await.unwrap().into_body();
    let ended = tokio::time::timeout(Duration::from_secs(10), connection).await;
    ended.expect("the connection is closed").unwrap().unwrap_err();
    at_rest(&runtime).await;
    assert_eq!(statuses(&runtime), [499, 499]);
    drop((stream, body, sender));
}

/// A client that waits for the guest is not cut off, however long that takes.
#[tokio::test]
async fn a_client_that_waits_for_a_piece_may_wait() {
    let limits = Limits { write_timeout_ms: 100, header_timeout_ms: 100, request_timeout_ms: 600, ..module_limits(21) };
    let (runtime, _folder, _server, address) = served(Isolation::Shared, limits).await;
    let (mut sender, connection) = connect2(address, 65_535).await;
    let started = Instant::now();
    let waited = pieces(sender.send_request(get2(address, "/w1")).await.unwrap().into_body()).await;
    assert_eq!((waited.0.concat().as_str(), waited.1), ("aaaa", true));
    assert!(started.elapsed() >= Duration::from_millis(500), "{:?}", started.elapsed());
    connection.abort();
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_server_that_stops_cancels_what_goes_on() {
    for isolation in BOTH {
        let limits = Limits { shutdown_timeout_ms: 100, ..module_limits(22) };
        let (runtime, _folder, server, address) = served(isolation, limits).await;
        let mut clients = Vec::new();
        for _ in 0..2 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET /run/s/k1 HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            clients.push(stream);
        }
        let (mut sender, _connection) = connect2(address, 65_535).await;
        let mut body = sender.send_request(get2(address, "/k1")).await.unwrap().into_body();
        assert_eq!(piece(&mut body).await.unwrap().unwrap(), "aaaa");
        until(|| running(&runtime) == 3).await;
        server.close().await;
        assert_eq!(metric(&runtime, r#"tenon_traps_total{module="s"}"#), 3, "all were cancelled when it has stopped");
        at_rest(&runtime).await;
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_thousand_clients_that_leave() {
    for isolation in BOTH {
        let (runtime, _folder, server, address) = served(isolation, module_limits(23)).await;
        let leave1 = || async {
            let stream = TcpStream::connect(address).await.unwrap();
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
            let connection = tokio::spawn(connection);
            let request = Request::get("/run/s/w1").header("host", "x").body(Empty::<Bytes>::new()).unwrap();
            let mut body = sender.send_request(request).await.unwrap().into_body();
            assert_eq!(piece(&mut body).await.unwrap().unwrap(), "aaaa");
            connection.abort();
        };
        let (sender, connection) = connect2(address, 65_535).await;
        let leave2 = || async {
            let mut body = sender.clone().send_request(get2(address, "/b9")).await.unwrap().into_body();
            assert!(body.frame().await.unwrap().is_ok());
        };
        for _ in 0..250 {
            tokio::join!(leave1(), leave2());
        }
        until(|| running(&runtime) == 0).await;
        connection.abort();
        at_rest(&runtime).await;
        assert!(metric(&runtime, "tenon_instances") <= 23);
        assert_eq!(get(&runtime, "/run/s/p0").await.status, 200);
        server.close().await;
        at_rest(&runtime).await;
    }
}

/// The bridge, by which other servers call a handler, holds to the same protocol.
#[tokio::test]
async fn a_handler_behind_the_bridge_streams_too() {
    let modules = [("s.wasm", bridged(&fixtures::streams()))];
    let limits = Limits { request_timeout_ms: 300, ..module_limits(24) };
    let (runtime, _folder) = runtime(&modules, limits).await.unwrap();
    let whole = [("/p3", "aaaabbbbcccc"), ("/f1", "----aaaa"), ("/p0", ""), ("/z3", "")].map(|each| (each, false));
    let broken = [("/t2", "aaaabbbb"), ("/e2", "aaaabbbb"), ("/w2", "aaaabbbb")].map(|each| (each, true));
    for ((path, expected), broken) in whole.into_iter().chain(broken) {
        let (parts, body) = start(&runtime, path).await.into_parts();
        assert_eq!(parts.status, if path == "/z3" { 204 } else { 200 });
        assert!(!parts.headers.contains_key("content-length"), "{path}: {:?}", parts.headers);
        let sent = pieces(body).await;
        assert_eq!((sent.0.concat().as_str(), sent.1), (expected, broken), "{path}");
        at_rest(&runtime).await;
    }
    let head = send(&runtime, request("HEAD", "/run/s/p3", "")).await;
    assert!(head.status == 200 && !head.headers.contains_key("content-length"), "{:?}", head.headers);
    let mut body = start(&runtime, "/b9999").await.into_body();
    assert_eq!(piece(&mut body).await.unwrap().unwrap().as_bytes()[0], b'a');
    drop(body);
    at_rest(&runtime).await;
}
