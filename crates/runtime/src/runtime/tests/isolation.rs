//! What modules and requests have of each other: nothing.

use super::*;
use crate::config::Isolation;

#[tokio::test]
async fn no_byte_of_memory_outlives_its_request() {
    let scan = fixtures::scan();
    let modules = [
        ("bare.wasm", scan.clone()),
        ("full.wasm", bridged(&scan)),
        ("other.wasm", scan),
        ("echo.wasm", fixtures::echo(200)),
    ];
    let (runtime, _folder) = runtime(&modules, small()).await.unwrap();
    // Slots of the pool go around among modules: what one leaves there, another would find.
    for round in 0..25 {
        for module in ["bare", "full", "other"] {
            assert_eq!(get(&runtime, &format!("/run/{module}/")).await.status, 204, "{module}, round {round}");
        }
        assert_eq!(send(&runtime, request("POST", "/run/echo/", vec![0xa5; 100_000])).await.status, 200);
    }
}

/// The scan finds what is there: this is what makes the test above mean something.
#[tokio::test]
async fn a_shared_instance_keeps_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.wasm");
    std::fs::write(&path, fixtures::scan()).unwrap();
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let config = RuntimeConfig { modules, limits: small(), isolation: Isolation::Shared, ..RuntimeConfig::default() };
    let runtime = Runtime::new(config).await.unwrap();
    assert_eq!(get(&runtime, "/run/scan/").await.status, 204);
    assert_eq!(get(&runtime, "/run/scan/").await.status, 409);
}

#[tokio::test]
async fn a_hundred_modules_share_one_engine_and_its_pool() {
    let echo = fixtures::echo(200);
    let names: Vec<String> = (0..100).map(|i| format!("m{i:02}.wasm")).collect();
    let modules: Vec<_> = names.iter().map(|name| (name.as_str(), echo.clone())).collect();
    // An engine of its own: this counts on nobody else using the pool.
    let limits = Limits { max_concurrent: 5, ..Limits::default() };
    let (runtime, _folder) = runtime(&modules, limits).await.unwrap();
    assert_eq!(runtime.modules().len(), 100);
    let all = (0..300).map(|n| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            let answer = send(&runtime, request("POST", &format!("/run/m{:02}/", n % 100), n.to_string())).await;
            (answer.status.as_u16(), answer.body == n.to_string())
        })
    });
    for each in all.collect::<Vec<_>>() {
        assert_eq!(each.await.unwrap(), (200, true));
    }
    until(|| runtime.metrics().contains("tenon_pool_instances 0")).await;
}
