use std::convert::Infallible;

use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

use super::*;

#[test]
fn addresses_are_parsed() {
    let tcp = |host: &str, port| Ok(Address::Tcp { host: host.to_string(), port });
    assert_eq!(Address::parse("http://db:5000"), tcp("db", 5000));
    assert_eq!(Address::parse("http://127.0.0.1"), tcp("127.0.0.1", 80));
    assert_eq!(Address::parse("http://[::1]:8080/"), tcp("[::1]", 8080));
    assert_eq!(Address::parse("unix:///run/db.sock"), Ok(Address::Unix("/run/db.sock".into())));
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
        assert!(message(text).contains("more or less than http://host:port"), "{text}: {}", message(text));
    }
    assert!(Sidecar::new("my db", Address::parse("http://db").unwrap()).is_err());
}

#[test]
fn modules_are_told_urls() {
    let sidecar = |name, address| Sidecar::new(name, Address::parse(address).unwrap()).unwrap().variable();
    assert_eq!(sidecar("db", "unix:///run/db.sock"), ("SIDECAR_DB_URL".into(), "http://db.sidecar.internal".into()));
    assert_eq!(sidecar("my-cache", "http://Cache:6000"), ("SIDECAR_MY_CACHE_URL".into(), "http://cache:6000".into()));
}

/// Serves one connection, answering each request with its path.
async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let answer = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(request.uri().to_string()))))
    });
    // A client that drops its pool ends the connection, which is an error to hyper and none to us.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

fn get(uri: &str) -> Request<Full<Bytes>> {
    Request::get(uri).body(Full::default()).unwrap()
}

#[tokio::test]
async fn requests_reach_a_sidecar_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    let transport = Transport::new(vec![Sidecar::new("db", Address::parse(&address).unwrap()).unwrap()]);
    assert_eq!(transport.environment(), [("SIDECAR_DB_URL".to_string(), address.clone())]);
    // Two requests, one accepted connection: the second one is pooled.
    for path in ["/a?b=%2F", "/c"] {
        let response = transport.send(get(&format!("{address}{path}"))).await.unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), path);
    }
}

#[tokio::test]
async fn requests_reach_a_sidecar_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db.sock");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    let transport = Transport::new(vec![Sidecar::new("db", Address::Unix(path)).unwrap()]);
    let (_, url) = transport.environment().remove(0);
    let response = transport.send(get(&format!("{url}/users/1"))).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "/users/1");
}

#[tokio::test]
async fn every_other_destination_is_refused() {
    let transport = Transport::new(vec![Sidecar::new("db", Address::parse("http://127.0.0.1:9").unwrap()).unwrap()]);
    for uri in ["http://example.com/", "http://127.0.0.1:10/", "https://127.0.0.1:9/", "http://cache.sidecar.internal/"]
    {
        let error = transport.send(get(uri)).await.unwrap_err();
        assert!(matches!(error, SendError::Refused { .. }), "{uri}: {error}");
    }
    let error = transport.send(get("http://10.0.0.1/?token=secret")).await.unwrap_err();
    assert_eq!(error.to_string(), "http://10.0.0.1 is no sidecar of this runtime; add it to [sidecars] in tenon.toml");
}

#[tokio::test]
async fn a_sidecar_that_is_away_is_unreachable() {
    let folder = tempfile::tempdir().unwrap();
    let transport = Transport::new(vec![Sidecar::new("db", Address::Unix(folder.path().join("none.sock"))).unwrap()]);
    let error = transport.send(get("http://db.sidecar.internal/")).await.unwrap_err();
    assert!(matches!(error, SendError::Connect(_)), "{error}");
}
