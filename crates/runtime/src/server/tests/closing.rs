//! A server that drains and closes, and the listener of its own for operations.

use super::*;

#[tokio::test]
async fn closing_cuts_off_what_does_not_finish_in_time() {
    let limits = Limits { shutdown_timeout_ms: 50, ..limits() };
    let (server, address, runtime, _folder) = server(&[("spin", tenon_fixtures::spin())], limits).await;
    let running = tokio::spawn(raw(address, "GET /run/spin/ HTTP/1.1\r\nhost: x\r\n\r\n"));
    while !runtime.metrics().contains("tenon_requests_running 1") {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // The request has 30 s.
    tokio::time::timeout(Duration::from_secs(10), server.close()).await.expect("the server does not wait for it");
    assert_eq!(running.await.unwrap(), "");
    assert_eq!(runtime.recent_requests()[0].status.as_u16(), 499);
}

/// The system has accepted these connections, and the server has not seen them: its task does not run meanwhile.
#[tokio::test]
async fn closing_answers_the_requests_of_connections_that_wait_to_be_accepted() {
    let (server, address, _runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let connect = |_| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, b"GET /run/echo/ HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        stream
    };
    let waiting: Vec<_> = (0..20).map(connect).collect();
    server.close().await;
    for mut stream in waiting {
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test]
async fn a_server_takes_the_place_of_another_one_and_no_connection_is_refused() {
    let (first, address, _runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let (other, _, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(201))], limits()).await;
    let status = async || {
        let answer = raw(address, "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        answer.get(9..12).map(str::to_owned)
    };
    let second = runtime.take_over(first.socket().unwrap()).unwrap();
    assert_eq!(second.address(), Some(address));
    let closing = tokio::spawn(first.close());
    while !closing.is_finished() {
        assert!(["200", "201"].map(|status| Some(status.to_owned())).contains(&status().await));
    }
    for _ in 0..100 {
        assert_eq!(status().await.as_deref(), Some("201"));
    }
    second.close().await;
    assert!(TcpStream::connect(address).await.is_err(), "the last server closes the socket");
    other.close().await;
}

#[tokio::test]
async fn a_server_that_drains_serves_and_says_so() {
    let limits = Limits { drain_ms: 20, ..limits() };
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits).await;
    let get = async |path: &str| raw(address, &format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n")).await;
    let before = raw(address, "GET /ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(before.starts_with("HTTP/1.1 200") && before.ends_with(r#"{"status":"ready"}"#), "{before}");
    runtime.drain().await;
    let ready = get("/ready").await;
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    assert!(ready.ends_with(r#"{"status":"unready","reasons":["the server is about to close"]}"#), "{ready}");
    // `get` reads until the server closes.
    for path in ["/run/echo/", "/health"] {
        let answer = get(path).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close\r\n"), "{answer}");
    }
}

#[tokio::test]
async fn metrics_have_a_listener_of_their_own() {
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let status = async |address, path: &str| {
        let answer = raw(address, &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        answer[9..12].to_string()
    };
    assert_eq!(status(address, "/metrics").await, "200");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let operations = runtime.listen_for_operations(listener);
    let own = operations.address().unwrap();
    for (path, public, at_own) in [
        ("/metrics", "404", "200"),
        ("/health", "200", "200"),
        ("/ready", "200", "200"),
        ("/run/echo/", "200", "404"),
        ("/other", "404", "404"),
    ] {
        assert_eq!(
            (status(address, path).await.as_str(), status(own, path).await.as_str()),
            (public, at_own),
            "{path}"
        );
    }
}

#[tokio::test]
async fn closing_lets_running_requests_finish_within_their_time() {
    let limits = Limits { request_timeout_ms: 500, ..limits() };
    let (server, address, runtime, _folder) = server(&[("spin", tenon_fixtures::spin())], limits).await;
    let running = tokio::spawn(raw(address, "GET /run/spin/ HTTP/1.1\r\nhost: x\r\n\r\n"));
    while !runtime.metrics().contains("tenon_requests_running 1") {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    server.close().await;
    assert!(running.await.unwrap().starts_with("HTTP/1.1 504"), "it was answered although the server closes");
    assert!(TcpStream::connect(address).await.is_err());
}
