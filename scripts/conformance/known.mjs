// Cases that fail, with the reasons.

const anyMethod = "a method is any token: the answer is that of the router, 405";
const otherProtocol = "ICE and RTSP are not supported";
const fragment = "a target has no fragment (RFC 9112, section 3.2): 400";

const noContent =
  "the request has Content-Length: 0, so there is no content for which 100 would ask (RFC 9110, section 10.1.1)";
const notChunked = "400 instead of 501: chunked has to be the last coding (RFC 9112, section 6.3)";

/** By suite and case. */
export const known = {
  h2spec: {
    "plain http2/3.5/2 Sends invalid connection preface":
      "without TLS the same port speaks HTTP/1.1, where this is a malformed request: 400 instead of GOAWAY",
  },
  http11probe: {
    "COMP-HTTP12-VERSION": "hyper takes HTTP/1.0 and HTTP/1.1 only: 400",
    "SMUG-EXPECT-100-CL": "the suite treats the interim answer 100, which it asks for, as the final one",
  },
  llhttp: {
    "invalid: HTTP protocol and ANNOUNCE method": anyMethod,
    "method: M-SEARCH request": "the target * is for OPTIONS (RFC 9112, section 3.2.4): 400",
    "method: SOURCE request with ICE": otherProtocol,
    "method: OPTIONS request with RTSP": otherProtocol,
    "method: ANNOUNCE request with RTSP": otherProtocol,
    "sample: No HTTP version": "HTTP/0.9 is not supported (RFC 9112, appendix C.1 leaves it out): 400",
    "transfer-encoding: POST with `chunked` as last transfer-encoding": fragment,
    "transfer-encoding: POST with `chunked` as last transfer-encoding (multiple headers)": fragment,
    "uri: `host:port` and basic auth": "a user name in a target is refused (RFC 9110, section 4.2.4): 400",
    "uri: Quotes in URI": "a quotation mark is not a character of a URI (RFC 3986, section 2): 400",
    "uri: Fragment in URI": fragment,
  },
  nginx: {
    "http_uri: dot frag": fragment,
    "http_uri: dot dot frag": fragment,
    "http_uri: absolute args and frag": fragment,
    "http_uri: port args and frag": fragment,
    "http_expect_100_continue: expect 100 continue": noContent,
    "http_expect_100_continue: expect 100 continue case-insensitive": noContent,
    "body_chunked: transfer encoding identity": notChunked,
    "body_chunked: transfer encoding list": notChunked,
  },
  node: {
    "blank-header": "Node drops the answer to a whole request when invalid bytes follow; here it is answered",
    "chunk-extensions-limit 3": "hyper limits the extensions of a whole body to 16 KiB, Node those of one chunk",
    "rawheaders-limit": "the server's max_headers is 64: 431",
    "server-multiple-client-error": "an absolute target contains the host, so a Host field is not required",
    "upgrade-server2": "Node requires no Host for an upgrade, RFC 9112 (section 3.2) for every request: 400",
  },
  wasi: {
    "http-client-path-none":
      "wasmtime makes no URI of a request that has an authority and no path, and refuses to send it (WASI issue 949)",
    "http-client-sent": "wasmtime reports that a request was transmitted whose call has failed (wasmtime issue 14112)",
  },
};
