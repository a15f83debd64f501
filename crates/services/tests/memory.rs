//! The memory that a sidecar holds for its callers: random requests that keep to each single limit, and together want
//! as much as they can, stay below the one bound of bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use bytes::Bytes;
use futures::future::join_all;
use tenon_services::{InProcessSidecar, Limits, SidecarSettings};

const MIB: usize = 1 << 20;

/// The bound, and the largest body and result.
const HELD: usize = 64 * MIB;
const LARGEST: usize = 4 * MIB;

/// Memory that is no request's: the runtime, statements that SQLite has prepared, futures.
const BESIDES: usize = 4 * MIB;

/// Requests at the same time.
const AT_ONCE: usize = 48;

/// Counts the bytes that Rust has allocated. SQLite allocates by itself, within limits of its own.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller passes a layout of a size that is not zero.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller passes a block of this allocator with its layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Random numbers with a seed, which a failure prints.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % most
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// One request to one of the sidecars.
#[derive(Clone)]
struct Asked {
    kind: usize,
    method: &'static str,
    path: String,
    body: Bytes,
}

const KINDS: [&str; 4] = ["kv", "queue", "sql", "cron"];

/// JSON of about `bytes` bytes that takes much more when it is parsed.
fn greedy(random: &mut Random, bytes: usize) -> String {
    let part = random.of(&[
        "0",
        "[]",
        "{}",
        "\"\"",
        "{\"\":0}",
        "[[0]]",
        "[[[[0]]]]",
        "{\"a\":{\"b\":[]}}",
        "\"\\u0001\"",
        "1.5e7",
        "\"aaaaaaaaaaaaaaaaaaaaaaaa\"",
        "[0,0,0,0,0]",
        "{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0}",
    ]);
    match random.below(4) {
        // One text, with escapes or without.
        0 => format!("\"{}\"", "\\n".repeat(bytes / 2)),
        1 => format!("\"{}\"", "x".repeat(bytes)),
        // An object of many members.
        2 => {
            let members: Vec<String> = (0..bytes / 10).map(|number| format!("\"{number:05x}\":0")).collect();
            format!("{{{}}}", members.join(","))
        }
        _ => format!("[{}]", vec![part; bytes / (part.len() + 1)].join(",")),
    }
}

fn size(random: &mut Random) -> usize {
    let sizes = [10, 1000, 50_000, 200_000, MIB, LARGEST - 1000];
    random.of(&sizes)
}

fn asked(random: &mut Random) -> Asked {
    let bytes = size(random);
    let ask = |kind, method, path: &str, body: String| Asked { kind, method, path: path.to_owned(), body: body.into() };
    let key = random.below(8);
    match random.below(16) {
        0 | 1 => ask(0, "PUT", &format!("/kv/{key}"), random.of(&["\u{1}", "x", "\u{ff}"]).repeat(bytes / 2)),
        2 | 3 => ask(0, "GET", &format!("/kv/{key}"), String::new()),
        4 | 5 => {
            let keys: Vec<String> = (0..=random.below(20)).map(|number| format!("\"{}\"", number % 8)).collect();
            ask(0, "POST", "/kv", format!("{{\"get\":[{}]}}", keys.join(",")))
        }
        6 => {
            let value = random.of(&["\\u0001", "x"]);
            let entry = |number: usize| format!("{{\"key\":\"{number}\",\"value\":\"{}\"}}", value.repeat(bytes / 60));
            ask(0, "POST", "/kv", format!("{{\"set\":[{}]}}", (0..8).map(entry).collect::<Vec<_>>().join(",")))
        }
        7 => ask(0, "GET", "/kv?limit=1000", String::new()),
        8 | 9 => {
            let count = 1 + random.below(4);
            let message = format!("{{\"body\":{}}}", greedy(random, bytes / count / 2));
            ask(1, "POST", "/queue/q", format!("{{\"messages\":[{}]}}", vec![message; count].join(",")))
        }
        10 | 11 => ask(1, "POST", "/queue/q/lease", "{\"max\":100,\"visibility_ms\":1}".to_owned()),
        12 => {
            let params = greedy(random, bytes);
            ask(2, "POST", "/sql/execute", format!("{{\"sql\":\"SELECT 1\",\"params\":[{params}]}}"))
        }
        13 => ask(2, "POST", random.of(&["/sql/batch", "/sql/query", "/sql/transaction"]), greedy(random, bytes)),
        14 => ask(3, random.of(&["POST", "PUT"]), random.of(&["/cron", "/cron-jobs"]), greedy(random, bytes)),
        _ => ask(random.of(&[0, 1]), "POST", random.of(&["/kv/n", "/queue/q/done"]), greedy(random, bytes)),
    }
}

async fn send(sidecars: &[InProcessSidecar], asked: Asked) -> Response {
    let request = Request::builder().method(asked.method).uri(asked.path).body(Body::from(asked.body));
    let request = request.expect("the request is valid");
    sidecars[asked.kind].clone().answer(request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_within_each_limit_stay_within_the_bound_of_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        max_buffered_bytes: HELD,
        max_body_bytes: LARGEST,
        max_result_bytes: LARGEST,
        queue_timeout: std::time::Duration::from_millis(200),
        ..Limits::default()
    };
    let open = KINDS.map(|kind| {
        let url = format!("sqlite:{}", folder.path().join(kind).display());
        let backend = SidecarSettings::new(kind, &url).backend().unwrap();
        InProcessSidecar::open(backend, limits.clone())
    });
    let sidecars: Vec<InProcessSidecar> = join_all(open).await.into_iter().map(Result::unwrap).collect();
    let seed: u64 = std::env::var("TENON_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let rounds: u64 = std::env::var("TENON_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(6);
    let mut random = Random(seed);
    let (mut ok, mut busy, mut most) = (0, 0, 0);
    for round in 0..rounds {
        // All at one sidecar now and then, because each has a bound of its own.
        let kind = random.below(KINDS.len() + 1);
        let requests: Vec<Asked> = std::iter::repeat_with(|| asked(&mut random))
            .filter(|asked| kind == KINDS.len() || asked.kind == kind)
            .take(AT_ONCE)
            .collect();
        let busiest = if kind == KINDS.len() { KINDS.len() } else { 1 };
        let before = ALLOCATED.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let tasks = requests.iter().map(|asked| {
            let (sidecars, asked) = (sidecars.clone(), asked.clone());
            tokio::spawn(async move { send(&sidecars, asked).await })
        });
        // Answers are held until the last one is there.
        let answers: Vec<Response> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
        let held = PEAK.load(Ordering::Relaxed) - before;
        most = most.max(held / busiest);
        ok += answers.iter().filter(|answer| answer.status().is_success()).count();
        busy += answers.iter().filter(|answer| answer.status() == 503).count();
        assert!(held <= busiest * HELD + BESIDES, "seed {seed}, round {round} ({kind}): {held} bytes");
    }
    // Otherwise nothing was put to the test.
    assert!(ok > 20 && busy > 5 && most > HELD / 3, "{ok} answers, {busy} without room, {most} bytes");
}
