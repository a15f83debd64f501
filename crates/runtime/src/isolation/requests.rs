//! Random requests: to random modules, to modules that stream or throw, and to routes in JavaScript.

use bytes::Bytes;
use http::Request;
use http::request::Builder;
use http_body_util::Full;
use tenon_fixtures::random::{Numbers, Step};

/// A request of some steps.
pub(super) fn to_random(module: &str, numbers: &mut Numbers) -> Request<Full<Bytes>> {
    let mut body = Vec::new();
    for _ in 0..numbers.below(7) {
        let step = match numbers.below(100) {
            0..60 => Step::Function,
            60..75 => Step::Store,
            75..80 => Step::Fill,
            80..85 => Step::Globals,
            85..87 => Step::Now,
            87..89 => Step::Random,
            89..91 => Step::Environment,
            91..93 => Step::Date,
            93..97 => Step::Stream,
            97 => Step::Grow,
            98 => Step::Log,
            _ => [Step::Timer, Step::Call, Step::Trap, Step::Invalid, Step::Recurse, Step::Sleep, Step::Hoard]
                [usize::try_from(numbers.below(7)).unwrap()],
        };
        let argument = if step == Step::Sleep { numbers.below(8) } else { numbers.below(16) };
        step.encode(u8::try_from(argument).unwrap(), numbers.next_u64(), &mut body);
    }
    if numbers.one_in(3_000) {
        Step::Spin.encode(0, 0, &mut body);
    }
    let path = numbers.below(1_000).to_string();
    request(numbers, module, &path, body)
}

/// A request to a module that streams (`tenon_fixtures::streams`).
pub(super) fn to_streams(module: &str, numbers: &mut Numbers) -> Request<Full<Bytes>> {
    let letter = match numbers.below(1_000) {
        0..400 => 'p',
        400..600 => 'f',
        600..700 => 'e',
        700..800 => 't',
        800..900 => 'b',
        900..950 => 'z',
        950..970 => 'k',
        970..998 => 'c',
        998 => 'w',
        // The module is given some seconds to end its call.
        _ if numbers.one_in(10) => 's',
        _ => 'n',
    };
    let path = format!("{letter}{}", numbers.below(12));
    request(numbers, module, &path, Vec::new())
}

/// A request to a module that throws as many exceptions as the path says (`tenon_fixtures::exceptions`).
pub(super) fn to_throws(module: &str, numbers: &mut Numbers) -> Request<Full<Bytes>> {
    let path = (numbers.below(4) * 50).to_string();
    request(numbers, module, &path, Vec::new())
}

/// The routes of scripts/isolation/src/handler.ts, and how often each is called among about a thousand requests.
const ROUTES: [(&str, u64); 36] = [
    ("nothing", 100),
    ("globals", 80),
    ("closures", 80),
    ("arrays", 80),
    ("maps", 60),
    ("strings", 60),
    ("regexes", 60),
    ("prototypes", 60),
    ("classes", 60),
    ("time", 60),
    ("random", 60),
    ("crypto", 40),
    ("environment", 20),
    ("json", 40),
    ("echo", 40),
    ("exceptions", 20),
    ("generators", 20),
    ("promises", 20),
    ("timers", 10),
    ("leftover", 10),
    ("log", 20),
    ("unfinished", 5),
    ("sidecar", 15),
    ("abandoned", 5),
    ("refused", 5),
    ("stream", 60),
    ("slowStream", 10),
    ("sse", 40),
    ("brokenStream", 20),
    ("secrets", 10),
    ("transaction", 10),
    ("growth", 5),
    ("recursion", 5),
    ("never", 1),
    ("hoard", 1),
    ("spin", 1),
];

/// A request to a random route of the JavaScript module.
pub(super) fn in_javascript(numbers: &mut Numbers) -> Request<Full<Bytes>> {
    let all: u64 = ROUTES.iter().map(|(_, weight)| weight).sum();
    let mut at = numbers.below(all);
    let route = ROUTES.iter().find(|(_, weight)| {
        let found = at < *weight;
        at = at.saturating_sub(*weight);
        found
    });
    let (route, _) = route.unwrap_or(&ROUTES[0]);
    let body: Vec<u8> = (0..numbers.below(2_000)).map(|_| b'a' + (numbers.next_u64() % 26) as u8).collect();
    let path = format!("{route}?n={}", numbers.below(1_000_000));
    posted(numbers, "javascript", &path).body(Full::new(body.into())).unwrap()
}

/// A request that may be one for the head of an answer alone.
fn request(numbers: &mut Numbers, module: &str, path: &str, body: Vec<u8>) -> Request<Full<Bytes>> {
    let method = if numbers.one_in(10) { "HEAD" } else { "POST" };
    posted(numbers, module, path).method(method).body(Full::new(body.into())).unwrap()
}

/// A request to one of the two places of a module, by either scheme, in a trace or not: the host holds each of these facts for an
/// instance.
fn posted(numbers: &mut Numbers, module: &str, path: &str) -> Builder {
    let scheme = if numbers.one_in(4) { "https" } else { "http" };
    let prefix = if numbers.one_in(4) { "at" } else { "run" };
    let uri = format!("{scheme}://example.test/{prefix}/{module}/{path}");
    let request = Request::post(uri).header("host", "example.test");
    if numbers.one_in(3) {
        return request;
    }
    request.header("traceparent", format!("00-{:032x}-{:016x}-01", numbers.next_u64(), numbers.next_u64()))
}
