//! Services of WASI 0.3: `crates/fixtures/service` documents its paths.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::os::unix::fs::DirEntryExt;

use futures::stream;
use http::HeaderMap;
use http_body::Frame;
use http_body_util::StreamBody;
use tenon_transport::{Address, Allow, Sidecar};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::calls::peer::Peer;
use super::*;
use crate::module::Reuse;
use crate::server::tests::raw;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// A runtime of the service as the module `s`, with another module beside it.
async fn serving(limits: Limits) -> (Runtime, TempDir) {
    runtime(&[("s.wasm", fixtures::service()), ("echo.wasm", fixtures::echo(200))], limits).await.unwrap()
}

/// A listener of a runtime, whose server ends with the first part.
async fn served(limits: Limits) -> (crate::server::Server, SocketAddr, Runtime, TempDir) {
    let (runtime, folder) = serving(limits).await;
    let server = runtime.listen(TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = server.address().unwrap();
    (server, address, runtime, folder)
}

/// The answer to a GET, as text.
async fn text(runtime: &Runtime, path: &str) -> String {
    let answer = get(runtime, &format!("/run/s/{path}")).await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    assert_eq!(answer.status, 200, "{path}: {text}");
    text
}

fn metric(runtime: &Runtime, name: &str) -> u64 {
    let metrics = runtime.metrics();
    let lines = metrics.lines().filter(|line| line.split(['{', ' ']).next() == Some(name));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>() as u64
}

/// Waits until nothing runs and nothing is held.
async fn at_rest(runtime: &Runtime) {
    until(|| metric(runtime, "tenon_requests_running") == 0).await;
    until(|| metric(runtime, "tenon_instances") == 0).await;
}

/// The pieces of a body, its trailers, and whether it broke off.
async fn parts(response: Response<ResponseBody>) -> (Vec<u8>, Option<HeaderMap>, bool) {
    let (mut body, mut data, mut trailers) = (response.into_body(), Vec::new(), None);
    loop {
        let frame = tokio::time::timeout(Duration::from_secs(60), body.frame()).await.expect("a frame comes");
        match frame.map(|frame| frame.map(Frame::into_data)) {
            None => return (data, trailers, false),
            Some(Err(_)) => return (data, trailers, true),
            Some(Ok(Ok(bytes))) => data.extend(bytes),
            Some(Ok(Err(frame))) => trailers = frame.into_trailers().ok(),
        }
    }
}

async fn start(runtime: &Runtime, path: &str) -> Response<ResponseBody> {
    runtime.handle(request("GET", &format!("/run/s/{path}"), "")).await
}

/// A request whose body comes in these frames, and whose length is not known.
fn upload(path: &str, frames: Vec<Frame<Bytes>>) -> Request<impl Body<Data = Bytes, Error = Infallible> + use<>> {
    let body = StreamBody::new(stream::iter(frames.into_iter().map(Ok)));
    Request::post(format!("/run/s/{path}")).header("host", "example.test").body(body).unwrap()
}

#[tokio::test]
async fn each_request_finds_a_fresh_instance_in_every_isolation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.wasm");
    std::fs::write(&path, fixtures::service()).unwrap();
    for isolation in [Isolation::Request, Isolation::Shared] {
        let modules = vec![ModuleSource::from_path(&path).unwrap()];
        let config = RuntimeConfig { modules, isolation, limits: small(), ..RuntimeConfig::default() };
        let runtime = Runtime::new(config).await.unwrap();
        let slot = runtime.shared.registry.get("s").unwrap();
        let State::Ready(module) = &slot.state else { panic!("it is ready") };
        assert!(matches!((&module.entry, &module.reuse), (EntryPoint::Service(_), Reuse::Never)));
        for _ in 0..3 {
            assert_eq!(text(&runtime, "count").await, "1");
        }
    }
}

/// A server without a service has no second engine.
#[tokio::test]
async fn only_a_service_makes_the_engine_of_services() {
    let (runtime, _folder) = runtime(&[("echo.wasm", fixtures::echo(200))], small()).await.unwrap();
    let slot = runtime.shared.registry.get("echo").unwrap();
    let State::Ready(module) = &slot.state else { panic!("it is ready") };
    assert!(!module.entry.engine().get_concurrency_support());
    let (runtime, _folder) = serving(small()).await;
    let slot = runtime.shared.registry.get("s").unwrap();
    let State::Ready(module) = &slot.state else { panic!("it is ready") };
    assert!(module.entry.engine().get_concurrency_support());
}

#[tokio::test]
async fn a_request_arrives_as_the_module_is_to_see_it() {
    let (runtime, _folder) = serving(small()).await;
    let mut asked = request("GET", "/run/s/request?a=%2F+b", "");
    asked.headers_mut().insert("x-mine", "value".parse().unwrap());
    asked.headers_mut().insert("connection", "close".parse().unwrap());
    let answer = send(&runtime, asked).await;
    let told = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(
        told.starts_with(r#"Method::Get Some(Scheme::Http) Some("example.test") Some("/request?a=%2F+b")"#),
        "{told}"
    );
    assert!(told.contains("x-mine: value\n"), "{told}");
    assert!(!told.contains("connection") && !told.contains("host:"), "{told}");
    assert_eq!(answer.headers["content-length"], told.len().to_string().as_str());
    assert_eq!(answer.headers["x-request-id"].len(), 32);
}

#[tokio::test]
async fn bodies_of_every_size_come_back() {
    let (runtime, _folder) = serving(small()).await;
    for size in [0, 1, 4096, 65_536, 256 * 1024, 256 * 1024 + 1, 3 << 20] {
        let body = Bytes::from_iter((0..size).map(|i: usize| (i * 31) as u8));
        for path in ["echo", "copy"] {
            let answer = send(&runtime, request("POST", &format!("/run/s/{path}"), body.clone())).await;
            assert_eq!(answer.status, 200, "{path}, {size} bytes");
            assert!(answer.body == body, "{path}, {size} bytes: {} came back", answer.body.len());
        }
    }
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_body_that_arrives_piece_by_piece_is_read_while_it_arrives() {
    let (runtime, _folder) = serving(small()).await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Bytes>, Infallible>>(1);
    let body = StreamBody::new(stream::unfold(receiver, async |mut receiver| {
        let frame = receiver.recv().await?;
        Some((frame, receiver))
    }));
    let asked = Request::post("/run/s/copy").header("host", "example.test").body(Box::pin(body)).unwrap();
    // The answer begins before the body has come.
    let mut answer = runtime.handle(asked).await.into_body();
    let mut next = async || loop {
        let frame = tokio::time::timeout(Duration::from_secs(60), answer.frame()).await.unwrap()?.unwrap();
        // The guest's last write is empty.
        if frame.data_ref().is_none_or(|data| !data.is_empty()) {
            return Some(frame);
        }
    };
    for piece in ["one", "two", "three"] {
        sender.send(Ok(Frame::data(Bytes::from(piece)))).await.unwrap();
        assert_eq!(next().await.unwrap().into_data().unwrap(), piece);
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", "6".parse().unwrap());
    sender.send(Ok(Frame::trailers(trailers))).await.unwrap();
    drop(sender);
    let trailers = next().await.unwrap().into_trailers().unwrap();
    assert_eq!((&trailers["x-sum"], &trailers["x-length"]), (&"6".parse().unwrap(), &"11".parse().unwrap()));
    assert!(next().await.is_none());
    at_rest(&runtime).await;
}

#[tokio::test]
async fn an_upload_is_held_to_its_limits() {
    let limits = Limits { max_upload_bytes: 600 * KIB, body_timeout_ms: 100, ..small() };
    let (runtime, _folder) = serving(limits).await;
    let frames =
        |count: usize| (0..count).map(|_| Frame::data(Bytes::from(vec![b'x'; 100 * 1024]))).collect::<Vec<_>>();
    let (data, _, _) = parts(runtime.handle(upload("length", frames(6))).await).await;
    assert_eq!(String::from_utf8(data).unwrap(), format!("{} bytes, no trailers", 600 * 1024));
    // The guest that reads on is ended, and its client gets the reason.
    assert_eq!(runtime.handle(upload("length", frames(7))).await.status(), 413);
    // An ended guest has its permit until it yields.
    at_rest(&runtime).await;
    let mut declared = upload("length", frames(7));
    declared.headers_mut().insert("content-length", (700 * KIB).into());
    assert_eq!(runtime.handle(declared).await.status(), 413);
    at_rest(&runtime).await;
    // A client that sends nothing more.
    let silent = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
    let silent = Request::post("/run/s/length").header("host", "x").body(Box::pin(silent)).unwrap();
    assert_eq!(runtime.handle(silent).await.status(), 408);
    at_rest(&runtime).await;
    // One that the guest does not want.
    assert_eq!(runtime.handle(upload("ignore", frames(20))).await.status(), 200);
    at_rest(&runtime).await;
}

#[tokio::test]
async fn the_time_of_a_request_does_not_pass_while_its_client_sends() {
    let limits = Limits { request_timeout_ms: 400, ..small() };
    let (runtime, _folder) = serving(limits).await;
    let slow = stream::unfold(0, async |sent| {
        tokio::time::sleep(Duration::from_millis(200)).await;
        (sent < 4).then(|| (Ok::<_, Infallible>(Frame::data(Bytes::from("x"))), sent + 1))
    });
    let slow = Request::post("/run/s/length").header("host", "x").body(Box::pin(StreamBody::new(slow))).unwrap();
    let (data, _, _) = parts(runtime.handle(slow).await).await;
    assert_eq!(String::from_utf8(data).unwrap(), "4 bytes, no trailers");
    // It passes for a guest that does not read.
    let unread = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>());
    let unread = Request::post("/run/s/wait").header("host", "x").body(Box::pin(unread)).unwrap();
    assert_eq!(runtime.handle(unread).await.status(), 504);
    at_rest(&runtime).await;
}

#[tokio::test]
async fn pieces_come_as_the_client_takes_them() {
    let (runtime, _folder) = serving(Limits { max_response_bytes: 64 * MIB, ..small() }).await;
    let (data, trailers, broken) = parts(start(&runtime, "pieces/3/5").await).await;
    assert_eq!((String::from_utf8(data).unwrap().as_str(), trailers, broken), ("aaaaabbbbbccccc", None, false));
    at_rest(&runtime).await;
    // Far more than the client takes: the guest waits, and is ended with its client.
    let mut body = start(&runtime, "pieces/100000/65536").await.into_body();
    for _ in 0..3 {
        assert!(body.frame().await.unwrap().is_ok());
    }
    assert_eq!(metric(&runtime, "tenon_requests_running"), 1, "it holds its permit");
    drop(body);
    at_rest(&runtime).await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_finished_breaks_off() {
    let limits = Limits { request_timeout_ms: 300, max_response_bytes: 10, ..small() };
    let (runtime, _folder) = serving(limits).await;
    for (path, expected) in [
        ("stall", "aaaa"),
        ("trap-within", "aaaabbbb"),
        ("spin-within", "aaaa"),
        ("fail-within", "aaaabbbb"),
        ("pieces/4/4", "aaaabbbb"),
    ] {
        let response = start(&runtime, path).await;
        assert_eq!(response.status(), 200, "{path}");
        let (data, _, broken) = parts(response).await;
        let data = String::from_utf8(data).unwrap();
        // A piece that waits when the guest traps may be lost with it.
        assert!(broken && expected.starts_with(&data), "{path}: {data}");
    }
    assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    at_rest(&runtime).await;
    assert_eq!(metric(&runtime, "tenon_traps_total"), 1, "{}", runtime.metrics());
}

#[tokio::test]
async fn failures_are_problems_and_harm_no_other_request() {
    let limits = Limits { request_timeout_ms: 300, memory_limit_bytes: 8 * MIB, ..small() };
    let (runtime, _folder) = serving(limits).await;
    let beside = start(&runtime, "pieces/1000/65536").await;
    for (path, status) in [
        ("trap", 500),
        ("error/secret", 500),
        ("spin", 504),
        ("yield", 504),
        ("wait", 504),
        ("status/101", 502),
        ("status/100", 502),
        ("hoard/memory", 500),
    ] {
        let answer = get(&runtime, &format!("/run/s/{path}")).await;
        let told = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status.as_u16(), status, "{path}: {told}");
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{path}");
        assert!(!told.contains("secret") && !told.contains("wasm"), "{path}: {told}");
        assert_eq!(get(&runtime, "/run/echo/").await.status, 200);
    }
    let (data, _, broken) = parts(beside).await;
    assert!(!broken && data.len() == 1000 * 65_536, "{}", data.len());
    at_rest(&runtime).await;
}

/// Tasks, streams and futures take memory of the host, which no limit of the guest's memory bounds.
#[tokio::test]
async fn a_guest_that_hoards_on_the_host_traps() {
    let limits = Limits { request_timeout_ms: 30_000, max_resources: 4_096, ..small() };
    let (runtime, _folder) = serving(limits).await;
    for what in ["streams", "futures", "fields", "timers"] {
        let answer = get(&runtime, &format!("/run/s/hoard/{what}")).await;
        assert_eq!(answer.status, 500, "{what}: {:?}", answer.body);
    }
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_guest_goes_on_behind_its_answer_for_a_while() {
    let limits = Limits { request_timeout_ms: 2_000, ..small() };
    let (runtime, _folder) = serving(limits).await;
    runtime.record_requests();
    let logged = || {
        let recent = runtime.recent_requests();
        let recorded = recent.last().and_then(|last| runtime.transcript(last.transcript?));
        recorded.unwrap_or_default()
    };
    assert_eq!(text(&runtime, "later/500").await, "now");
    assert_eq!(metric(&runtime, "tenon_requests_running"), 1, "it holds its permit");
    until(|| logged().contains("later 500")).await;
    at_rest(&runtime).await;
    // No longer than an answer may take.
    assert_eq!(text(&runtime, "later/60000").await, "now");
    at_rest(&runtime).await;
    assert!(!logged().contains("later 60000"));
    // An answer that has no body on the wire is taken at once.
    assert_eq!(send(&runtime, request("HEAD", "/run/s/later/50", "")).await.status, 200);
    until(|| logged().contains("later 50")).await;
    at_rest(&runtime).await;
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_request() {
    let (_server, address, runtime, _folder) = served(small()).await;
    for path in ["wait", "stall", "spin", "yield", "pieces/1000000/4096"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("GET /run/s/{path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        until(|| metric(&runtime, "tenon_requests_running") == 1).await;
        drop(stream);
        at_rest(&runtime).await;
    }
}

#[tokio::test]
async fn trailers_cross_connections() {
    let (_server, address, runtime, _folder) = served(small()).await;
    let head =
        "POST /run/s/copy HTTP/1.1\r\nhost: x\r\nte: trailers\r\nconnection: close\r\ntransfer-encoding: chunked";
    let answer = raw(address, &format!("{head}\r\n\r\n3\r\none\r\n0\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\r\ntrailer: x-length\r\n"), "{answer}");
    assert!(answer.ends_with("3\r\none\r\n0\r\nx-length: 3\r\n\r\n"), "{answer}");
    // A client that cannot take trailers gets none.
    let answer = raw(address, &format!("{}\r\n\r\n3\r\none\r\n0\r\n\r\n", head.replace("te: trailers\r\n", ""))).await;
    assert!(answer.ends_with("3\r\none\r\n0\r\n\r\n"), "{answer}");
    // Trailers of a request arrive.
    let head = head.replace("/copy", "/length");
    let answer = raw(address, &format!("{head}\r\n\r\n3\r\none\r\n0\r\nx-sum: 1\r\n\r\n")).await;
    assert!(answer.contains("3 bytes, 1 trailers"), "{answer}");
    at_rest(&runtime).await;
}

/// Pieces that wait for a client are within the budget, and the guest makes no others meanwhile.
#[tokio::test]
async fn a_service_that_streams_to_a_slow_client_stays_within_the_budget() {
    let limits = Limits { max_response_bytes: 512 * MIB, ..small() };
    let (_server, address, runtime, _folder) = served(limits).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /run/s/pieces/5000/65536 HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 64];
    stream.read_exact(&mut first).await.unwrap();
    let held = || metric(&runtime, "tenon_buffered_bytes");
    until(|| (16 * KIB..4 * MIB).contains(&held())).await;
    assert_eq!(metric(&runtime, "tenon_requests_running"), 1);
    drop(stream);
    at_rest(&runtime).await;
    until(|| held() == 0).await;
}

/// A runtime of the modules `own` and `other`, each with a sidecar and a secret of its own. `own` may also call `allowed`.
async fn two_modules(own: &str, other: &str, allowed: &str) -> (Runtime, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("service.wasm");
    std::fs::write(&path, fixtures::service()).unwrap();
    let module = |name: &str, sidecar: &str, url: &str, allow: Vec<Allow>| {
        let mut module = ModuleSource::new(name, &path);
        module.policy.sidecars = Some(vec![Sidecar::new(sidecar, Address::parse(url).unwrap()).unwrap()]);
        module.policy.environment = Some(vec![
            ("MODE".to_string(), format!("mode-of-{name}")),
            ("TENON_SECRET_KEY".to_string(), format!("secret-of-{name}")),
        ]);
        module.policy.allow = Some(allow);
        module
    };
    let allow = vec![Allow::parse(allowed.trim_start_matches("http://")).unwrap()];
    let modules = vec![module("s", "db", own, allow), module("other", "store", other, Vec::new())];
    let config = RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    (runtime, folder)
}

/// A module of WASI 0.3 gets no further than one of 0.2 (`crate::crossing`).
#[tokio::test]
async fn a_service_reaches_what_its_own_policy_has_and_nothing_else() {
    let (own, other, allowed) = (Peer::new(), Peer::new(), Peer::new());
    let (at_own, at_other, at_allowed) = (own.listen().await, other.listen().await, allowed.listen().await);
    let (runtime, _folder) = two_modules(&at_own, &at_other, &at_allowed).await;

    let environment = text(&runtime, "environment").await;
    assert!(environment.contains("MODE=mode-of-s\n") && environment.contains(&format!("SIDECAR_DB_URL={at_own}\n")));
    assert!(!environment.contains("of-other") && !environment.contains("STORE"), "{environment}");
    assert!(!environment.contains("PATH=") && !environment.contains("CARGO"), "{environment}");

    let fetched = async |url: &str| {
        let answer = get(&runtime, &format!("/run/s/fetch/{url}")).await;
        (answer.status.as_u16(), String::from_utf8(answer.body.to_vec()).unwrap())
    };
    for url in [&at_own, &at_allowed] {
        let (status, body) = fetched(&format!("{url}/a?b")).await;
        assert_eq!(status, 203, "{url}: {body}");
        assert!(body.contains("x-request-id: ") && body.starts_with("GET /a?b"), "{body}");
    }
    let refused =
        ["http://127.0.0.1:1/", "http://example.test/", "https://example.test/", "http://store.sidecar.internal/"];
    for url in refused.into_iter().chain([at_other.as_str()]) {
        let (status, body) = fetched(url).await;
        assert_eq!((status, body.as_str()), (502, "ErrorCode::HttpRequestDenied"), "{url}");
    }
    assert!(other.seen().is_empty());
    assert_eq!(metric(&runtime, "tenon_outbound_refused_total"), refused.len() as u64 + 1);
    assert!(runtime.metrics().contains(r#"sidecar="db",outcome="ok""#), "{}", runtime.metrics());

    let answer = send(&runtime, request("POST", &format!("/run/s/forward/{at_own}/x"), "the body")).await;
    assert!(answer.body.ends_with(b"the body"), "{:?}", answer.body);

    assert_eq!(text(&runtime, "files").await, "0");
    let port = at_own.rsplit(':').next().unwrap();
    let socket = text(&runtime, &format!("socket/{port}")).await;
    assert!(!socket.contains("Ok("), "{socket}");

    at_rest(&runtime).await;
}

#[tokio::test]
async fn limits_of_outbound_calls_and_of_the_log_hold() {
    let peer = Peer::new();
    let url = peer.listen().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.wasm");
    std::fs::write(&path, fixtures::service()).unwrap();
    let limits = Limits { max_outbound_body_bytes: 1000, outbound_timeout_ms: 200, max_log_bytes: 100, ..small() };
    let sidecars = vec![Sidecar::new("db", Address::parse(&url).unwrap()).unwrap()];
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let runtime = Runtime::new(RuntimeConfig { modules, limits, sidecars, ..RuntimeConfig::default() }).await.unwrap();
    runtime.record_requests();
    let hung = get(&runtime, &format!("/run/s/fetch/{url}/hang")).await;
    assert_eq!((hung.status.as_u16(), &hung.body[..]), (502, &b"ErrorCode::ConnectionReadTimeout"[..]));
    let large = send(&runtime, request("POST", &format!("/run/s/forward/{url}/x"), vec![b'x'; 1001])).await;
    assert_eq!(large.status, 502, "{:?}", large.body);
    assert_eq!(text(&runtime, "flood/100000").await, "logged");
    let recorded = runtime.transcript(runtime.recent_requests().last().unwrap().transcript.unwrap()).unwrap();
    let longest = recorded.split(|c| c != 'x').map(str::len).max();
    assert_eq!(longest, Some(100));
    at_rest(&runtime).await;
}

/// Time and random numbers of WASI 0.3 are of this request.
#[tokio::test]
async fn clocks_begin_with_the_request_and_random_numbers_differ() {
    let (runtime, _folder) = serving(small()).await;
    let told = text(&runtime, "clock").await;
    let (began, waited) = told.split_once(' ').unwrap();
    assert!(began.parse::<u64>().unwrap() < 60_000_000_000, "{told}");
    assert!((2_000_000..60_000_000_000).contains(&waited.parse::<u64>().unwrap()), "{told}");
    let numbers: BTreeSet<String> = [text(&runtime, "random").await, text(&runtime, "random").await].into();
    assert_eq!(numbers.len(), 2);
}

#[tokio::test]
async fn a_service_is_loaded_from_the_cache_and_from_code_that_was_compiled_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let path = folder.path().join("s.wasm");
    std::fs::write(&path, fixtures::service()).unwrap();
    let mut stored = Vec::new();
    for _ in 0..2 {
        let modules = vec![ModuleSource::from_path(&path).unwrap()];
        let config = RuntimeConfig { modules, limits: small(), cache: Some(cache.clone()), ..RuntimeConfig::default() };
        let runtime = Runtime::new(config).await.unwrap();
        assert_eq!(text(&runtime, "count").await, "1");
        // Files are replaced and never written to, so one that was compiled again would have another inode.
        let entries = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> = entries.map(|entry| (entry.file_name(), entry.ino())).collect();
        // A slow start seals a file that it has verified.
        files.retain(|(name, _)| !name.as_encoded_bytes().ends_with(b".seal"));
        files.sort();
        stored.push(files);
    }
    assert!(!stored[0].is_empty());
    assert_eq!(stored[0], stored[1]);
    let ahead = folder.path().join("s.cwasm");
    std::fs::write(&ahead, crate::compile_ahead(&fixtures::service(), None, None).unwrap()).unwrap();
    let modules = vec![ModuleSource::from_path(&ahead).unwrap()];
    let config = RuntimeConfig { modules, limits: small(), trust_compiled: true, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    assert_eq!(text(&runtime, "count").await, "1");
}
