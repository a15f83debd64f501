//! Where the crates' log lines go: standard error of the process, and functions of JavaScript.

use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use napi::bindgen_prelude::{Either3, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Result, Status};
use napi_derive::napi;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::{Context, Filter, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::failure::Failure;

/// The target of access lines, which have a switch of their own and are not a matter of the level.
const ACCESS: &str = "access";

/// What may wait for Node's thread, for each function: records, and bytes of text in them.
const MAX_RECORDS: usize = 2_000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Level and format of standard error. The first runtime without a function of its own decides, since there is one standard
/// error.
static STDERR: OnceLock<(LevelFilter, Format)> = OnceLock::new();

/// The functions, each with its level.
static LISTENERS: RwLock<Vec<Weak<Listener>>> = RwLock::new(Vec::new());

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Readable,
    Json,
}

/// Sets standard error up. `level` is `off`, `error`, `warn`, `info` or `debug`; `format` is `readable` or `json`.
pub(crate) fn start(level: &str, format: &str) -> std::result::Result<(), Failure> {
    let level = parse(level)?;
    let format = match format {
        "readable" => Format::Readable,
        "json" => Format::Json,
        other => {
            return Err(Failure::new("CONFIG", format!("`{other}` is no log format: use readable or json")));
        }
    };
    subscribe();
    if STDERR.set((level, format)).is_ok() {
        tracing::callsite::rebuild_interest_cache();
    }
    Ok(())
}

fn parse(level: &str) -> std::result::Result<LevelFilter, Failure> {
    level
        .parse()
        .map_err(|_| Failure::new("CONFIG", format!("`{level}` is no log level: use off, error, warn, info or debug")))
}

/// Receives the log of this process, once.
fn subscribe() {
    static SUBSCRIBED: OnceLock<()> = OnceLock::new();
    SUBSCRIBED.get_or_init(|| {
        let color = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let readable = layer().with_ansi(color).with_target(false).with_writer(stderr);
        let json = layer().json().flatten_event(true).with_writer(stderr);
        let outputs = vec![
            readable.with_filter(Shown(Output::Stderr(Format::Readable))).boxed(),
            json.with_filter(Shown(Output::Stderr(Format::Json))).boxed(),
            ToListeners.with_filter(Shown(Output::Listeners)).boxed(),
        ];
        // An error means that another part of the process receives the log.
        let _ = tracing_subscriber::registry().with(outputs).try_init();
    });
}

/// Where a line can go.
enum Output {
    Stderr(Format),
    Listeners,
}

impl Output {
    /// The most detailed level that it shows; none when it shows nothing, not even access lines.
    fn level(&self) -> Option<LevelFilter> {
        match self {
            Self::Stderr(format) => STDERR.get().filter(|(_, chosen)| chosen == format).map(|(level, _)| *level),
            Self::Listeners => listeners().iter().map(|listener| listener.level).max(),
        }
    }
}

/// Lets through what an output shows. It is asked once for each place in the code that logs, until the outputs change.
struct Shown(Output);

impl<S> Filter<S> for Shown {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.0.level().is_some_and(|level| shows(level, metadata))
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.0.level().is_some_and(|level| shows(level, metadata)) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0.level().map_or(LevelFilter::OFF, |level| level.max(LevelFilter::INFO)))
    }
}

fn shows(level: LevelFilter, metadata: &Metadata<'_>) -> bool {
    metadata.target() == ACCESS || *metadata.level() <= level
}

fn listeners() -> Vec<Arc<Listener>> {
    let listeners = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
    listeners.iter().filter_map(Weak::upgrade).collect()
}

/// A record of the log.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct NativeLogRecord {
    /// Milliseconds since 1970.
    pub time: f64,
    /// `error`, `warn`, `info` or `debug`.
    pub level: String,
    /// `module` for what a module writes, `access` for a request, and a part of Tenon otherwise.
    pub target: String,
    pub message: String,
    pub module: Option<String>,
    pub request_id: Option<String>,
    /// What else there is.
    pub fields: HashMap<String, Either3<String, f64, bool>>,
}

impl NativeLogRecord {
    fn of(event: &Event<'_>) -> Self {
        let metadata = event.metadata();
        let mut record = Self::new(metadata.level(), metadata.target());
        event.record(&mut record);
        record
    }

    fn new(level: &Level, target: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let level = level.as_str().to_lowercase();
        Self { time: (now.as_secs_f64() * 1000.0).floor(), level, target: target.to_string(), ..Self::default() }
    }

    /// Bytes of its texts.
    fn size(&self) -> usize {
        let fields = self
            .fields
            .iter()
            .map(|(name, value)| name.len() + if let Either3::A(text) = value { text.len() } else { size_of::<f64>() });
        self.message.len() + self.target.len() + fields.sum::<usize>()
    }

    fn put(&mut self, field: &Field, value: Either3<String, f64, bool>) {
        match (field.name(), value) {
            ("message", Either3::A(text)) => self.message = text,
            ("module", Either3::A(text)) => self.module = Some(text),
            ("request_id", Either3::A(text)) => self.request_id = Some(text),
            (name, value) => drop(self.fields.insert(name.to_string(), value)),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
impl Visit for NativeLogRecord {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, Either3::A(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Either3::A(value.to_string()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, Either3::B(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Either3::B(value as f64));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Either3::B(value as f64));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Either3::C(value));
    }
}

/// Hands events to the listeners.
struct ToListeners;

impl<S: Subscriber> Layer<S> for ToListeners {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        for listener in listeners() {
            if shows(listener.level, event.metadata()) {
                listener.add(NativeLogRecord::of(event));
            }
        }
    }
}

/// Wakes Node's thread; it carries nothing, and does not keep Node alive.
type Wake = ThreadsafeFunction<(), (), (), Status, false, true, 1>;

/// Records that wait for Node's thread.
struct Listener {
    level: LevelFilter,
    waiting: Mutex<Waiting>,
    /// Whether Node's thread was woken and has not come yet.
    woken: AtomicBool,
    wake: Wake,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<NativeLogRecord>,
    bytes: usize,
    /// Records for which there was no room.
    left_out: u32,
}

impl Listener {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, record: NativeLogRecord) {
        let mut waiting = self.waiting();
        let bytes = waiting.bytes + record.size();
        if waiting.records.len() >= MAX_RECORDS || bytes > MAX_BYTES {
            waiting.left_out = waiting.left_out.saturating_add(1);
            return;
        }
        waiting.bytes = bytes;
        waiting.records.push_back(record);
        drop(waiting);
        if !self.woken.swap(true, Ordering::AcqRel) {
            // This fails when Node's thread has ended, and then nobody listens.
            let _ = self.wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// The log of this process for a function of JavaScript, from when it is made until it is closed.
#[napi]
pub struct Log {
    listener: Option<Arc<Listener>>,
}

#[napi]
impl Log {
    /// `wake` is called on Node's thread when there is something to take. Throws when there is no such level.
    #[napi(constructor)]
    pub fn new(level: String, #[napi(ts_arg_type = "() => void")] wake: Function<'_, (), ()>) -> Result<Self> {
        let level = parse(&level).map_err(|failure| napi::Error::from_reason(failure.message().to_string()))?;
        let wake = wake.build_threadsafe_function::<()>().callee_handled::<false>().weak::<true>();
        let wake = wake.max_queue_size::<1>().build_callback(|_| Ok(()))?;
        let (waiting, woken) = (Mutex::default(), AtomicBool::new(false));
        let listener = Arc::new(Listener { level, waiting, woken, wake });
        subscribe();
        change(|listeners| listeners.push(Arc::downgrade(&listener)));
        Ok(Self { listener: Some(listener) })
    }

    /// Takes what waits. When something was left out, the last record says how much.
    #[napi]
    pub fn take(&self) -> Vec<NativeLogRecord> {
        let Some(listener) = &self.listener else { return Vec::new() };
        listener.woken.store(false, Ordering::Release);
        let Waiting { records, left_out, .. } = std::mem::take(&mut *listener.waiting());
        let mut records: Vec<_> = records.into();
        if left_out > 0 {
            let mut record = NativeLogRecord::new(&Level::WARN, "log");
            record.message =
                format!("{left_out} records of the log are left out: they came faster than they were taken");
            record.fields.insert("left_out".to_string(), Either3::B(left_out.into()));
            records.push(record);
        }
        records
    }

    /// Ends it. What waits is lost.
    #[napi]
    pub fn close(&mut self) {
        self.listener = None;
        change(|listeners| listeners.retain(|listener| listener.strong_count() > 0));
    }
}

fn change(how: impl FnOnce(&mut Vec<Weak<Listener>>)) {
    how(&mut LISTENERS.write().unwrap_or_else(PoisonError::into_inner));
    tracing::callsite::rebuild_interest_cache();
}
