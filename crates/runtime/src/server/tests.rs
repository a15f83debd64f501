use http::StatusCode;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::{ModuleSource, RuntimeConfig};

/// A server of `/run/<name>/` for each component, and its address; the folder holds their files.
async fn server(components: &[(&str, Vec<u8>)], limits: Limits) -> (Server, SocketAddr, Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut modules = Vec::new();
    for (name, bytes) in components {
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, bytes).unwrap();
        modules.push(ModuleSource { name: (*name).to_string(), path });
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
async fn raw(address: SocketAddr, bytes: &str) -> String {
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

#[tokio::test]
async fn clients_that_stall() {
    let limits = Limits { header_timeout_ms: 100, body_timeout_ms: 100, ..limits() };
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    for silent in ["", "P", "PRI * HTTP", "GET /run/echo/ HTTP/1.1\r\nhost: x\r\n"] {
        assert_eq!(raw(address, silent).await, "", "{silent:?} is closed without an answer");
    }
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
    while !runtime.metrics().contains("tenon_requests_running 1") {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    drop(stream);
    let ended = async {
        while runtime.recent_requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("the request ends with its client");
    assert_eq!(runtime.recent_requests()[0].status.as_u16(), 499);
    assert!(runtime.metrics().contains("tenon_requests_running 0"));
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

#[tokio::test]
async fn smuggled_pipelined_and_broken_requests() {
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let both = "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n\
                0\r\n\r\nGET /run/echo/smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    let answer = raw(address, both).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "the connection ends behind an ambiguous request: {answer}");
    assert!(!runtime.recent_requests().iter().any(|each| each.path.contains("smuggled")));

    let one = "GET /run/echo/ HTTP/1.1\r\nhost: x\r\n\r\n";
    let last = "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = raw(address, &format!("{one}{one}{last}")).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 3, "{answer}");

    let old = raw(address, "GET /run/echo/ HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 200"), "before HTTP/1.1 no host need be named: {old}");
    let coded = "POST /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: gzip, chunked\r\n\r\n\
                 1\r\nx\r\n0\r\n\r\n";
    let answer = raw(address, coded).await;
    assert!(answer.starts_with("HTTP/1.1 501"), "{answer}");

    for broken in [
        "GET /health HTTP/1.1\r\nconnection: close\r\n\r\n",
        "GET /run/echo/ HTTP/1.1\r\nhost: a b/c@d\r\nconnection: close\r\n\r\n",
        "GET http://u:p@x/run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nbody",
        "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\nbody",
        "GET /run/echo/ HTTP/1.1\r\nhost : x\r\n\r\n",
        "NONSENSE\r\n\r\n",
    ] {
        assert!(raw(address, broken).await.starts_with("HTTP/1.1 400"), "{broken:?}");
    }
}

#[tokio::test]
async fn what_is_refused_by_its_head_is_answered_once_its_body_is_sent() {
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let body = "x".repeat(5 << 20);
    for (line, status) in
        [("POST /run/nope/", "404"), ("POST /nowhere", "404"), ("POST /health", "405"), ("GET /health", "200")]
    {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!("{line} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
        // A client that writes before it reads.
        stream.write_all(head.as_bytes()).await.unwrap();
        for piece in body.as_bytes().chunks(64 << 10) {
            stream.write_all(piece).await.unwrap();
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), format!("HTTP/1.1 {status}"), "{line}");
    }
}

#[tokio::test]
async fn closing_cuts_off_what_does_not_finish_in_time() {
    let limits = Limits { shutdown_timeout_ms: 50, ..limits() };
    let (server, address, runtime, _folder) = server(&[("spin", tenon_fixtures::spin())], limits).await;
    let running = tokio::spawn(raw(address, "GET /run/spin/ HTTP/1.1\r\nhost: x\r\n\r\n"));
    while !runtime.metrics().contains("tenon_requests_running 1") {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // The request has 30 s.
    tokio::time::timeout(Duration::from_secs(10), server.close()).await.expect("the server does not wait for it");
    assert_eq!(running.await.unwrap(), "");
    assert_eq!(runtime.recent_requests()[0].status.as_u16(), 499);
}

#[tokio::test]
async fn closing_lets_running_requests_finish_within_their_time() {
    let limits = Limits { request_timeout_ms: 150, ..limits() };
    let (server, address, runtime, _folder) = server(&[("spin", tenon_fixtures::spin())], limits).await;
    let running = tokio::spawn(raw(address, "GET /run/spin/ HTTP/1.1\r\nhost: x\r\n\r\n"));
    while !runtime.metrics().contains("tenon_requests_running 1") {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    server.close().await;
    assert!(running.await.unwrap().starts_with("HTTP/1.1 504"), "it was answered although the server closes");
    assert!(TcpStream::connect(address).await.is_err());
}
