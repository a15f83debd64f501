//! Loops that a guest could keep alive: each ends with its request's time, however short its steps are. `docs/runtime.md`
//! has the table.

use std::convert::Infallible;

use futures::stream;
use http_body::Frame;
use http_body_util::StreamBody;

use super::*;

/// A body that comes in pieces, so that its length is not known. It ends, or nothing follows.
fn upload(path: &str, ends: bool) -> Request<impl Body<Data = Bytes, Error = Infallible> + use<>> {
    let pieces = stream::iter([Ok(Frame::data(Bytes::from_static(b"piece")))]);
    let rest: stream::BoxStream<'static, _> =
        if ends { Box::pin(stream::empty()) } else { Box::pin(stream::pending()) };
    let body = StreamBody::new(futures::StreamExt::chain(pieces, rest));
    Request::post(format!("/run/{path}")).header("host", "example.test").body(body).unwrap()
}

/// The time of a request, and a bound within which every loop below must have ended.
const TIME: Duration = Duration::from_millis(300);
const BOUND: Duration = Duration::from_secs(20);

fn brief() -> Limits {
    Limits { request_timeout_ms: TIME.as_millis().try_into().unwrap(), ..small() }
}

/// Waits until nothing runs.
async fn at_rest(runtime: &Runtime) {
    until(|| runtime.shared.admission.free() == 4).await;
}

#[tokio::test]
async fn a_guest_that_asks_for_ever_for_more_of_an_ended_body_is_504() {
    let (runtime, _folder) = runtime(&[("ask.wasm", fixtures::insatiable())], brief()).await.unwrap();
    for _ in 0..3 {
        let answered = tokio::time::timeout(BOUND, runtime.handle(upload("ask/", true))).await;
        assert_eq!(answered.expect("the time of the request ends it").status(), 504);
    }
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_guest_that_asks_for_ever_while_nothing_comes_waits_for_its_client_only() {
    let limits = Limits { body_timeout_ms: 1_000, ..brief() };
    let (runtime, _folder) = runtime(&[("ask.wasm", fixtures::insatiable())], limits).await.unwrap();
    let began = std::time::Instant::now();
    let answered = tokio::time::timeout(BOUND, runtime.handle(upload("ask/", false))).await;
    assert_eq!(answered.expect("the client's time ends it").status(), 408);
    assert!(began.elapsed() >= 2 * TIME, "its own time does not pass meanwhile");
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_streamed_answer_ends_whatever_the_guest_says_in_place_of_a_piece() {
    let modules = [("s.wasm", fixtures::streams()), ("up.wasm", fixtures::endless_upload())];
    let (runtime, _folder) = runtime(&modules, brief()).await.unwrap();
    // Nothing yet, empty pieces, and waiting for a body that there is not.
    for path in ["w0", "q0", "u0"] {
        let response = runtime.handle(request("GET", &format!("/run/s/{path}"), "")).await;
        let body = tokio::time::timeout(BOUND, response.into_body().collect()).await;
        assert!(body.expect("the time of the request ends it").is_err(), "{path} breaks off");
        at_rest(&runtime).await;
    }
    // Waiting for more of a body that has ended.
    let response = runtime.handle(upload("up/", true)).await;
    assert_eq!(response.status(), 200);
    let body = tokio::time::timeout(BOUND, response.into_body().collect()).await;
    assert!(body.expect("the time of the request ends it").is_err(), "it breaks off");
    at_rest(&runtime).await;
}

#[tokio::test]
async fn empty_pieces_of_a_body_are_no_progress() {
    let empty = fixtures::wasi_http::empty_pieces();
    let (runtime, _folder) = runtime(&[("empty.wasm", empty)], brief()).await.unwrap();
    let response = runtime.handle(request("GET", "/run/empty/", "")).await;
    assert_eq!(response.status(), 200);
    let body = tokio::time::timeout(BOUND, response.into_body().collect()).await;
    assert!(body.expect("the time of the request ends it").is_err(), "it breaks off");
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_service_that_gives_up_its_reading_is_504() {
    let (runtime, _folder) = runtime(&[("s.wasm", fixtures::service())], brief()).await.unwrap();
    // Its client goes on sending, and nobody looks at that.
    let answered = tokio::time::timeout(BOUND, runtime.handle(upload("s/give-up", false))).await;
    assert_eq!(answered.expect("the time of the request ends it").status(), 504);
    at_rest(&runtime).await;
}

/// A status that HTTP does not have, or that only the host may send.
#[tokio::test]
async fn a_status_outside_200_to_599_is_refused() {
    for status in [100, 101, 103, 199, 600, 999] {
        let modules = [("http.wasm", fixtures::wasi_http::status(status)), ("bare.wasm", fixtures::echo(status))];
        let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
        assert_eq!(get(&runtime, "/run/http/").await.status, 502, "{status}");
        if status != 100 {
            assert_eq!(get(&runtime, "/run/bare/").await.status, 502, "{status}");
        }
    }
    let (runtime, _folder) = runtime(&[("http.wasm", fixtures::wasi_http::status(599))], small()).await.unwrap();
    assert_eq!(get(&runtime, "/run/http/").await.status, 599);
}
