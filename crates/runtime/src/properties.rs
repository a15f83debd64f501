//! Properties that hold for any input, tested with random ones (`PROPTEST_CASES` sets the number).

use std::path::PathBuf;
use std::sync::OnceLock;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;

use crate::instance::call::Failure;
use crate::instance::call::direct::{lift, lower};
use crate::instance::call::direct_entry::bindings::exports::sdk::core::handler;
use crate::{Limits, ModuleSource, Runtime, RuntimeConfig};

fn tokio() -> &'static tokio::runtime::Runtime {
    static TOKIO: OnceLock<tokio::runtime::Runtime> = OnceLock::new();
    TOKIO.get_or_init(|| tokio::runtime::Runtime::new().unwrap())
}

/// Header names and values as they are, broken and otherwise.
fn headers() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let name = prop_oneof![
        "[a-z-]{1,12}",
        ".{0,6}",
        Just("content-length".to_string()),
        Just("transfer-encoding".to_string()),
        Just("set-cookie".to_string())
    ];
    prop::collection::vec((name, prop::collection::vec(any::<u8>(), 0..12)), 0..8)
}

/// Bodies of 48 bytes at most.
fn limits() -> Limits {
    Limits { max_response_bytes: 48, ..Limits::default() }
}

#[test]
fn as_many_headers_as_fit_are_a_response_and_more_are_refused() {
    let lifted = |count: usize, value: usize, limits: &Limits| {
        let headers = (0..count).map(|index| (format!("x-{index:05}"), vec![b'a'; value])).collect();
        lift(handler::Response { status: 200, headers, body: None }, false, limits)
    };
    assert_eq!(lifted(10_000, 0, &limits()).unwrap().headers().len(), 10_001);
    assert!(lifted(1, 128 * 1024 - 7, &limits()).is_ok());
    for (count, value) in [(1, 128 * 1024 - 6), (100_000, 1)] {
        assert!(matches!(lifted(count, value, &limits()), Err(Failure::InvalidResponse(_))), "{count} of {value}");
    }
    let more_than_a_map_takes = lifted(33_000, 0, &Limits { max_fields_bytes: 16 * 1024 * 1024, ..limits() });
    assert!(matches!(more_than_a_map_takes, Err(Failure::InvalidResponse(_))));
}

#[test]
fn a_length_that_a_handler_announces_is_that_of_its_body() {
    let announced = |lengths: &[&str], head| {
        let headers = lengths.iter().map(|length| ("Content-Length".to_string(), length.as_bytes().to_vec())).collect();
        let lifted = lift(handler::Response { status: 200, headers, body: Some(b"body".to_vec()) }, head, &limits());
        lifted.ok().map(|response| response.headers()["content-length"].to_str().unwrap().to_string())
    };
    for head in [false, true] {
        assert_eq!(announced(&[], head).as_deref(), Some("4"));
        assert_eq!(announced(&["4", "4"], head).as_deref(), Some("4"));
        for wrong in [&["4", "5"][..], &[""], &["four"], &["+4"]] {
            assert_eq!(announced(wrong, head), None, "{wrong:?}");
        }
    }
    let nothing = handler::Response { status: 200, headers: Vec::new(), body: None };
    let length = |head| lift(nothing.clone(), head, &limits()).unwrap().headers().get("content-length").cloned();
    assert_eq!(length(false).unwrap(), "0");
    assert_eq!(length(true), None, "a GET may have had a body");
    assert_eq!(announced(&["004"], true).as_deref(), Some("4"));
    assert_eq!([announced(&["5"], false), announced(&["004"], false)], [None, None]);
    assert_eq!(announced(&["5"], true).as_deref(), Some("5"), "a GET may have had another body");
}

proptest! {
    #[test]
    fn a_limit_is_what_was_set_or_what_it_was(name in "[a-z_]{0,24}|max_queued|max_body_bytes", value in any::<u64>()) {
        let mut limits = Limits::default();
        let outcome = limits.set(&name, value);
        prop_assert_eq!(limits.check(), Ok(()));
        prop_assert!(outcome.is_ok() || limits == Limits::default());
    }

    #[test]
    fn a_path_names_a_module_or_does_not(path in "(/?.{0,20}){0,3}") {
        if let Some(source) = ModuleSource::from_path(PathBuf::from(path)) {
            prop_assert!(!source.name.is_empty());
        }
    }

    #[test]
    fn any_record_is_a_response_or_refused(
        status in any::<u16>(),
        headers in headers(),
        body in prop::option::of(prop::collection::vec(any::<u8>(), 0..64)),
        head in any::<bool>(),
    ) {
        let given = handler::Response { status, headers, body };
        if let Ok(response) = lift(given.clone(), head, &limits()) {
            prop_assert_eq!(response.status().as_u16(), status);
            prop_assert!((200..=599).contains(&status));
            prop_assert!(response.body().len() <= 48);
            let plain = |headers: &[(String, Vec<u8>)]| headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length")).count();
            let kept = response.headers().iter().filter(|(name, _)| *name != "content-length").count();
            prop_assert_eq!(kept, plain(&given.headers));
            for value in response.headers().values() {
                prop_assert!(!value.as_bytes().iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
            }
        }
    }

    #[test]
    fn any_request_is_a_record_that_keeps_its_headers(headers in headers(), body in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut builder = http::Request::builder().uri("/a%2Fb?c=%zz");
        for (name, value) in &headers {
            builder = builder.header(name.as_str(), value.as_slice());
        }
        if let Ok(request) = builder.body(Bytes::from(body.clone())) {
            let record = lower(request);
            prop_assert_eq!(record.path_with_query, "/a%2Fb?c=%zz");
            prop_assert_eq!(record.body.unwrap_or_default(), body);
            prop_assert!(record.headers.iter().all(|(name, _)| *name == name.to_ascii_lowercase()));
            prop_assert!(!record.headers.iter().any(|(name, _)| name == "transfer-encoding"));
        }
    }
}

proptest! {
    // Each case compiles.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(24)))]

    #[test]
    fn a_damaged_component_loads_or_does_not(at in any::<prop::sample::Index>(), with in any::<u8>(), cut in prop::option::of(any::<prop::sample::Index>())) {
        let mut bytes = tenon_fixtures::echo(200);
        let at = at.index(bytes.len());
        bytes[at] = with;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo.wasm");
        std::fs::write(&path, bytes).unwrap();
        let limits = Limits { max_concurrent: 4, request_timeout_ms: 2_000, ..Limits::default() };
        let modules = vec![ModuleSource::from_path(path).unwrap()];
        tokio().block_on(async {
            let config = RuntimeConfig { modules, limits, ..RuntimeConfig::default() };
            if let Ok(runtime) = Runtime::new(config).await {
                let request = http::Request::get("/run/echo/").header("host", "x").body(Full::new(Bytes::new())).unwrap();
                let response = runtime.handle(request).await;
                assert!(response.status().as_u16() >= 200);
                let _ = response.into_body().collect().await;
            }
        });
    }
}
