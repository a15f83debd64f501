//! The end of recordings: what was kept is masked, encoded and written, away from the request.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tenon_tape::{Encoder, Event, Kept, MAX_BYTES, Meta, Tape, TapeFolder, Written};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::derived::{self, Remade};
use super::difference::Difference;
use super::mask_list::MaskList;
use super::masked::{Masked, mask};
use super::masked_values::MaskedValues;
use super::not_recorded::{NotRecorded, NotRecordedLog, Reason};
use super::placeholders::Placeholders;
use super::player::{Ended, Mode};
use super::replay::{Played, play};
use super::seam::locked;
use crate::config::{Isolation, RecordConfig};
use crate::error::RuntimeError;
use crate::instance::call::EntryPoint;
use crate::module::Module;
use crate::module::engine::SharedEngine;
use crate::tape::recorder::Recorder;
use crate::telemetry::metrics::Metrics;

/// Bytes of the events of all requests that run, at most.
const RUNNING: usize = 128 * 1024 * 1024;

/// Recordings that wait to be written, at most. Others are left out.
const WAITING: usize = 256;

/// Runs of a request with placeholders, at most.
const MOST_RUNS: u8 = 3;

/// After a failure, nothing is written for this long.
const PAUSE: Duration = Duration::from_mins(1);

/// The reason for which nothing is written during that time.
const PAUSED: &str = "the folder could not be written";

const TOO_LARGE: &str = "it is larger than a recording may be";

/// How long a runtime that ends waits for its recordings.
const LAST: Duration = Duration::from_secs(10);

/// Takes what the recorders have collected.
pub(crate) struct Sink {
    config: RecordConfig,
    list: MaskList,
    placeholders: Placeholders,
    engine: SharedEngine,
    handle: Handle,
    /// Requests that are masked at once.
    turns: Arc<Semaphore>,
    claimed: AtomicUsize,
    /// Recordings that are not written yet.
    waiting: AtomicUsize,
    sender: SyncSender<Job>,
    metrics: Arc<Metrics>,
    log: NotRecordedLog,
    /// Names of modules that the log has the warning of, because they cannot be recorded.
    unrecordable: Mutex<BTreeSet<String>>,
    this: Weak<Self>,
}

/// A request that is kept, until it is written or left out. Nothing is left out silently: one that is dropped has a reason as well.
pub(super) struct Held {
    sink: Arc<Sink>,
    module: Arc<Module>,
    request_id: Arc<str>,
    /// Bytes of the sink's bound.
    claimed: usize,
    is_settled: bool,
}

impl Held {
    pub(super) fn new(sink: Arc<Sink>, module: Arc<Module>, request_id: Arc<str>, claimed: usize) -> Self {
        sink.waiting.fetch_add(1, Ordering::Relaxed);
        Self { sink, module, request_id, claimed, is_settled: false }
    }

    /// Notes what has become of it.
    fn settle(mut self, outcome: Result<(), NotRecorded>) {
        self.is_settled = true;
        match outcome {
            Ok(()) => self.sink.metrics.count_recording(&self.module.info.name),
            Err(why) => self.sink.leave_out(&self.module.info.name, &self.request_id, &why),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_settled {
            let why = NotRecorded::new(Reason::Internal, "the recorder has failed");
            self.sink.leave_out(&self.module.info.name, &self.request_id, &why);
        }
        self.sink.free(self.claimed);
        self.sink.waiting.fetch_sub(1, Ordering::Release);
    }
}

/// A request that has ended and is kept.
pub(super) struct Finished {
    pub(super) held: Held,
    pub(super) meta: Meta,
    pub(super) events: Vec<u8>,
    /// Texts that the guest made with placeholders, when it ran before.
    pub(super) remade: Remade,
    /// Runs with placeholders so far.
    pub(super) runs: u8,
}

/// A recording whose values are masked.
struct Encoded {
    held: Held,
    meta: Meta,
    events: Vec<u8>,
    /// Set if the guest ran again.
    again: Option<Again>,
    /// The values that must not be in the file.
    known: MaskedValues,
}

/// A run with placeholders.
struct Again {
    /// The events with the masked values.
    before: Vec<u8>,
    remade: Remade,
    runs: u8,
    /// Set when the guest did something else.
    failure: Option<NotRecorded>,
}

impl Encoded {
    /// Checks the file, and returns it. When the guest got back what it had made of masked values or of random ones, it runs once more
    /// and gets what it makes of placeholders.
    fn checked(mut self) -> Checked {
        let (mut failure, mut remade) = (None, None);
        if let Some(again) = self.again.take() {
            let before = Encoder::decode(&again.before);
            let (Ok(mut before), Ok(mut after)) = (before, Encoder::decode(&self.events)) else {
                return Checked::Not(self.held, NotRecorded::new(Reason::Internal, "its events cannot be read"));
            };
            failure = again.failure.or_else(|| {
                let why = derived::reason(&before, &mut after, &again.remade)?;
                Some(NotRecorded::new(Reason::Repeated, why))
            });
            if failure.is_some() && again.runs < MOST_RUNS {
                remade = derived::remade(&mut before, &after, &again.remade)
                    .map(|remade| (again.before, remade, again.runs));
            }
        }
        if let Some((events, remade, runs)) = remade {
            return Checked::Again(Finished { held: self.held, meta: self.meta, events, remade, runs });
        }
        let file = self.meta.file(&self.events);
        let failure = failure.or_else(|| match () {
            () if self.known.is_in(&file) => Some(NotRecorded::new(Reason::Repeated, "a masked value is still in it")),
            () if file.len() > MAX_BYTES => Some(NotRecorded::new(Reason::Size, TOO_LARGE)),
            () => None,
        });
        match failure {
            Some(why) => Checked::Not(self.held, why),
            None => Checked::File(self.held, self.meta, file),
        }
    }
}

/// The outcome of a check.
enum Checked {
    /// It may be written.
    File(Held, Meta, Vec<u8>),
    /// The guest runs once more.
    Again(Finished),
    /// It must not be written.
    Not(Held, NotRecorded),
}

/// The work of the thread that writes.
enum Job {
    Finished(Finished),
    Encoded(Encoded),
}

impl Job {
    fn held(self) -> Held {
        match self {
            Self::Finished(finished) => finished.held,
            Self::Encoded(encoded) => encoded.held,
        }
    }
}

/// Masks, encodes and writes recordings, as long as there is a sink.
fn run(mut writer: Writer, receiver: &Receiver<Job>) {
    while let Ok(job) = receiver.recv() {
        // A panic leaves out this recording, and not those after it.
        let _ = catch_unwind(AssertUnwindSafe(|| work(job, &mut writer)));
    }
}

fn work(job: Job, writer: &mut Writer) {
    let encoded = match job {
        Job::Encoded(encoded) => encoded,
        // Masking would be for nothing: the file would not be written.
        Job::Finished(finished) if writer.is_paused() => {
            return finished.held.settle(Err(NotRecorded::new(Reason::Write, PAUSED)));
        }
        Job::Finished(finished) => {
            // The guest runs again, or it cannot be masked.
            let Some(encoded) = Sink::file(finished) else { return };
            encoded
        }
    };
    match encoded.checked() {
        Checked::File(held, meta, file) => held.settle(writer.write(&meta, &file)),
        Checked::Again(finished) => Sink::send(Job::Finished(finished)),
        Checked::Not(held, why) => held.settle(Err(why)),
    }
}

impl Sink {
    /// Opens the folder, and begins to write there.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made or that others may write to, an entry of `mask`, and a system without random numbers.
    pub(crate) fn open(
        config: RecordConfig,
        engine: SharedEngine,
        metrics: Arc<Metrics>,
    ) -> Result<Arc<Self>, RuntimeError> {
        let wrong = |reason: String| RuntimeError::Config(format!("record: {reason}"));
        let list = MaskList::parse(&config.mask).map_err(|entry| {
            wrong(format!(
                "mask: \"{entry}\" must be the name of a header, a JSON pointer such as #/card/number or a query parameter such as ?token"
            ))
        })?;
        if !(0.0..=1.0).contains(&config.share) {
            return Err(wrong(format!("share is {}: it must be from 0 to 1", config.share)));
        }
        let folder = TapeFolder::open(&config.folder, config.max_bytes, config.max_age)
            .map_err(|error| wrong(format!("folder {}: {error}", config.folder.display())))?;
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| wrong(format!("there are no random numbers: {error}")))?;
        let (sender, receiver) = sync_channel(WAITING);
        let writer = Writer { folder, shown: config.folder.display().to_string(), paused: None };
        let sink = Arc::new_cyclic(|this| Self {
            list,
            placeholders: Placeholders::new(key),
            engine,
            handle: Handle::current(),
            turns: Arc::new(Semaphore::new(1)),
            claimed: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            sender,
            metrics,
            log: NotRecordedLog::default(),
            unrecordable: Mutex::default(),
            this: this.clone(),
            config,
        });
        let thread = std::thread::Builder::new().name("tenon-record".to_string());
        thread.spawn(move || run(writer, &receiver)).map_err(|error| wrong(error.to_string()))?;
        Ok(sink)
    }

    /// Logs which modules cannot be recorded, each once.
    pub(crate) fn say_unrecordable<'a>(&self, modules: impl IntoIterator<Item = &'a Arc<Module>>) {
        for module in modules.into_iter().filter(|module| !is_recordable(module)) {
            let name = &*module.info.name;
            // Each request of such a module comes here.
            let mut known = locked(&self.unrecordable);
            if known.contains(name) {
                continue;
            }
            known.insert(name.to_string());
            drop(known);
            let why = match module.entry {
                EntryPoint::Direct(_) => "isolation = \"shared\" keeps memory between requests",
                _ => "only components that export sdk:core/handler are",
            };
            tracing::warn!(module = name, "its requests are not recorded: {why}");
        }
    }

    /// Begins to record a request, if it may be kept.
    pub(crate) fn begin(
        &self,
        module: &Arc<Module>,
        request_id: &Arc<str>,
        parts: &http::request::Parts,
        may_ask: bool,
    ) -> Option<Arc<Recorder>> {
        let is_asked = |name: &http::HeaderName| may_ask && parts.headers.contains_key(name);
        let chosen = match &self.config.header {
            Some(name) if is_asked(name) => Some(Kept::Asked),
            _ if self.config.share > 0.0 && drawn() < self.config.share => Some(Kept::Share),
            _ if self.config.failures || self.config.slow.is_some() => None,
            _ => return None,
        };
        if !is_recordable(module) {
            // It was loaded after the start.
            self.say_unrecordable([module]);
            if chosen.is_some() {
                self.metrics.count_not_recorded(&module.info.name, Reason::Module.name());
            }
            return None;
        }
        Some(Arc::new(Recorder::new(self.this.upgrade()?, Arc::clone(module), Arc::clone(request_id), chosen)))
    }

    /// Claims bytes for the events of a request that runs.
    pub(super) fn claim(&self, bytes: usize) -> bool {
        let more = |claimed: usize| claimed.checked_add(bytes).filter(|all| *all <= RUNNING);
        self.claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Gives claimed bytes back.
    pub(super) fn free(&self, bytes: usize) {
        self.claimed.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns whether failed requests are kept, and this is one.
    pub(super) fn keeps_failed(&self, has_failed: bool) -> bool {
        self.config.failures && has_failed
    }

    /// Returns whether a request is kept that has failed or taken so long.
    pub(super) fn keeps(&self, has_failed: bool, duration: Duration) -> bool {
        self.keeps_failed(has_failed) || self.config.slow.is_some_and(|slow| duration >= slow)
    }

    /// Notes that a request is not recorded which should be.
    pub(super) fn leave_out(&self, module: &str, request_id: &str, why: &NotRecorded) {
        self.metrics.count_not_recorded(module, why.reason.name());
        // The log has a line for each time that writing stops.
        if why.reason != Reason::Write {
            self.log.say(module, request_id, why);
        }
    }

    /// Takes a request that is kept.
    pub(super) fn offer(finished: Finished) {
        if finished.held.sink.waiting.load(Ordering::Relaxed) > WAITING {
            let why = NotRecorded::new(Reason::Busy, format!("more than {WAITING} recordings wait to be written"));
            return finished.held.settle(Err(why));
        }
        Self::send(Job::Finished(finished));
    }

    /// Gives a recording to the writing thread, whose channel has room for all that wait.
    fn send(job: Job) {
        let sender = match &job {
            Job::Finished(finished) => &finished.held.sink.sender,
            Job::Encoded(encoded) => &encoded.held.sink.sender,
        };
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = sender.clone().try_send(job) {
            job.held().settle(Err(NotRecorded::new(Reason::Busy, "nothing can be written any more")));
        }
    }

    /// Masks and encodes a request, which takes a while for a large one. None when the guest has to run again first, or when it is
    /// left out.
    fn file(finished: Finished) -> Option<Encoded> {
        let Finished { held, mut meta, events: bytes, remade, runs } = finished;
        let (sink, module) = (Arc::clone(&held.sink), Arc::clone(&held.module));
        let placeholders = sink.placeholders.clone().remaking(&remade);
        let decoded = Encoder::decode(&bytes).map_err(|_| "its events cannot be read");
        let environment = &module.shared_state.environment;
        let masked = decoded.and_then(|events| mask(events, bytes.len(), &sink.list, environment, &placeholders));
        let Masked { events, known, is_tainted, has_outputs, names } = match masked {
            Ok(masked) => masked,
            Err(why) => {
                held.settle(Err(NotRecorded::new(Reason::Mask, why)));
                return None;
            }
        };
        meta.masked = names;
        if !is_tainted {
            return Some(Encoded { held, meta, events: bytes, again: None, known });
        }
        let placeholders = placeholders.replacing_random(has_outputs);
        sink.handle.clone().spawn(async move {
            let (encoder, memory, failure) = sink.again(&module, &meta, events, placeholders).await;
            meta.memory = memory;
            let again = Again { before: bytes, remade, runs: runs + 1, failure };
            Self::send(Job::Encoded(Encoded { held, meta, events: encoder.into_bytes(), again: Some(again), known }));
        });
        None
    }

    /// Runs a request again with masked values. Returns what the guest makes of them, its digest, and the reason why that is no
    /// recording of the request.
    async fn again(
        &self,
        module: &Arc<Module>,
        meta: &Meta,
        events: Vec<Event>,
        placeholders: Placeholders,
    ) -> (Encoder, Option<u128>, Option<NotRecorded>) {
        let _turn = self.turns.acquire().await;
        let tape = Tape { meta: meta.clone(), events };
        let mode = Mode::Masking(Box::default(), placeholders);
        let failed = |reason, why: String| Some(NotRecorded::new(reason, why));
        let Played { ended, mode, memory, .. } = match play(&self.engine, module, tape, mode, false).await {
            Ok(played) => played,
            Err(error) => {
                let why = format!("it cannot be replayed: {error}");
                return (Encoder::default(), None, failed(Reason::Internal, why));
            }
        };
        let encoder = if let Mode::Masking(encoder, _) = mode { *encoder } else { Encoder::default() };
        let failure = match ended {
            None | Some(Ended::Cut) => None,
            Some(Ended::Differs(found)) => {
                let Difference { recorded, replayed, .. } = *found;
                let what = "with placeholders for masked values the module does something else";
                failed(Reason::Placeholders, format!("{what}: {replayed}, not {recorded}"))
            }
        };
        (encoder, memory, failure)
    }

    /// Resolves when all requests that were kept are written, after some seconds at most.
    pub(crate) async fn flush(&self) {
        let ends = Instant::now() + LAST;
        while self.waiting.load(Ordering::Acquire) > 0 && Instant::now() < ends {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let left = self.waiting.load(Ordering::Acquire);
        if left > 0 {
            tracing::warn!("{left} recordings are lost: they were not written within {} s", LAST.as_secs());
        }
    }
}

/// Returns whether the requests of a module can be recorded.
pub(crate) fn is_recordable(module: &Module) -> bool {
    matches!(module.entry, EntryPoint::Direct(_)) && module.shared_state.isolation == Isolation::Request
}

/// A random number from 0 to 1. The keys of a hash table are as good as needed for a share.
fn drawn() -> f64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let number = std::hash::RandomState::new().build_hasher().finish();
    (number >> 11) as f64 / (1_u64 << 53) as f64
}

/// Writes files. A failure, such as a full disk, is said once, and ends recording for a while.
struct Writer {
    folder: TapeFolder,
    shown: String,
    paused: Option<Instant>,
}

impl Writer {
    fn is_paused(&self) -> bool {
        self.paused.is_some_and(|since| since.elapsed() < PAUSE)
    }

    /// Writes a file.
    fn write(&mut self, meta: &Meta, file: &[u8]) -> Result<(), NotRecorded> {
        if self.is_paused() {
            return Err(NotRecorded::new(Reason::Write, PAUSED));
        }
        match self.folder.write(meta, file) {
            Ok(Written::Whole) => {
                if self.paused.take().is_some() {
                    tracing::info!("recordings are written to {} again", self.shown);
                }
                Ok(())
            }
            Ok(Written::TooLarge) => Err(NotRecorded::new(Reason::Size, "it is larger than record.max_bytes")),
            Err(error) => {
                if self.paused.replace(Instant::now()).is_none() {
                    tracing::error!("recording stops: {}: {error}", self.shown);
                }
                Err(NotRecorded::new(Reason::Write, error.to_string()))
            }
        }
    }
}
