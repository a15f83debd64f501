//! Modules with policies of their own, which no other module shares.

use std::sync::atomic::{AtomicUsize, Ordering};

use tenon_transport::{Address, Allow, SendError, Sidecar};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use super::*;
use crate::config::{Isolation, ModulePolicy};
use crate::instance::whole_body::whole;
use crate::module::registry::ModuleSlot;

/// Modules that answer 200, each with a policy.
fn sources(folder: &TempDir, policies: Vec<(&str, ModulePolicy)>) -> Vec<ModuleSource> {
    let path = folder.path().join("echo.wasm");
    std::fs::write(&path, fixtures::echo(200)).unwrap();
    let named = |(name, policy): (&str, _)| ModuleSource { policy, ..ModuleSource::new(name, &path) };
    policies.into_iter().map(named).collect()
}

fn sidecar(name: &str, address: &str) -> Sidecar {
    Sidecar::new(name, Address::parse(address).unwrap()).unwrap()
}

fn environment(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

/// A policy that has nothing of the server's.
fn nothing() -> ModulePolicy {
    ModulePolicy {
        sidecars: Some(Vec::new()),
        allow: Some(Vec::new()),
        environment: Some(Vec::new()),
        ..ModulePolicy::default()
    }
}

async fn call(slot: &ModuleSlot, uri: &str) -> Result<u16, SendError> {
    let request = Request::builder().uri(uri).body(whole(Bytes::new())).unwrap();
    let transport = &slot.shared_state.transport;
    let route = transport.route(request.uri())?;
    Ok(transport.send(&route, request, None).await?.status().as_u16())
}

/// Answers 204 on a socket, and counts connections.
fn answering(path: &std::path::Path) -> Arc<AtomicUsize> {
    let listener = UnixListener::bind(path).unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let mut head = [0; 4096];
                while stream.read(&mut head).await.is_ok_and(|read| read > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
                }
            });
        }
    });
    connections
}

#[tokio::test]
async fn a_part_that_is_given_takes_the_place_of_the_servers_and_others_are_inherited() {
    let folder = tempfile::tempdir().unwrap();
    let own = ModulePolicy {
        environment: Some(environment(&[("TENON_SECRET_KEY", "canary-of-own"), ("MODE", "own")])),
        isolation: Some(Isolation::Shared),
        limits: vec![("max_concurrent".to_string(), 2), ("request_timeout_ms".to_string(), 7)],
        ..ModulePolicy::default()
    };
    let modules = sources(&folder, vec![("own", own), ("other", ModulePolicy::default()), ("none", nothing())]);
    let config = RuntimeConfig {
        modules,
        sidecars: vec![sidecar("db", "unix:///run/db.sock")],
        allow: vec![Allow::parse("api.example").unwrap()],
        environment: environment(&[("TENON_SECRET_KEY", "canary-of-server"), ("REGION", "eu")]),
        limits: small(),
        ..RuntimeConfig::default()
    };
    let runtime = Runtime::new(config).await.unwrap();
    let slot = |name: &str| runtime.shared.registry.get(name).unwrap();
    let variables = |name: &str| slot(name).shared_state.environment.clone();
    let db = ("SIDECAR_DB_URL", "http://db.sidecar.internal");
    assert_eq!(variables("own"), environment(&[db, ("TENON_SECRET_KEY", "canary-of-own"), ("MODE", "own")]));
    assert_eq!(variables("other"), environment(&[db, ("TENON_SECRET_KEY", "canary-of-server"), ("REGION", "eu")]));
    assert_eq!(variables("none"), []);

    let limits = |name: &str| slot(name).shared_state.limits.clone();
    assert_eq!((limits("own").concurrent_per_module(), limits("own").request_timeout_ms), (2, 7));
    assert_eq!(limits("other"), small());
    let isolations = ["own", "other"].map(|name| slot(name).shared_state.isolation);
    assert_eq!(isolations, [Isolation::Shared, Isolation::Request]);

    // Each masks the values of its own secrets.
    let masked = |name: &str, line: &'static str| slot(name).shared_state.masks.apply(line.into()).into_owned();
    assert_eq!(masked("own", "canary-of-own canary-of-server"), "[secret KEY] canary-of-server");
    assert_eq!(masked("other", "canary-of-own canary-of-server"), "canary-of-own [secret KEY]");
}

#[tokio::test]
async fn the_sidecar_and_the_hosts_of_one_module_are_out_of_reach_for_another() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("db.sock");
    let connections = answering(&socket);
    let address = format!("unix://{}", socket.display());
    let one = ModulePolicy {
        sidecars: Some(vec![sidecar("db", &address), sidecar("tcp", "http://127.0.0.1:9")]),
        allow: Some(vec![Allow::parse("api.example").unwrap()]),
        ..nothing()
    };
    let two = ModulePolicy { sidecars: Some(vec![sidecar("cache", "unix:///nowhere/cache.sock")]), ..nothing() };
    let modules = sources(&folder, vec![("one", one), ("two", two), ("none", nothing())]);
    let config = RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    let slot = |name: &str| runtime.shared.registry.get(name).unwrap();

    assert_eq!(call(&slot("one"), "http://db.sidecar.internal/").await.unwrap(), 204);
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    for name in ["two", "none"] {
        for uri in [
            "http://db.sidecar.internal/",
            "http://DB.sidecar.internal:80/",
            "http://one.db.sidecar.internal/",
            "http://tcp.sidecar.internal/",
            "http://127.0.0.1:9/",
            "http://localhost:9/",
            "http://api.example/",
            "https://api.example/",
        ] {
            let refused = call(&slot(name), uri).await.unwrap_err();
            assert!(matches!(refused, SendError::Refused { .. }), "{name} {uri}: {refused}");
            assert!(!refused.to_string().contains("db.sock"), "{refused}");
        }
    }
    let gone = call(&slot("two"), "http://cache.sidecar.internal/").await.unwrap_err();
    assert!(matches!(gone, SendError::Connect { .. }) && !gone.to_string().contains("db"), "{gone}");
    assert_eq!(connections.load(Ordering::Relaxed), 1, "no other connection was made");

    // The page of the server names the sidecars of a module by the module.
    let health = String::from_utf8(get(&runtime, "/health").await.body.to_vec()).unwrap();
    assert!(health.ends_with(r#""sidecars":{"one/db":"up","one/tcp":"down","two/cache":"down"}}"#), "{health}");
}

#[tokio::test]
async fn modules_share_no_connection_breaker_or_place_at_a_sidecar_that_both_have() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("db.sock");
    let modules = sources(&folder, vec![("one", ModulePolicy::default()), ("two", ModulePolicy::default())]);
    let config = RuntimeConfig {
        modules,
        sidecars: vec![sidecar("db", &format!("unix://{}", socket.display()))],
        limits: Limits { breaker_failures: 1, breaker_pause_ms: 30_000, ..small() },
        ..RuntimeConfig::default()
    };
    let runtime = Runtime::new(config).await.unwrap();
    let slot = |name: &str| runtime.shared.registry.get(name).unwrap();
    assert!(matches!(call(&slot("one"), "http://db.sidecar.internal/").await, Err(SendError::Connect { .. })));
    assert!(matches!(call(&slot("one"), "http://db.sidecar.internal/").await, Err(SendError::Open { .. })));

    let connections = answering(&socket);
    assert_eq!(call(&slot("two"), "http://db.sidecar.internal/").await.unwrap(), 204, "it has a breaker of its own");
    assert!(matches!(call(&slot("one"), "http://db.sidecar.internal/").await, Err(SendError::Open { .. })));
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let health = String::from_utf8(get(&runtime, "/health").await.body.to_vec()).unwrap();
    assert!(health.ends_with(r#""sidecars":{"db":"down"}}"#), "one module cannot reach it: {health}");
}

#[tokio::test]
async fn a_module_at_its_limit_leaves_others_their_places_and_their_part_of_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let busy = folder.path().join("busy.wasm");
    std::fs::write(&busy, fixtures::spin()).unwrap();
    let limited =
        |name: &str, value| ModulePolicy { limits: vec![(name.to_string(), value)], ..ModulePolicy::default() };
    let mut modules = sources(&folder, vec![("echo", ModulePolicy::default())]);
    modules.push(ModuleSource { policy: limited("max_concurrent", 1), ..ModuleSource::new("busy", &busy) });
    modules.push(ModuleSource { policy: limited("request_timeout_ms", 50), ..ModuleSource::new("hasty", &busy) });
    // A quarter of the queue is the share of a module with a quarter of the places.
    let limits = Limits { max_queued: 8, queue_timeout_ms: 60_000, ..small() };
    let runtime = Runtime::new(RuntimeConfig { modules, limits, ..RuntimeConfig::default() }).await.unwrap();
    let send = |path: &'static str| {
        let runtime = runtime.clone();
        tokio::spawn(async move { get(&runtime, path).await.status.as_u16() })
    };
    let running = send("/run/busy/");
    until(|| runtime.shared.admission.free() == 3).await;
    let waiting = [send("/run/busy/"), send("/run/busy/")];
    until(|| runtime.metrics().contains("tenon_requests_queued 2")).await;
    assert_eq!(get(&runtime, "/run/busy/").await.status, 503, "its share of the queue is full");
    for _ in 0..20 {
        assert_eq!(get(&runtime, "/run/echo/").await.status, 200, "others have their places");
    }
    // Also when they wait themselves.
    until(|| runtime.shared.admission.free() == 3).await;
    let taken = runtime.shared.admission.occupy(3);
    let queued: Vec<_> = (0..5).map(|_| send("/run/echo/")).collect();
    until(|| runtime.metrics().contains("tenon_requests_queued 7")).await;
    assert_eq!(get(&runtime, "/run/echo/").await.status, 503, "the last part is the third module's");
    drop(taken);
    for answer in queued {
        assert_eq!(answer.await.unwrap(), 200);
    }
    assert_eq!(get(&runtime, "/run/hasty/").await.status, 504, "after the time that it has itself");
    for call in waiting.iter().chain([&running]) {
        call.abort();
    }
}

#[tokio::test]
async fn a_policy_that_cannot_be_is_refused_with_the_modules_name() {
    let folder = tempfile::tempdir().unwrap();
    let error = |policies: Vec<(&'static str, ModulePolicy)>| {
        let modules = sources(&folder, policies);
        async move {
            let config = RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() };
            let error = Runtime::new(config).await.map(drop).unwrap_err();
            assert_eq!(error.code(), "CONFIG");
            error.to_string()
        }
    };
    let limit = |name: &str, value| ModulePolicy { limits: vec![(name.to_string(), value)], ..ModulePolicy::default() };
    assert_eq!(
        error(vec![("shop", limit("max_concurrent", 5))]).await,
        "module shop: max_concurrent is 5: it must be a whole number from 1 to 4, the server's"
    );
    assert!(error(vec![("shop", limit("max_queued", 5))]).await.starts_with("module shop: max_queued is a limit of"));
    let mounted = |mount: &str| ModulePolicy { mount: Some(mount.to_string()), ..ModulePolicy::default() };
    assert!(error(vec![("shop", mounted("/run"))]).await.starts_with("module shop: mount \"/run\""));
    let twice = error(vec![("one", mounted("/shop")), ("two", mounted("/shop"))]).await;
    assert_eq!(twice, "two modules are mounted at /shop: one and two; give one of them another mount or host");
}

#[tokio::test]
async fn of_two_modules_that_load_at_once_for_one_mount_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mounted = |mount: &str| ModulePolicy { mount: Some(mount.to_string()), ..ModulePolicy::default() };
    let policies = vec![("first", mounted("/first")), ("one", mounted("/shop")), ("two", mounted("/shop"))];
    let mut modules = sources(&folder, policies).into_iter();
    let config = RuntimeConfig { modules: modules.by_ref().take(1).collect(), limits: small(), ..Default::default() };
    let runtime = Runtime::new(config).await.unwrap();
    let (one, two) = (modules.next().unwrap(), modules.next().unwrap());
    let loaded = tokio::join!(runtime.load(one), runtime.load(two));
    assert!(loaded.0.is_ok() != loaded.1.is_ok(), "{loaded:?}");
    let error = loaded.0.and(loaded.1).unwrap_err().to_string();
    assert!(error.starts_with("two modules are mounted at /shop: "), "{error}");
    for path in ["/first", "/shop"] {
        assert_eq!(get(&runtime, path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn modules_are_served_where_they_are_mounted() {
    let folder = tempfile::tempdir().unwrap();
    let mut modules = Vec::new();
    for (name, status, mount, host) in [
        ("root", 201, Some("/"), None),
        ("shop", 202, Some("/shop"), None),
        ("site", 203, None, Some("shop.example")),
        ("plain", 204, None, None),
    ] {
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, fixtures::echo(status)).unwrap();
        let mut source = ModuleSource::new(name, path);
        source.policy.mount = mount.map(str::to_string);
        source.policy.host = host.map(str::to_string);
        modules.push(source);
    }
    let runtime = Runtime::new(RuntimeConfig { modules, limits: small(), ..RuntimeConfig::default() }).await.unwrap();
    let status = |host: &'static str, path: &str| {
        let mut request = request("GET", path, "");
        request.headers_mut().insert("host", HeaderValue::from_static(host));
        let runtime = runtime.clone();
        async move { send(&runtime, request).await.status.as_u16() }
    };
    for (host, path, expected) in [
        ("a.example", "/", 201),
        ("a.example", "/shopping?x", 201),
        ("a.example", "/shop?x", 202),
        ("a.example", "/shop/x", 202),
        ("a.example", "/run/plain/", 204),
        ("a.example", "/run/shop/", 202),
        ("a.example", "/run/nobody/", 404),
        ("a.example", "/health", 200),
        ("Shop.Example:8080", "/shop/x", 203),
        ("shop.example", "/health", 200),
        ("shop.example", "/run/root/", 201),
    ] {
        assert_eq!(status(host, path).await, expected, "{host}{path}");
    }
    // A mount that another module has is refused, and a module that moves leaves its old one.
    let mut moved = ModuleSource::new("plain", folder.path().join("plain.wasm"));
    moved.policy.mount = Some("/shop".to_string());
    assert_eq!(runtime.load(moved.clone()).await.unwrap_err().code(), "CONFIG");
    moved.policy.mount = Some("/shop/plain".to_string());
    runtime.load(moved.clone()).await.unwrap();
    assert_eq!(status("a.example", "/shop/plain").await, 204);
    moved.policy.mount = None;
    runtime.load(moved).await.unwrap();
    assert_eq!(status("a.example", "/shop/plain").await, 202);
}

#[tokio::test]
async fn modules_are_replaced_all_at_once_and_a_list_that_cannot_be_served_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(format!("{name}.wasm"));
        std::fs::write(&path, bytes).unwrap();
        ModuleSource::new(name, path)
    };
    let (one, two) = (file("one", &fixtures::echo(201)), file("two", &fixtures::spin()));
    let limits = Limits { request_timeout_ms: 500, ..small() };
    let config = RuntimeConfig { modules: vec![one.clone(), two.clone()], limits, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    let module = |name: &str| match &runtime.shared.registry.get(name).unwrap().state {
        State::Ready(module) => Arc::as_ptr(module).addr(),
        _ => 0,
    };
    let health = || async { String::from_utf8(get(&runtime, "/health").await.body.to_vec()).unwrap() };

    // A policy that repeats the server's settings equals one that omits them.
    let before = module("one");
    let repeated = ModulePolicy { sidecars: Some(Vec::new()), isolation: Some(Isolation::Request), ..nothing() };
    runtime.update(vec![ModuleSource { policy: repeated, ..one.clone() }, two.clone()]).await.unwrap();
    assert_eq!(module("one"), before);

    // One moves, one is replaced while it serves, one is new.
    let running = tokio::spawn({
        let runtime = runtime.clone();
        async move { get(&runtime, "/run/two/").await.status }
    });
    until(|| runtime.shared.admission.free() == 3).await;
    let mut moved = one.clone();
    moved.policy.mount = Some("/one".to_string());
    let next = vec![moved.clone(), file("two", &fixtures::echo(202)), file("three", &fixtures::echo(203))];
    runtime.update(next.clone()).await.unwrap();
    assert_eq!(module("one"), before, "it need not be loaded anew");
    for (path, status) in [("/one", 201), ("/run/two/", 202), ("/run/three/", 203)] {
        assert_eq!(get(&runtime, path).await.status, status, "{path}");
    }
    assert_eq!(running.await.unwrap(), 504, "a request that runs finishes in the old one");

    // One that does not load changes nothing, and the health says so.
    let broken = vec![one.clone(), file("four", b"no component")];
    assert_eq!(runtime.update(broken).await.unwrap_err().code(), "MODULE_COMPILE");
    assert_eq!(runtime.modules(), ["one", "three", "two"]);
    assert_eq!(get(&runtime, "/one").await.status, 201);
    assert!(health().await.contains(r#""status":"degraded""#) && health().await.ends_with(r#","reload":"failed"}"#));
    runtime.update(vec![one]).await.unwrap();
    assert_eq!(runtime.modules(), ["one"]);
    for path in ["/one", "/run/two/"] {
        assert_eq!(get(&runtime, path).await.status, 404, "{path}");
    }
    assert!(health().await.contains(r#""status":"ok""#) && !health().await.contains("reload"));
    runtime.note_failed_update();
    assert!(health().await.contains(r#""status":"degraded""#));
}

#[tokio::test]
async fn a_server_is_ready_while_its_sidecars_are_up_and_one_module_has_all_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("db.sock");
    let _connections = answering(&socket);
    let db = sidecar("db", &format!("unix://{}", socket.display()));
    let gone = || ModulePolicy { sidecars: Some(vec![sidecar("cache", "unix:///nowhere/cache.sock")]), ..nothing() };
    // The start looks at sidecars, but does not wait long for them.
    let answers = async |modules, sidecars, status: u16, body: &str| {
        let config = RuntimeConfig { modules, sidecars, limits: small(), ..RuntimeConfig::default() };
        let runtime = Runtime::new(config).await.unwrap();
        let answered = async {
            loop {
                let answer = get(&runtime, "/ready").await;
                if answer.status == status && answer.body == body {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), answered).await.expect(body);
    };
    let both = sources(&folder, vec![("one", ModulePolicy::default()), ("two", gone())]);
    answers(both, vec![db], 200, r#"{"status":"ready"}"#).await;
    let one = sources(&folder, vec![("one", ModulePolicy::default())]);
    let unready = r#"{"status":"unready","reasons":["the sidecar db is down"]}"#;
    answers(one, vec![sidecar("db", "unix:///nowhere/db.sock")], 503, unready).await;
    let two = sources(&folder, vec![("two", gone())]);
    let unready = r#"{"status":"unready","reasons":["no module is ready","the sidecar two/cache is down"]}"#;
    answers(two, Vec::new(), 503, unready).await;
}
