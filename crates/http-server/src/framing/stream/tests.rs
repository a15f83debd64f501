use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::Refusal;
use super::*;
use crate::Budget;

/// The requests that a service behind hyper saw, and the client's statuses.
#[derive(Debug, Default, PartialEq, Eq)]
struct Exchange {
    seen: Vec<(String, Option<Bytes>)>,
    statuses: Vec<u16>,
    closed: bool,
}

/// Serves a connection that sends `pieces`, each in its own write.
async fn serve(pieces: &[&[u8]], is_strict: bool) -> Exchange {
    let (mut client, server) = tokio::io::duplex(1 << 20);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let service = service_fn(move |request: Request<Incoming>| {
        let noted = Arc::clone(&noted);
        async move {
            let target = request.uri().to_string();
            let body = request.into_body().collect().await.ok().map(|body| body.to_bytes());
            let status = if body.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
            noted.lock().unwrap().push((target, body));
            Ok::<_, Infallible>(Response::builder().status(status).body(Full::new(Bytes::new())).unwrap())
        }
    });
    let builder = http1::Builder::new();
    let account = Budget::new(1 << 20).unshared();
    let serving = tokio::spawn(async move {
        let _ = if is_strict {
            builder.serve_connection(TokioIo::new(Framed::new(server, &account)), service).await
        } else {
            builder.serve_connection(TokioIo::new(server), service).await
        };
    });
    for piece in pieces {
        if client.write_all(piece).await.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    // The server closes the connection or waits for more.
    let mut answers = Vec::new();
    let mut closed = false;
    let mut idle = 0;
    while !closed && idle < 200 {
        let mut some = [0; 4096];
        tokio::select! {
            biased;
            read = client.read(&mut some) => match read {
                Ok(0) | Err(_) => closed = true,
                Ok(length) => { answers.extend_from_slice(&some[..length]); idle = 0; }
            },
            () = tokio::task::yield_now() => idle += 1,
        }
    }
    serving.abort();
    let text = String::from_utf8_lossy(&answers);
    let statuses = text.split("HTTP/1.").skip(1).filter_map(|answer| answer.get(2..5)?.parse().ok()).collect();
    Exchange { seen: std::mem::take(&mut *seen.lock().unwrap()), statuses, closed }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

const GOOD: &[u8] = b"GET /good HTTP/1.1\r\nHost: x\r\n\r\n";

/// Requests that hyper alone serves, or reads differently from another server.
const SMUGGLING: &[&[u8]] = &[
    b"GET /bad HTTP/1.1\nHost: x\r\n\r\n",
    b"GET /bad HTTP/1.1\r\nHost: x\n\n",
    b"GET /bad HTTP/1.1\r\nHost: x\r\n\n",
    b"GET /bad#fragment HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /bad HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /bad HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
    b"POST /bad HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nX",
    b"POST /bad HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /bad HTTP/1.1\r\nHost: x\r\nContent_Length: 5\r\n\r\n",
];

const BAD_CHUNKS: &[&[u8]] = &[
    b"5 \r\nhello\r\n0\r\n\r\n",
    b"5;\r\nhello\r\n0\r\n\r\n",
    b"5;a[=b\r\nhello\r\n0\r\n\r\n",
    b"5;\0\r\nhello\r\n0\r\n\r\n",
    b"5\r\nhello\n0\r\n\r\n",
    b"5\r\nhello\r\n0\r\n\n",
    b"5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
    b"5\r\nhello\r\n0\r\nA: b\n\r\n",
    b"5\r\nhello\r\n0\r\nA : b\r\n\r\n",
];

#[test]
fn a_request_with_two_readings_is_answered_400_in_order_and_the_connection_ends() {
    for bad in SMUGGLING {
        let whole = [GOOD, bad, GOOD].concat();
        let bytewise: Vec<_> = whole.chunks(1).collect();
        for pieces in [&[&*whole][..], &bytewise] {
            let exchange = run(serve(pieces, true));
            let targets: Vec<_> = exchange.seen.iter().map(|(target, _)| target.as_str()).collect();
            let text = String::from_utf8_lossy(bad);
            assert_eq!(targets, ["/good"], "{text:?}");
            assert_eq!((exchange.statuses, exchange.closed), (vec![200, 400], true), "{text:?}");
        }
    }
}

#[test]
fn a_malformed_chunk_is_an_error_of_the_body_and_the_connection_ends() {
    for bad in BAD_CHUNKS {
        let head = b"POST /bad HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        let whole = [head, *bad, GOOD].concat();
        let bytewise: Vec<_> = whole.chunks(1).collect();
        for pieces in [&[&*whole][..], &bytewise] {
            let exchange = run(serve(pieces, true));
            let text = String::from_utf8_lossy(bad);
            assert_eq!(exchange.seen, [("/bad".to_string(), None)], "{text:?}");
            assert_eq!((exchange.statuses, exchange.closed), (vec![400], true), "{text:?}");
        }
    }
}

/// Generates pieces of requests, well-formed and malformed.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        GOOD,
        b"POST /a HTTP/1.1\r\nHost: x\r\n",
        b"Content-Length: 5\r\n",
        b"Content-Length: 0\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Connection: close\r\n",
        b"A: b\r\n",
        b"\r\n",
        b"\r",
        b"\n",
        b" ",
        b"hello",
        b"5\r\nhello\r\n",
        b"5;a=\"b\r\n\"\r\nhello\r\n",
        b"5 ; a\r\nhello\r\n",
        b"0\r\n\r\n",
        b"0\r\nA: b\r\n\r\n",
        b"0\r\nA: b\r\n",
        b"\0",
        b":",
    ];
    prop_oneof![8 => prop::sample::select(known).prop_map(<[u8]>::to_vec), 1 => prop::collection::vec(any::<u8>(), 1..4)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The first violation is at the same byte, however a connection's bytes are divided.
    #[test]
    fn the_reading_does_not_depend_on_how_the_bytes_come(pieces in prop::collection::vec(piece(), 1..12)) {
        let bytes = pieces.concat();
        let whole = Requests::new().advance(&bytes);
        let mut framing = Requests::new();
        let bytewise = bytes.iter().enumerate().try_for_each(|(at, byte)| {
            framing.advance(&[*byte]).map_err(|refusal| Refusal { at: at + refusal.at, ..refusal })
        });
        prop_assert_eq!(whole, bytewise);
    }

    /// hyper sees the same requests as this crate: if all bytes pass, as many as end in them.
    #[test]
    fn hyper_reads_what_passes_as_this_crate_does(pieces in prop::collection::vec(piece(), 1..10)) {
        let bytes = pieces.concat();
        let mut framing = Requests::new();
        let mut whole = 0;
        let mut passes = true;
        let mut empty = true;
        for byte in &bytes {
            passes &= framing.advance(&[*byte]).is_ok();
            if !passes { break; }
            // An empty line before a request leaves the state between requests.
            if framing.is_between() { whole += usize::from(!empty); empty = true; }
            else { empty &= matches!(*byte, b'\r'); }
        }
        let slices: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
        let (strict, lenient) = run(async { (serve(&slices, true).await, serve(&slices, false).await) });
        if passes {
            prop_assert_eq!(&strict, &lenient);
            let refused = strict.statuses.iter().any(|status| *status != 200) || strict.closed;
            let served = strict.seen.iter().filter(|(_, body)| body.is_some()).count();
            prop_assert!(served == whole || refused && served <= whole, "{} of {}: {:?}", served, whole, strict);
        } else {
            // Nothing after a violation is served.
            let served = strict.seen.iter().filter(|(_, body)| body.is_some()).count();
            prop_assert!(served <= whole, "{} of {}: {:?}", served, whole, strict);
        }
    }
}
