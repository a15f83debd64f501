//! Attempts of a module, `spy`, to get at the belongings of another, `vault`.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tenon_fixtures::calls::{Call, NO_LIMIT, Script, StepResults, Taken};
use tenon_transport::{Address, Allow, Sidecar};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Notify;

use super::fence::Fence;
use crate::config::{Limits, ModulePolicy, ModuleSource, RuntimeConfig};
use crate::runtime::Runtime;
use crate::server::Server;

/// The log lines of all tests of this process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct LogWriter;

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(crate) fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

pub(crate) fn keep_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| LogWriter).init());
}

/// A server that modules call. Its answers name the connection and the token that came with the request.
struct Peer {
    name: String,
    connections: AtomicUsize,
    hanging: Notify,
    released: Notify,
}

impl Peer {
    fn new(name: String) -> Arc<Self> {
        let connections = AtomicUsize::new(0);
        Arc::new(Self { name, connections, hanging: Notify::new(), released: Notify::new() })
    }

    async fn answer(&self, connection: usize, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path() == "/hang" {
            self.hanging.notify_one();
            self.released.notified().await;
        }
        let token = request.headers().get("authorization").and_then(|token| token.to_str().ok()).unwrap_or("none");
        Response::new(Full::from(format!("{} connection={connection} token={token}", self.name)))
    }

    async fn serve(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let connection = self.connections.fetch_add(1, Ordering::Relaxed);
        let peer = &self;
        let answer = service_fn(|request| async move { Ok::<_, Infallible>(peer.answer(connection, request).await) });
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
    }

    async fn listen(self: &Arc<Self>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&peer).serve(stream));
            }
        });
        address
    }

    fn listen_at(self: &Arc<Self>, path: &std::path::Path) {
        let listener = UnixListener::bind(path).unwrap();
        let peer = Arc::clone(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&peer).serve(stream));
            }
        });
    }
}

/// A server of both modules, and the hosts that they call. All values that belong to `vault` alone contain the canary.
struct World {
    runtime: Runtime,
    server: Server,
    canary: String,
    socket: String,
    outside: SocketAddr,
    common: Arc<Peer>,
    _folder: TempDir,
}

impl World {
    async fn new(without: Option<Fence>) -> Self {
        static WORLDS: AtomicUsize = AtomicUsize::new(0);
        keep_log();
        let canary = format!("canary-{}", WORLDS.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::tempdir().unwrap();
        let component = folder.path().join("calls.wasm");
        std::fs::write(&component, tenon_fixtures::calls::calls()).unwrap();
        let socket = folder.path().join(format!("{canary}.sock"));
        Peer::new(format!("{canary}-store")).listen_at(&socket);
        let outside = Peer::new(format!("{canary}-outside")).listen().await;
        let common = Peer::new("common".to_string());
        let at_common = format!("http://{}", common.listen().await);
        let socket = socket.display().to_string();

        let sidecar = |name: &str, address: &str| Sidecar::new(name, Address::parse(address).unwrap()).unwrap();
        let limits = || vec![("max_concurrent".to_string(), 1)];
        let variable = |name: &str, value: &str| (name.to_string(), format!("{canary}-{value}"));
        let vault = ModulePolicy {
            sidecars: Some(vec![sidecar("store", &format!("unix://{socket}")), sidecar("common", &at_common)]),
            allow: Some(vec![Allow::parse(&outside.to_string()).unwrap()]),
            environment: Some(vec![
                variable("MODE", "mode"),
                variable("TENON_SECRET_KEY", "secret"),
                variable("TENON_SECRET_SIDECAR_COMMON_TOKEN", "token"),
            ]),
            limits: limits(),
            ..ModulePolicy::default()
        };
        let spy = ModulePolicy {
            sidecars: Some(vec![sidecar("common", &at_common)]),
            allow: Some(Vec::new()),
            environment: Some(Vec::new()),
            limits: limits(),
            ..ModulePolicy::default()
        };
        let module = |name: &str, policy| ModuleSource { policy, ..ModuleSource::new(name, &component) };
        let config = RuntimeConfig {
            modules: vec![module("vault", vault), module("spy", spy)],
            limits: Limits { max_concurrent: 4, queue_timeout_ms: 300, ..Limits::default() },
            without,
            ..RuntimeConfig::default()
        };
        let runtime = Runtime::new(config).await.unwrap();
        let server = runtime.listen(TcpListener::bind("127.0.0.1:0").await.unwrap());
        Self { runtime, server, canary, socket, outside, common, _folder: folder }
    }

    /// Has a module run a script. Returns the status and the body of its answer.
    async fn run(&self, module: &str, script: &Script) -> (u16, Bytes) {
        run(&self.runtime, module, script).await
    }

    /// Makes a module call a URL. Returns the body of the response, or the reason why there is none.
    async fn call(&self, module: &str, url: &str) -> Result<String, String> {
        let (status, body) = self.run(module, Script::default().start(&Call::get(url)).wait(NO_LIMIT).take()).await;
        assert_eq!(status, 200, "{module} {url}");
        let mut results = StepResults(&body);
        results.number();
        results.number();
        match results.taken() {
            Taken::Response { body, .. } => Ok(String::from_utf8_lossy(&body).into_owned()),
            Taken::Failure { detail, .. } => Err(detail),
            Taken::None => panic!("{module} {url}: nothing to take"),
        }
    }

    /// Makes each attempt. Returns those that succeed.
    async fn crossings(&self) -> BTreeSet<&'static str> {
        let Self { canary, socket, outside, .. } = self;
        let mut crossings = BTreeSet::new();

        let (_, body) = self.run("spy", Script::default().environment()).await;
        let variables = StepResults(&body).pairs();
        assert!(variables.iter().any(|(name, _)| name == "SIDECAR_COMMON_URL"), "{variables:?}");
        if format!("{variables:?}").contains(canary) {
            crossings.insert("environment");
        }

        let server = self.server.address().unwrap();
        let calls = [
            ("sidecar", vec!["http://store.sidecar.internal/".to_string(), "sidecar:store/".to_string()]),
            // Other spellings of names, and paths of sockets.
            ("sidecar", vec!["http://STORE.sidecar.internal:80/".to_string(), "sidecar:vault/store/".to_string()]),
            ("socket", vec![format!("unix://{socket}"), format!("http://unix:{socket}"), format!("http:{socket}")]),
            ("socket", vec![format!("sidecar:{socket}"), format!("http+unix://{}/", socket.replace('/', "%2F"))]),
            ("host", vec![format!("http://{outside}/")]),
            ("server", vec![format!("http://{server}/metrics"), format!("http://{server}/run/vault/")]),
            ("credentials", vec!["sidecar:common/".to_string()]),
        ];
        for (attempt, urls) in &calls {
            for url in urls {
                let told = self.call("spy", url).await;
                // Its own sidecar answers it, without the token of `vault`. Elsewhere any answer is a crossing.
                let own = *attempt == "credentials";
                assert!(!own || told.is_ok(), "{url}: {told:?}");
                if told.is_ok() && !own || told.as_ref().is_ok_and(|body| body.contains(canary)) {
                    crossings.insert(attempt);
                }
                if told.as_ref().is_err_and(|why| !url.contains(canary.as_str()) && why.contains(canary)) {
                    crossings.insert("refusal");
                }
            }
        }

        let connection = |body: String| body.split_whitespace().nth(1).map(str::to_string).unwrap();
        let mut used = [BTreeSet::new(), BTreeSet::new()];
        for _ in 0..4 {
            for (module, used) in ["vault", "spy"].into_iter().zip(&mut used) {
                let told = self.call(module, "sidecar:common/").await.unwrap();
                assert_eq!(
                    told.contains(&format!("Bearer {canary}-token")),
                    module == "vault" || crossings.contains("credentials")
                );
                used.insert(connection(told));
            }
        }
        if !used[0].is_disjoint(&used[1]) {
            crossings.insert("connection");
        }

        let hanging = {
            let runtime = self.runtime.clone();
            let mut script = Script::default();
            script.start(&Call::get("sidecar:common/hang")).wait(NO_LIMIT).take();
            tokio::spawn(async move { run(&runtime, "spy", &script).await })
        };
        self.common.hanging.notified().await;
        if self.run("vault", Script::default().environment()).await.0 == 503 {
            crossings.insert("place");
        }
        self.common.released.notify_one();
        assert_eq!(hanging.await.unwrap().0, 200);

        let (status, _) = self.run("vault", Script::default().log(0, &format!("{canary} has {canary}-secret\n"))).await;
        assert_eq!(status, 200);
        let lines = log();
        assert!(lines.contains(&format!("{canary} has ")), "the line is logged");
        if lines.contains(&format!("{canary}-secret")) {
            crossings.insert("log");
        }

        let (status, body) = self.run("vault", Script::default().trap()).await;
        assert!(status >= 400);
        if String::from_utf8_lossy(&body).contains("unreachable") {
            crossings.insert("answer");
        }
        for page in ["/metrics", "/health", "/ready"] {
            let request = Request::get(page).header("host", "x").body(Full::new(Bytes::new())).unwrap();
            let body = self.runtime.handle(request).await.into_body().collect().await.unwrap().to_bytes();
            assert!(!String::from_utf8_lossy(&body).contains(canary), "{page}");
        }
        crossings
    }
}

async fn run(runtime: &Runtime, module: &str, script: &Script) -> (u16, Bytes) {
    let request = Request::post(format!("/run/{module}/")).header("host", "x");
    let response = runtime.handle(request.body(Full::new(Bytes::from(script.body()))).unwrap()).await;
    let status = response.status().as_u16();
    (status, response.into_body().collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn no_attempt_succeeds() {
    let world = World::new(None).await;
    // Each attempt has something to get.
    assert!(world.call("vault", "sidecar:store/").await.unwrap().contains(&world.canary));
    assert!(world.call("vault", &format!("http://{}/", world.outside)).await.unwrap().contains(&world.canary));
    let (status, variables) = world.run("vault", Script::default().environment()).await;
    assert_eq!(status, 200);
    assert!(format!("{:?}", StepResults(&variables).pairs()).contains(&format!("{}-secret", world.canary)));
    assert_eq!(world.crossings().await, BTreeSet::new());
}

/// A service of WASI 0.3 writes to other streams, with the same masks.
#[tokio::test]
async fn the_log_of_a_service_has_no_secrets() {
    for without in [None, Some(Fence::Masks)] {
        keep_log();
        let canary = format!("service-canary-{}", without.is_some());
        let folder = tempfile::tempdir().unwrap();
        let component = folder.path().join("service.wasm");
        std::fs::write(&component, tenon_fixtures::service()).unwrap();
        let config = RuntimeConfig {
            modules: vec![ModuleSource::new("service", &component)],
            environment: vec![("TENON_SECRET_KEY".to_string(), format!("{canary}-secret"))],
            without,
            ..RuntimeConfig::default()
        };
        let runtime = Runtime::new(config).await.unwrap();
        let request = Request::get(format!("/run/service/log/{canary}+{canary}-secret")).header("host", "x");
        let response = runtime.handle(request.body(Full::new(Bytes::new())).unwrap()).await;
        assert_eq!(response.status(), 200);
        response.into_body().collect().await.unwrap();
        let lines = log();
        for stream in ["", "error: "] {
            assert!(lines.contains(&format!("{stream}{canary}+")), "the line is logged");
        }
        assert_eq!(lines.contains(&format!("{canary}-secret")), without.is_some(), "{without:?}");
    }
}

#[tokio::test]
async fn each_attempt_succeeds_once_its_fence_is_taken_out() {
    for (fence, expected) in [
        (Fence::Environment, &["credentials", "environment"][..]),
        (Fence::Sidecars, &["sidecar"]),
        (Fence::Hosts, &["host"]),
        (Fence::Refusal, &["host", "server"]),
        // A transport has sidecars and hosts besides its connections.
        (Fence::Connections, &["connection", "host", "sidecar"]),
        (Fence::Masks, &["log"]),
        (Fence::Answers, &["answer"]),
        (Fence::Places, &["place"]),
    ] {
        let crossings = World::new(Some(fence)).await.crossings().await;
        assert_eq!(crossings, expected.iter().copied().collect(), "{fence:?}");
    }
}
