//! The proxy in front of a server of this process.

use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tenon_service::http::serve::{Listener, Running};
use tenon_service::{Backend, InProcessSidecar, Limits, SidecarFiles};

use crate::KIND;

/// A request as the API has seen it.
struct Seen {
    line: String,
    headers: HeaderMap,
    body: String,
}

/// Somebody else's API. The last segment of a path decides its answer.
struct Api {
    _running: Running,
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Api {
    async fn start() -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let noted = Arc::clone(&seen);
        let answer = move |request: Request| {
            let seen = Arc::clone(&noted);
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let count = {
                    let mut seen = seen.lock().unwrap();
                    let (line, body) =
                        (format!("{} {}", parts.method, parts.uri), String::from_utf8(body.to_vec()).unwrap());
                    seen.push(Seen { line, headers: parts.headers, body });
                    seen.len()
                };
                match parts.uri.path().rsplit('/').next().unwrap() {
                    "busy" if count < 3 => (StatusCode::SERVICE_UNAVAILABLE, "busy").into_response(),
                    "slow" => std::future::pending().await,
                    "large" => "x".repeat(2000).into_response(),
                    "wrong" => (StatusCode::METHOD_NOT_ALLOWED, [("x-api", "1")], "not here").into_response(),
                    "endless" => Body::from_stream(futures::stream::iter(
                        (0..20).map(|_| Ok::<_, std::io::Error>("x".repeat(100))),
                    ))
                    .into_response(),
                    _ => "ok".into_response(),
                }
            }
        };
        let app = Router::new().fallback(answer);
        let listener = Listener::tcp("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let running = Running::start(listener, app, &Limits::default());
        let address = running.address().unwrap();
        Self { _running: running, address, seen }
    }

    async fn sidecar(&self, options: Value) -> InProcessSidecar {
        let (url, options) = (format!("http://{}/base/", self.address), options.as_object().unwrap().clone());
        let backend = Backend::new(&KIND, url, options, SidecarFiles::default()).unwrap();
        let limits = Limits { max_body_bytes: 1000, ..Limits::default() };
        InProcessSidecar::open(backend, limits).await.unwrap()
    }

    fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

async fn ask(sidecar: &InProcessSidecar, target: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let (method, path) = target.split_once(' ').unwrap();
    let request = headers
        .iter()
        .fold(Request::builder().method(method).uri(path), |request, (name, value)| request.header(*name, *value));
    sidecar.clone().answer(request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn status(sidecar: &InProcessSidecar, target: &str) -> u16 {
    ask(sidecar, target, &[], "").await.status().as_u16()
}

async fn text(response: Response) -> Result<String, axum::Error> {
    Ok(String::from_utf8(response.into_body().collect().await?.to_bytes().to_vec()).unwrap())
}

#[tokio::test]
async fn a_request_goes_on_with_the_credential_and_without_headers_of_the_connection() {
    let api = Api::start().await;
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "Bearer canary\n").unwrap();
    let sidecar = api.sidecar(json!({ "headerFiles": { "Authorization": key } })).await;
    let headers = [
        ("authorization", "Bearer other"),
        ("te", "trailers"),
        ("x-hop", "1"),
        ("connection", "x-hop"),
        ("x-own", "1"),
    ];
    let answer = ask(&sidecar, "POST /v1/a%20b?c=%2e&d", &headers, "body").await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(!answer.headers().contains_key("content-security-policy"), "{:?}", answer.headers());
    assert_eq!(text(answer).await.unwrap(), "ok");
    let seen = &api.take()[0];
    assert_eq!((seen.line.as_str(), seen.body.as_str()), ("POST /base/v1/a%20b?c=%2e&d", "body"));
    let sent = |name: &str| seen.headers.get(name).map_or("", |value| value.to_str().unwrap());
    assert_eq!((sent("authorization"), sent("x-own"), sent("host")), ("Bearer canary", "1", &*api.address.to_string()));
    assert_eq!((sent("te"), sent("x-hop"), sent("connection")), ("", "", ""));
    let wrong = ask(&sidecar, "GET /wrong", &[], "").await;
    assert_eq!((wrong.status().as_u16(), wrong.headers()["x-api"].to_str().unwrap()), (405, "1"));
    assert_eq!(text(wrong).await.unwrap(), "not here");
    fs::remove_file(&key).unwrap();
    assert_eq!(status(&sidecar, "GET /v1").await, 500);
}

#[tokio::test]
async fn what_no_rule_allows_does_not_go_on() {
    let api = Api::start().await;
    let sidecar =
        api.sidecar(json!({ "allow": ["POST /v1/charges", "* /open/**"], "forwardHeaders": ["X-Own"] })).await;
    for (target, expected) in [
        ("GET /v1/charges", 403),
        ("POST /v1/charges/", 403),
        ("GET /open/../v1", 400),
        ("GET /open/%2e%2e/v1", 400),
        ("GET /open\\..\\v1", 400),
        ("GET https://api/open/a", 400),
        ("GET http://user@api/open/a", 400),
        ("GET http://:80/open/a", 400),
        ("TRACE /open/a", 501),
        ("GET /open/a?_method=DELETE", 400),
    ] {
        assert_eq!(status(&sidecar, target).await, expected, "{target}");
    }
    let page = ask(&sidecar, "GET /open/a", &[("origin", "http://localhost")], "").await;
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
    let expecting = ask(&sidecar, "GET /open/a", &[("expect", "x")], "").await;
    assert_eq!(expecting.status(), StatusCode::EXPECTATION_FAILED);
    assert!(api.take().is_empty());
    let headers = [("x-own", "1"), ("x-forwarded-prefix", "/v1"), ("accept", "text/plain")];
    assert_eq!(ask(&sidecar, "GET http://api/open/a?b", &headers, "").await.status(), StatusCode::OK);
    let seen = &api.take()[0];
    assert_eq!(seen.line, "GET /base/open/a?b");
    assert!(seen.headers.contains_key("x-own") && seen.headers.contains_key("accept"));
    assert!(!seen.headers.contains_key("x-forwarded-prefix"));
    let metrics = text(ask(&sidecar, "GET /metrics", &[], "").await).await.unwrap();
    for line in [
        "tenon_sidecar_requests_total{route=\"* /open/**\",method=\"GET\",status=\"200\"} 1\n",
        "tenon_sidecar_requests_total{route=\"* /open/**\",method=\"GET\",status=\"400\"} 1\n",
        "tenon_sidecar_requests_total{route=\"none\",method=\"GET\",status=\"403\"} 1\n",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[tokio::test]
async fn a_request_is_repeated_where_that_does_no_harm() {
    let api = Api::start().await;
    let sidecar = api.sidecar(json!({})).await;
    for (target, key, expected, attempts) in
        [("PUT /busy", None, 200, 3), ("POST /busy", None, 503, 1), ("POST /busy", Some("k"), 200, 3)]
    {
        let headers: Vec<(&str, &str)> = key.map(|key| ("idempotency-key", key)).into_iter().collect();
        let answer = ask(&sidecar, target, &headers, "x").await;
        let seen = api.take();
        assert_eq!((answer.status().as_u16(), seen.len()), (expected, attempts), "{target}");
        assert!(seen.iter().all(|seen| seen.body == "x"));
    }
    let metrics = text(ask(&sidecar, "GET /metrics", &[], "").await).await.unwrap();
    assert!(metrics.contains("tenon_sidecar_upstream_retries_total 4\n"), "{metrics}");
    drop(api);
    let url = "http://127.0.0.1:9".to_owned();
    let unreachable = Backend::new(&KIND, url, serde_json::Map::new(), SidecarFiles::default()).unwrap();
    let sidecar = InProcessSidecar::open(unreachable, Limits::default()).await.unwrap();
    assert_eq!(status(&sidecar, "POST /v1").await, 502);
}

#[tokio::test]
async fn time_rate_and_size_have_limits() {
    let api = Api::start().await;
    let sidecar = api.sidecar(json!({ "timeoutMs": 50, "retries": 0 })).await;
    let slow = tokio::time::timeout(Duration::from_secs(20), status(&sidecar, "GET /slow")).await;
    assert_eq!(slow.unwrap(), 504);
    let sidecar = api.sidecar(json!({ "rate": 1 })).await;
    assert_eq!(status(&sidecar, "GET /a").await, 200);
    let many = ask(&sidecar, "GET /a", &[], "").await;
    assert_eq!((many.status().as_u16(), many.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    let sidecar = api.sidecar(json!({})).await;
    assert_eq!(ask(&sidecar, "POST /a", &[], &"x".repeat(1001)).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(status(&sidecar, "GET /large").await, 502);
    assert_eq!(status(&sidecar, "HEAD /large").await, 200);
    assert!(text(ask(&sidecar, "GET /endless", &[], "").await).await.is_err());
}
