use super::*;

fn follow(text: &str) -> Result<bool, Violation> {
    let mut framing = Requests::new();
    framing.advance(text.as_bytes()).map_err(|refusal| refusal.violation)?;
    Ok(framing.is_between())
}

fn post(fields: &str, body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n{body}")
}

#[test]
fn requests_with_one_reading_pass() {
    for whole in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /?q={a}|b\\c HTTP/1.1\r\nHost:x\r\nEmpty:\r\nLatin: \u{e9}\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n",
        &post("Content-Length: 0", ""),
        &post("content-LENGTH:\t005  ", "hello"),
        &post("Content-Length: 5", "helloGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        &post("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"),
        &post("Transfer-Encoding:  Chunked ", "0005;a=b;c ; d=\"x\\\"\\r;y\"\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n"),
        &post("Transfer-Encoding: gzip, chunked", "0\r\nExpires: never\r\nDigest: x\r\n\r\n"),
        &post("Content-Lengths: x\r\nX-Content-Length: y\r\nTransfer-Encodings: z", ""),
        &post("Content-Length-Of-Something-Else: 1", ""),
    ] {
        assert_eq!(follow(whole), Ok(true), "{whole:?}");
    }
    for begun in [
        "",
        "G",
        "\r",
        "GET / HTTP/1.1\r\nHost: x\r\n\r",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1",
        &post("Content-Length: 6", "hello"),
        &post("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n"),
        &post("Transfer-Encoding: chunked", "fffffffffffffff\r\nhello"),
    ] {
        assert_eq!(follow(begun), Ok(begun.is_empty()), "{begun:?}");
    }
}

#[test]
fn requests_with_more_than_one_reading_are_refused() {
    use Violation::*;
    let heads = [
        ("GET / HTTP/1.1\nHost: x\r\n\r\n", BareLf),
        ("GET / HTTP/1.1\r\nHost: x\n\r\n", BareLf),
        ("GET / HTTP/1.1\r\nHost: x\r\n\n", BareLf),
        ("\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", BareLf),
        ("\rGET / HTTP/1.1\r\nHost: x\r\n\r\n", BareCr),
        ("GET / HTTP/1.1\rHost: x\r\n\r\n", BareCr),
        ("GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", BareCr),
        ("GET / HTTP/1.1\r\nHost: x\r\n\rA: b\r\n\r\n", BareCr),
        ("GET /#a HTTP/1.1\r\nHost: x\r\n\r\n", Target),
        ("GET /\u{e9} HTTP/1.1\r\nHost: x\r\n\r\n", Target),
        ("GET / HTTP/1.1\r\n Host: x\r\n\r\n", FieldName),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", FieldName),
        ("GET / HTTP/1.1\r\nHost\r\n\r\n", FieldName),
        ("GET / HTTP/1.1\r\n: x\r\n\r\n", FieldName),
        ("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", FieldName),
        ("GET / HTTP/1.1\r\nA: b\r\n\tfolded\r\n\r\n", FieldName),
        ("GET / HTTP/1.1\r\nX[]: b\r\n\r\n", FieldName),
    ];
    for (head, violation) in heads {
        assert_eq!(follow(head), Err(violation), "{head:?}");
    }
    let fields = [
        ("Content-Length:", ContentLength),
        ("Content-Length: -1", ContentLength),
        ("Content-Length: +1", ContentLength),
        ("Content-Length: 0x1", ContentLength),
        ("Content-Length: 1_0", ContentLength),
        ("Content-Length: 1 0", ContentLength),
        ("Content-Length: 1, 1", ContentLength),
        ("Content-Length: 99999999999999999999999", ContentLength),
        ("Content-Length: 1\r\nContent-Length: 1", RepeatedContentLength),
        ("Content-Length: 1\r\nContent-Length: 2", RepeatedContentLength),
        ("Content_Length: 1", Lookalike),
        ("Transfer_Encoding: chunked", Lookalike),
        ("Transfer-Encoding:", TransferEncoding),
        ("Transfer-Encoding: gzip", TransferEncoding),
        ("Transfer-Encoding: identity", TransferEncoding),
        ("Transfer-Encoding: xchunked", TransferEncoding),
        ("Transfer-Encoding: chunked;a=b", TransferEncoding),
        ("Transfer-Encoding: chunked, gzip", TransferEncoding),
        ("Transfer-Encoding: chunked, chunked", TransferEncoding),
        ("Transfer-Encoding: , chunked", TransferEncoding),
        ("Transfer-Encoding: chunked,", TransferEncoding),
        ("Transfer-Encoding: \"chunked\"", TransferEncoding),
        ("Transfer-Encoding: \x0bchunked", TransferEncoding),
        ("Transfer-Encoding: chunked\0", TransferEncoding),
        ("Transfer-Encoding:\r\n chunked", TransferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", TransferEncoding),
        ("Transfer-Encoding: gzip, chunked\r\nTransfer-Encoding: identity", TransferEncoding),
        ("Transfer-Encoding: chunked\r\nContent-Length: 1", BothLengths),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked", BothLengths),
    ];
    for (lines, violation) in fields {
        assert_eq!(follow(&post(lines, "")), Err(violation), "{lines:?}");
    }
    let long = format!("Transfer-Encoding: {}, chunked", "gzip, ".repeat(20));
    assert_eq!(follow(&post(&long, "")), Err(TransferEncoding));
    let bodies = [
        ("\r\n", ChunkSize),
        ("+5\r\nhello\r\n", ChunkSize),
        ("-5\r\nhello\r\n", ChunkSize),
        ("0x5\r\nhello\r\n", ChunkSize),
        ("1_0\r\nhello\r\n", ChunkSize),
        (" 5\r\nhello\r\n", ChunkSize),
        ("g\r\nhello\r\n", ChunkSize),
        ("ffffffffffffffff\r\nhello\r\n", ChunkSize),
        ("10000000000000005\r\nhello\r\n", ChunkSize),
        ("5 \r\nhello\r\n", ChunkExtension),
        ("5 a\r\nhello\r\n", ChunkExtension),
        ("5;\r\nhello\r\n", ChunkExtension),
        ("5;a;\r\nhello\r\n", ChunkExtension),
        ("5;a=\r\nhello\r\n", ChunkExtension),
        ("5;a[=b\r\nhello\r\n", ChunkExtension),
        ("5;\0\r\nhello\r\n", ChunkExtension),
        ("5;a=\"b\r\nhello\r\n", ChunkExtension),
        ("5;a=\"b\"c\r\nhello\r\n", ChunkExtension),
        ("5;a\rb\r\nhello\r\n", BareCr),
        ("5\rhello\r\n", BareCr),
        ("5\nhello\r\n", BareLf),
        ("5;\nhello\r\n", BareLf),
        ("5;a\nhello\r\n", BareLf),
        ("5;a=\"\n\"\r\nhello\r\n", BareLf),
        ("5\r\nhello\n", ChunkEnd),
        ("5\r\nhello\rx", BareCr),
        ("5\r\nhello!!\r\n", ChunkEnd),
        ("5\r\nhello0\r\n", ChunkEnd),
        ("0\r\n\n", BareLf),
        ("0\r\na: b\n\r\n", BareLf),
        ("0\r\na : b\r\n\r\n", FieldName),
        ("0\r\nContent-Length: 5\r\n\r\n", Trailer),
        ("0\r\ntransfer-encoding: chunked\r\n\r\n", Trailer),
        ("0\r\nX\r\n", FieldName),
    ];
    for (body, violation) in bodies {
        assert_eq!(follow(&post("Transfer-Encoding: chunked", body)), Err(violation), "{body:?}");
    }
}

#[test]
fn a_violation_in_a_later_request_is_found_at_its_byte() {
    let first = post("Content-Length: 3", "\n\n\n");
    let bytes = format!("{first}{first}GET / HTTP/1.1\n");
    let refusal = Requests::new().advance(bytes.as_bytes()).unwrap_err();
    assert_eq!(refusal, Refusal { at: bytes.len() - 1, violation: Violation::BareLf });
}

#[test]
fn a_request_leaves_nothing_to_the_next() {
    let requests = [
        post("Transfer-Encoding: chunked", "0\r\nA: b\r\n\r\n"),
        post("Content-Length: 2", "xx"),
        post("Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n"),
        post("A: b", ""),
    ];
    assert_eq!(follow(&requests.concat()), Ok(true));
}
