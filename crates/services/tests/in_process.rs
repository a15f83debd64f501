//! A sidecar in this process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use tenon_services::{InProcessSidecar, Limits, SidecarSettings};

async fn ask(sidecar: &InProcessSidecar, method: Method, path: &str, body: Vec<u8>) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(path).body(Body::from(body)).unwrap();
    let (head, body) = sidecar.clone().answer(request).await.into_parts();
    (head.status, String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

#[tokio::test]
async fn one_in_this_process_answers_as_one_on_a_socket_does() {
    let backend = SidecarSettings::new("kv", "sqlite::memory:").backend().unwrap();
    let limits = Limits { max_body_bytes: 1000, max_buffered_bytes: 100_000, ..Limits::default() };
    let sidecar = InProcessSidecar::open(backend, limits).await.unwrap();
    assert_eq!(ask(&sidecar, Method::PUT, "/kv/a", b"value".to_vec()).await.0, StatusCode::NO_CONTENT);
    assert_eq!(ask(&sidecar, Method::GET, "/kv/a", Vec::new()).await, (StatusCode::OK, "value".to_owned()));
    assert_eq!(ask(&sidecar, Method::GET, "/kv/b", Vec::new()).await.0, StatusCode::NOT_FOUND);
    assert_eq!(ask(&sidecar, Method::PUT, "/kv/a", vec![0; 1001]).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(ask(&sidecar, Method::PUT, "/kv/a", vec![0; 110_000]).await.0, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ask(&sidecar, Method::DELETE, "/nowhere", Vec::new()).await.0, StatusCode::NOT_FOUND);
    let (status, health) = ask(&sidecar, Method::GET, "/health", Vec::new()).await;
    assert!(status.is_success() && health.contains("\"kind\":\"kv\""), "{health}");
}
