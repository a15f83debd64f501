//! Fuzz target for requests into a module and responses out of it.

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tenon_fixtures::DICTATED_AT;
use tenon_runtime::{ModuleSource, ResponseBody, Runtime, RuntimeConfig};

use crate::{small, tokio};

/// Sends a request with arbitrary headers to a module that retells it, or makes another module answer with arbitrary
/// headers. Each is called once directly and once through the bridge. Only headers that HTTP keeps to a hop may be
/// lost, every response must be valid HTTP, and both interfaces must agree.
pub fn headers(bytes: &[u8]) {
    let mut given = Unstructured::new(bytes);
    let into = given.arbitrary::<bool>().unwrap_or_default();
    // Inputs with too few bytes are skipped.
    let _ =
        if into { Incoming::arbitrary(&mut given).map(inwards) } else { Outgoing::arbitrary(&mut given).map(outwards) };
}

type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Names with a meaning on the way.
const NAMES: [&str; 14] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "keep-alive",
    "te",
    "trailer",
    "expect",
    "set-cookie",
    "content-type",
    "x-request-id",
    "traceparent",
    "X-Mixed-Case",
];

fn fields(given: &mut Unstructured<'_>) -> arbitrary::Result<Fields> {
    let mut fields = Vec::new();
    for _ in 0..given.int_in_range(0..=8)? {
        let known = NAMES.get(usize::from(given.int_in_range(0..=20_u8)?));
        let name = match known {
            Some(name) => name.as_bytes().to_vec(),
            None => given.arbitrary::<&[u8]>()?.to_vec(),
        };
        let value = match given.int_in_range(0..=3_u8)? {
            0 => given.int_in_range(0..=12_u8)?.to_string().into_bytes(),
            _ => given.arbitrary::<&[u8]>()?.to_vec(),
        };
        fields.push((name, value));
    }
    Ok(fields)
}

struct Incoming {
    method: Method,
    target: String,
    headers: Fields,
    body: Vec<u8>,
}

impl<'a> Arbitrary<'a> for Incoming {
    fn arbitrary(given: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let method = match given.int_in_range(0..=3_u8)? {
            0 => Method::GET,
            1 => Method::POST,
            2 => Method::HEAD,
            _ => Method::from_bytes(given.arbitrary()?).unwrap_or(Method::PUT),
        };
        let (target, headers) = (given.arbitrary::<&str>()?.to_string(), fields(given)?);
        Ok(Self { method, target, headers, body: given.arbitrary::<&[u8]>()?.to_vec() })
    }
}

/// The response of a module as it is laid out in memory.
struct Outgoing {
    head: bool,
    image: Vec<u8>,
    headers: Fields,
    status: u16,
    body: Option<Vec<u8>>,
}

impl<'a> Arbitrary<'a> for Outgoing {
    fn arbitrary(given: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let head = given.ratio(1_u8, 4_u8)?;
        let status = if given.arbitrary()? { given.int_in_range(200..=599)? } else { given.arbitrary()? };
        let (headers, body) = (fields(given)?, given.arbitrary::<Option<&[u8]>>()?.map(<[u8]>::to_vec));
        let mut image = image(status, &headers, body.as_deref());
        // Now and then, one byte is wrong.
        if given.ratio(1_u8, 16_u8)? && !image.is_empty() {
            let at = given.choose_index(image.len())?;
            image[at] = given.arbitrary()?;
        }
        Ok(Self { head, image, headers, status, body })
    }
}

/// Encodes a response record in the canonical ABI: status at 0, headers at 4, body at 12.
fn image(status: u16, headers: &Fields, body: Option<&[u8]>) -> Vec<u8> {
    const RECORD: usize = 24;
    let mut strings = Vec::new();
    let strings_at = RECORD + headers.len() * 16;
    let mut put = |bytes: &[u8]| {
        let at = DICTATED_AT as usize + strings_at + strings.len();
        strings.extend_from_slice(bytes);
        [at, bytes.len()].map(|number| u32::try_from(number).unwrap_or_default().to_le_bytes()).concat()
    };
    let table: Vec<u8> = headers.iter().flat_map(|(name, value)| [put(name), put(value)].concat()).collect();
    let body = body.map(&mut put);
    let mut image =
        [u32::from(status), DICTATED_AT + RECORD as u32, headers.len() as u32].map(u32::to_le_bytes).concat();
    image.extend(u32::from(body.is_some()).to_le_bytes());
    image.extend(body.unwrap_or_else(|| vec![0; 8]));
    image.extend(table);
    image.extend(strings);
    image
}

/// Returns a runtime that serves both modules over both interfaces at `/run/<name>/`.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder for files: {error}"));
        let (told, asked) = (tenon_fixtures::dictated(), tenon_fixtures::retold());
        let components = [
            ("told-bridged", tenon_fixtures::bridged(&told)),
            ("asked-bridged", tenon_fixtures::bridged(&asked)),
            ("told", told),
            ("asked", asked),
        ];
        let modules = components.map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("no file can be written: {error}"));
            ModuleSource::new(name, path)
        });
        let config = RuntimeConfig { modules: modules.into(), limits: small(), ..RuntimeConfig::default() };
        tokio().block_on(Runtime::new(config)).unwrap_or_else(|error| panic!("the modules cannot be loaded: {error}"))
    })
}

#[derive(Debug, PartialEq)]
struct Received {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

fn send(request: Request<Full<Bytes>>) -> Received {
    let runtime = runtime();
    tokio().block_on(async {
        let (mut parts, body) = Response::<ResponseBody>::into_parts(runtime.handle(request).await);
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        parts.headers.remove("x-request-id");
        // The interfaces describe a failure with different words.
        let (headers, body) =
            if parts.status.is_server_error() { (HeaderMap::new(), Bytes::new()) } else { (parts.headers, body) };
        Received { status: parts.status, headers, body }
    })
}

fn inwards(Incoming { method, target, headers, body }: Incoming) {
    let ask = |module: &str| {
        let mut builder =
            Request::builder().method(&method).uri(format!("/run/{module}/{target}")).header(HOST, "a.test");
        for (name, value) in &headers {
            builder = builder.header(&name[..], &value[..]);
        }
        builder.body(Full::new(Bytes::from(body.clone())))
    };
    let (Ok(direct), Ok(bridged)) = (ask("asked"), ask("asked-bridged")) else { return };
    let expected = in_order(&expected(&direct, &body));
    let (mut direct, mut bridged) = (send(direct), send(bridged));
    direct.body = in_order(&direct.body);
    bridged.body = in_order(&bridged.body);
    if direct.status == StatusCode::OK {
        if method != Method::HEAD {
            assert_eq!(direct.body, expected);
        }
        assert_eq!(direct, bridged, "the interfaces disagree");
    } else {
        // The server supports no transfer coding other than chunked (RFC 9112, section 6.1).
        let refused = direct.status.is_client_error() || direct.status == StatusCode::NOT_IMPLEMENTED;
        assert!(refused, "{direct:?}");
        assert_eq!(direct.status, bridged.status, "the interfaces disagree");
    }
}

/// Sorts the header lines of a retold request by name. Headers of different names have no order (RFC 9110, section
/// 5.3), and streams do not keep it.
fn in_order(retold: &[u8]) -> Bytes {
    let end = retold.windows(2).position(|two| two == b"\n\n").unwrap_or(retold.len());
    let (head, body) = retold.split_at(end);
    let mut lines: Vec<_> = head.split(|byte| *byte == b'\n').collect();
    if let Some(headers) = lines.get_mut(1..) {
        headers.sort_by_key(|line| line.split(|byte| *byte == b':').next());
    }
    [&lines.join(&b'\n'), body].concat().into()
}

/// Returns the request as the module must see it: `host` first, without headers of the connection.
fn expected(request: &Request<Full<Bytes>>, body: &[u8]) -> Vec<u8> {
    let target = request.uri().path_and_query().map(|target| target.as_str()).unwrap_or_default();
    let target = target.strip_prefix("/run/asked").unwrap_or_default();
    let mut text = format!("{} {target}\nhost:a.test\n", request.method()).into_bytes();
    let hop = ["keep-alive", "proxy-connection", "http2-settings", "proxy-authenticate", "proxy-authorization"];
    for (name, value) in request.headers() {
        if [HOST, CONNECTION, TRANSFER_ENCODING, UPGRADE].contains(name) || hop.contains(&name.as_str()) {
            continue;
        }
        text.extend([name.as_str().as_bytes(), b":", value.as_bytes(), b"\n"].concat());
    }
    text.push(b'\n');
    text.extend(body);
    text
}

fn outwards(Outgoing { head, image: told, headers, status, body }: Outgoing) {
    let ask = |module: &str| {
        let method = if head { Method::HEAD } else { Method::POST };
        let request = Request::builder().method(method).uri(format!("/run/{module}/")).header(HOST, "a.test");
        send(request.body(Full::new(Bytes::from(told.clone()))).unwrap_or_default())
    };
    let (direct, bridged) = (ask("told"), ask("told-bridged"));
    let both_fail = direct.status.is_server_error() && bridged.status.is_server_error();
    assert!(both_fail || direct == bridged, "{direct:?} and {bridged:?} are said of {status} {headers:?} {body:?}");
    if direct.status.is_server_error() || told != image(status, &headers, body.as_deref()) {
        return;
    }
    assert_eq!(direct.status.as_u16(), status);
    // The runtime sets the length, and `send` removes the request's id.
    let theirs = |name: &[u8]| {
        [CONTENT_LENGTH.as_str(), "x-request-id"].iter().all(|own| !name.eq_ignore_ascii_case(own.as_bytes()))
    };
    let kept = direct.headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH).count();
    let given: Vec<_> = headers.iter().filter(|(name, _)| theirs(name)).collect();
    assert_eq!(kept, given.len(), "no header is lost and none is made up");
    for (name, value) in given {
        let name = HeaderName::from_bytes(name).unwrap_or_else(|error| panic!("{name:?} was let through: {error}"));
        assert!(direct.headers.get_all(&name).iter().any(|each| each.as_bytes() == value), "{name}");
    }
    if !head {
        assert_eq!(direct.body, body.unwrap_or_default());
    }
}
