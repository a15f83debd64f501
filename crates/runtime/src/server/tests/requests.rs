//! Requests that are broken, or have two readings.

use super::*;

#[tokio::test]
async fn smuggled_pipelined_and_broken_requests() {
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let both = "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n\
                0\r\n\r\nGET /run/echo/smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    let answer = raw(address, both).await;
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "the connection ends behind an ambiguous request: {answer}");
    assert!(!runtime.recent_requests().iter().any(|each| each.path.contains("smuggled")));

    let one = "GET /run/echo/ HTTP/1.1\r\nhost: x\r\n\r\n";
    let last = "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = raw(address, &format!("{one}{one}{last}")).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 3, "{answer}");

    let old = raw(address, "GET /run/echo/ HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 200"), "before HTTP/1.1 no host need be named: {old}");
    let coded = "POST /run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: gzip, chunked\r\n\r\n\
                 1\r\nx\r\n0\r\n\r\n";
    let answer = raw(address, coded).await;
    assert!(answer.starts_with("HTTP/1.1 501"), "{answer}");

    for broken in [
        "GET /health HTTP/1.1\r\nconnection: close\r\n\r\n",
        "GET /run/echo/ HTTP/1.1\r\nhost: a b/c@d\r\nconnection: close\r\n\r\n",
        "GET http://u:p@x/run/echo/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nbody",
        "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\nbody",
        "GET /run/echo/ HTTP/1.1\r\nhost : x\r\n\r\n",
        "NONSENSE\r\n\r\n",
    ] {
        assert!(raw(address, broken).await.starts_with("HTTP/1.1 400"), "{broken:?}");
    }
}

/// Each is followed by a request for `/run/echo/smuggled` on the same connection.
const TWO_READINGS: &[&str] = &[
    // Lines that end with LF alone, or with CR alone.
    "GET /run/echo/ HTTP/1.1\nhost: x\r\n\r\n",
    "GET /run/echo/ HTTP/1.1\r\nhost: x\n\n",
    "GET /run/echo/ HTTP/1.1\r\nhost: x\ra: b\r\n\r\n",
    // Field lines that some fold, trim or take for others.
    "GET /run/echo/ HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length : 1\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer_encoding: chunked\r\n\r\n",
    "GET /run/echo/ HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n",
    // Two lengths, or an invalid one.
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: +1\r\n\r\nx",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    // Chunks whose end depends on the reader.
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;\n\r\nx\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;\r\nx\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n",
    "POST /run/echo/ HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\ncontent-length: 1\r\n\r\n",
    // Targets that no URI has.
    "GET /run/echo/#a HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET /run/echo/\u{e9} HTTP/1.1\r\nhost: x\r\n\r\n",
];

#[tokio::test]
async fn a_request_with_two_readings_is_refused_and_nothing_behind_it_served() {
    let (_server, address, runtime, _folder) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    for request in TWO_READINGS {
        let answer = raw(address, &format!("{request}GET /run/echo/smuggled HTTP/1.1\r\nhost: x\r\n\r\n")).await;
        assert!(answer.contains(" 400 Bad Request\r\n"), "{request:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{request:?}: {answer}");
    }
    assert!(!runtime.recent_requests().iter().any(|each| each.path.contains("smuggled")));
}

#[tokio::test]
async fn targets_are_of_a_form_that_their_method_has_a_use_for() {
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    for (line, status) in [
        ("OPTIONS *", "204"),
        ("GET *", "400"),
        ("GET x:80", "400"),
        ("CONNECT x:80", "405"),
        ("CONNECT /run/echo/", "400"),
        ("GET http://x/run/echo/", "200"),
        ("GET http://x:1.2/run/echo/", "400"),
        (&format!("{} /run/echo/", "A".repeat(33)), "400"),
    ] {
        let answer = raw(address, &format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {answer}");
    }
}

#[tokio::test]
async fn a_broken_preface_of_http2_is_not_answered_as_http1() {
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    for broken in ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r", "PRI * HTTP/2.0\r\nhost: x\r\n\r\n"] {
        assert_eq!(raw(address, broken).await, "", "{broken:?}");
    }
    // Another beginning is a request of HTTP/1.1, and a broken one.
    assert!(raw(address, "INVALID CONNECTION PREFACE\r\n\r\n").await.starts_with("HTTP/1.1 400"));
}

#[tokio::test]
async fn what_is_refused_by_its_head_is_answered_once_its_body_is_sent() {
    let (_server, address, ..) = server(&[("echo", tenon_fixtures::echo(200))], limits()).await;
    let body = "x".repeat(5 << 20);
    for (line, status) in
        [("POST /run/nope/", "404"), ("POST /nowhere", "404"), ("POST /health", "405"), ("GET /health", "200")]
    {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!("{line} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
        // A client that writes before it reads.
        stream.write_all(head.as_bytes()).await.unwrap();
        for piece in body.as_bytes().chunks(64 << 10) {
            stream.write_all(piece).await.unwrap();
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), format!("HTTP/1.1 {status}"), "{line}");
    }
}
