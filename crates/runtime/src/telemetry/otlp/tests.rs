use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use prost::Message as _;
use tokio::net::TcpListener;

use super::*;
use crate::{Limits, ModuleSource, Runtime, RuntimeConfig};

type Received = Arc<Mutex<Vec<ExportTraceServiceRequest>>>;

/// A collector that accepts requests as OTLP prescribes, and stores them.
async fn collector() -> (String, Received) {
    let received = Received::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let kept = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let kept = Arc::clone(&kept);
            let service = service_fn(move |request| collect(request, Arc::clone(&kept)));
            let server = auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { server.serve_connection(TokioIo::new(stream), service).await.map_err(drop) });
        }
    });
    (endpoint, received)
}

async fn collect(request: Request<Incoming>, kept: Received) -> Result<Response<Full<Bytes>>, hyper::Error> {
    assert_eq!((request.method().as_str(), request.uri().path()), ("POST", "/v1/traces"));
    assert_eq!(request.headers()["content-type"], "application/x-protobuf");
    let body = request.into_body().collect().await?.to_bytes();
    kept.lock().unwrap().push(ExportTraceServiceRequest::decode(body).unwrap());
    Ok(Response::new(Full::default()))
}

async fn runtime(endpoint: &str) -> (Runtime, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trap.wasm");
    std::fs::write(&path, tenon_fixtures::trap()).unwrap();
    let config = RuntimeConfig {
        modules: vec![ModuleSource::new("trap", path)],
        limits: Limits { max_concurrent: 4, ..Limits::default() },
        otlp_endpoint: Some(endpoint.to_string()),
        ..RuntimeConfig::default()
    };
    (Runtime::new(config).await.unwrap(), folder)
}

async fn get(runtime: &Runtime, path: &str, traceparent: Option<&str>) -> StatusCode {
    let mut request = Request::get(path).header("host", "example.test").header("x-request-id", "r");
    if let Some(parent) = traceparent {
        request = request.header("traceparent", parent);
    }
    runtime.handle(request.body(Empty::<Bytes>::new()).unwrap()).await.status()
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    attributes.iter().find(|each| each.key == key)?.value.as_ref()?.value.as_ref()
}

fn string(text: &str) -> Value {
    Value::StringValue(text.to_string())
}

#[tokio::test]
async fn each_request_is_a_span_that_a_collector_can_read() {
    let (endpoint, received) = collector().await;
    let (runtime, _folder) = runtime(&endpoint).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_eq!(get(&runtime, "/run/trap/?token=secret", Some(parent)).await, 204);
    assert_eq!(get(&runtime, "/run/trap/trap", None).await, 500);
    let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    assert_eq!(get(&runtime, "/health", Some(unsampled)).await, 200);
    runtime.flush().await;

    let received = received.lock().unwrap();
    assert_eq!(received.len(), 1, "one batch");
    let [of_one_service] = &received[0].resource_spans[..] else { panic!("{received:?}") };
    let resource = of_one_service.resource.as_ref().unwrap();
    assert_eq!(text(&resource.attributes, "service.name"), Some(&string("tenon")));
    let [good, failed] = &of_one_service.scope_spans[0].spans[..] else { panic!("{received:?}") };

    assert_eq!(good.name, "GET /run/trap/*");
    assert_eq!(good.kind, 2, "server");
    assert_eq!(good.trace_id, u128::from_str_radix(&parent[3..35], 16).unwrap().to_be_bytes());
    assert_eq!(good.parent_span_id, u64::from_str_radix(&parent[36..52], 16).unwrap().to_be_bytes());
    assert!(good.end_time_unix_nano > good.start_time_unix_nano);
    for (key, value) in [
        ("http.request.method", string("GET")),
        ("http.route", string("/run/trap/*")),
        ("http.response.status_code", Value::IntValue(204)),
        ("url.path", string("/run/trap/")),
        ("url.scheme", string("http")),
        ("tenon.module", string("trap")),
        ("tenon.request_id", string("r")),
    ] {
        assert_eq!(text(&good.attributes, key), Some(&value), "{key}");
    }
    assert!(!format!("{good:?}").contains("secret"));

    assert_ne!(failed.trace_id, good.trace_id);
    assert!(failed.parent_span_id.is_empty());
    assert_eq!(text(&failed.attributes, "error.type"), Some(&string("500")));
    assert_eq!(failed.status.as_ref().unwrap().code, 2, "error");
}

#[tokio::test]
async fn what_is_called_for_a_request_is_below_its_span() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let span = Otlp::begin(Some(parent)).unwrap();
    let passed_on = span.traceparent().unwrap();
    let passed_on = passed_on.to_str().unwrap();
    assert_eq!(passed_on[..36], parent[..36]);
    assert_eq!(passed_on[36..52], span.context.span_id().to_string());
    assert_ne!(passed_on[36..52], parent[36..52]);
}

#[tokio::test]
async fn a_collector_that_is_away_harms_nothing() {
    let (runtime, _folder) = runtime("http://127.0.0.1:9/").await;
    assert_eq!(get(&runtime, "/run/trap/", None).await, 204);
    tokio::time::timeout(std::time::Duration::from_secs(10), runtime.flush()).await.expect("it gives up");
    assert_eq!(get(&runtime, "/run/trap/", None).await, 204);
}

#[tokio::test]
async fn an_endpoint_that_is_none_is_refused() {
    for wrong in ["", "collector:4318", "ftp://collector", "http://", "https://a/?b"] {
        let error = Otlp::start(wrong).map(drop).unwrap_err();
        assert!(error.to_string().starts_with(&format!("otlp_endpoint is \"{wrong}\": it ")), "{error}");
    }
}
