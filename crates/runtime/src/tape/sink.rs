//! The end of recordings: what was kept is masked, encoded and written, away from the request.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use tenon_tape::{Encoder, Event, Kept, MAX_BYTES, Meta, Tape, TapeFolder, Written};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::derived;
use super::difference::Difference;
use super::mask_list::MaskList;
use super::masked::{Masked, mask};
use super::masked_values::MaskedValues;
use super::placeholders::Placeholders;
use super::player::{Ended, Mode};
use super::replay::play;
use super::seam::locked;
use crate::config::{Isolation, RecordConfig};
use crate::error::RuntimeError;
use crate::instance::call::EntryPoint;
use crate::module::Module;
use crate::module::engine::SharedEngine;
use crate::tape::recorder::Recorder;

/// Bytes of the events of all requests that run, at most.
const RUNNING: usize = 128 * 1024 * 1024;

/// Recordings that wait to be written, at most. Others are left out.
const WAITING: usize = 256;

/// After a failure, nothing is written for this long.
const PAUSE: Duration = Duration::from_mins(1);

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
    /// True once the log has the warning that too many recordings wait.
    has_said: AtomicBool,
    /// Names of modules that the log has the warning of, because they cannot be recorded.
    unrecordable: Mutex<BTreeSet<String>>,
    this: Weak<Self>,
}

/// A request that has ended and is kept.
pub(crate) struct Finished {
    pub(crate) module: Arc<Module>,
    pub(crate) meta: Meta,
    pub(crate) events: Vec<u8>,
    /// Bytes of the sink's bound that it holds until it is written.
    pub(crate) claimed: usize,
}

/// A recording whose values are masked.
struct Encoded {
    meta: Meta,
    events: Vec<u8>,
    /// The events with the masked values, if the guest ran again.
    before: Option<Vec<u8>>,
    /// The values that must not be in the file.
    known: MaskedValues,
    claimed: usize,
}

impl Encoded {
    /// Returns the reason why it must not be written, if the guest got back what it had made of masked values.
    fn repeats(&self) -> Option<&'static str> {
        let before = Encoder::decode(self.before.as_deref()?);
        let (Ok(before), Ok(mut after)) = (before, Encoder::decode(&self.events)) else {
            return Some("its events cannot be read");
        };
        derived::reason(&before, &mut after, &self.known)
    }
}

/// The work of the thread that writes.
enum Job {
    Finished(Finished),
    Encoded(Encoded),
}

impl Job {
    fn claimed(&self) -> usize {
        match self {
            Self::Finished(finished) => finished.claimed,
            Self::Encoded(encoded) => encoded.claimed,
        }
    }
}

/// Masks, encodes and writes recordings, as long as there is a sink.
fn run(mut writer: Writer, receiver: &Receiver<Job>, sink: &Weak<Sink>) {
    while let Ok(job) = receiver.recv() {
        let Some(sink) = sink.upgrade() else { return };
        let claimed = job.claimed();
        let encoded = match job {
            Job::Encoded(encoded) => Ok(Some(encoded)),
            // Masking would be for nothing: the file would not be written.
            Job::Finished(_) if writer.is_paused() => {
                sink.done(claimed);
                continue;
            }
            Job::Finished(finished) => {
                let (module, id) = (Arc::clone(&finished.module), finished.meta.request_id.clone());
                // A panic leaves out this recording, and not those after it.
                let filed = catch_unwind(AssertUnwindSafe(|| sink.file(finished)));
                let filed = filed.unwrap_or(Err("it cannot be masked"));
                filed.map_err(|why| (module.info.name.to_string(), id, why))
            }
        };
        let written = match encoded {
            // The guest runs again.
            Ok(None) => continue,
            Ok(Some(encoded)) => {
                let file = encoded.meta.file(&encoded.events);
                let why = encoded.repeats().or_else(|| match () {
                    () if encoded.known.is_in(&file) => Some("a masked value is still in it"),
                    () if file.len() > MAX_BYTES => Some("it is larger than a recording may be"),
                    () => writer.write(&encoded.meta, &file),
                });
                why.map_or(Ok(()), |why| Err((encoded.meta.module, encoded.meta.request_id, why)))
            }
            Err(left_out) => Err(left_out),
        };
        if let Err((module, id, why)) = written {
            sink.leave_out(&module, &id, why);
        }
        sink.done(claimed);
    }
}

impl Sink {
    /// Opens the folder, and begins to write there.
    ///
    /// # Errors
    ///
    /// A folder that cannot be made or that others may write to, an entry of `mask`, and a system without random numbers.
    pub(crate) fn open(config: RecordConfig, engine: SharedEngine) -> Result<Arc<Self>, RuntimeError> {
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
            has_said: AtomicBool::new(false),
            unrecordable: Mutex::default(),
            this: this.clone(),
            config,
        });
        let thread = std::thread::Builder::new().name("tenon-record".to_string());
        let this = sink.this.clone();
        thread.spawn(move || run(writer, &receiver, &this)).map_err(|error| wrong(error.to_string()))?;
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
        if !is_recordable(module) {
            // It was loaded after the start.
            self.say_unrecordable([module]);
            return None;
        }
        let is_asked = |name: &http::HeaderName| may_ask && parts.headers.contains_key(name);
        let chosen = match &self.config.header {
            Some(name) if is_asked(name) => Some(Kept::Asked),
            _ if self.config.share > 0.0 && drawn() < self.config.share => Some(Kept::Share),
            _ if self.config.failures || self.config.slow.is_some() => None,
            _ => return None,
        };
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
    pub(super) fn leave_out(&self, module: &str, request_id: &str, why: &str) {
        tracing::warn!(module, request_id, "the request is not recorded: {why}");
    }

    /// Takes a request that is kept.
    pub(super) fn offer(&self, finished: Finished) {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            self.done(finished.claimed);
            if !self.has_said.swap(true, Ordering::Relaxed) {
                tracing::warn!("recordings are left out: more than {WAITING} wait to be written");
            }
            return;
        }
        self.send(Job::Finished(finished));
    }

    /// Gives a recording to the writing thread, whose channel has room for all that wait.
    fn send(&self, job: Job) {
        if let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = self.sender.try_send(job) {
            self.done(job.claimed());
        }
    }

    /// Notes that a recording is written, or left out.
    fn done(&self, claimed: usize) {
        self.free(claimed);
        self.waiting.fetch_sub(1, Ordering::Release);
    }

    /// Masks and encodes a request, which takes a while for a large one. None when the guest has to run again first. The error is the
    /// reason why it is left out.
    fn file(&self, finished: Finished) -> Result<Option<Encoded>, &'static str> {
        let Finished { module, mut meta, events: bytes, claimed } = finished;
        let events = Encoder::decode(&bytes).map_err(|_| "its events cannot be read")?;
        let Masked { events, known, is_tainted, has_outputs, names } =
            mask(events, bytes.len(), &self.list, &module.shared_state.environment, &self.placeholders)?;
        meta.masked = names;
        if !is_tainted {
            return Ok(Some(Encoded { meta, events: bytes, before: None, known, claimed }));
        }
        let sink = self.this.upgrade().ok_or("the runtime has ended")?;
        self.handle.spawn(async move {
            match sink.again(&module, &meta, events, has_outputs).await {
                Ok((encoder, memory)) => {
                    meta.memory = memory;
                    sink.send(Job::Encoded(Encoded {
                        meta,
                        events: encoder.into_bytes(),
                        before: Some(bytes),
                        known,
                        claimed,
                    }));
                }
                Err(why) => {
                    sink.leave_out(&meta.module, &meta.request_id, &why);
                    sink.done(claimed);
                }
            }
        });
        Ok(None)
    }

    /// Runs a request again with masked values, and returns what the guest makes of them.
    async fn again(
        &self,
        module: &Arc<Module>,
        meta: &Meta,
        events: Vec<Event>,
        has_outputs: bool,
    ) -> Result<(Encoder, Option<u128>), Cow<'static, str>> {
        let _turn = self.turns.acquire().await.map_err(|_| "the runtime has ended")?;
        let placeholders = self.placeholders.clone().replacing_random(has_outputs);
        let mode = Mode::Masking(Box::default(), placeholders);
        let tape = Tape { meta: meta.clone(), events };
        let played = play(&self.engine, module, tape, mode, false).await.map_err(|_| "it cannot be replayed")?;
        match (played.ended, played.mode) {
            (None | Some(Ended::Cut), Mode::Masking(encoder, _)) => Ok((*encoder, played.memory)),
            (Some(Ended::Differs(found)), _) => {
                let Difference { recorded, replayed, .. } = *found;
                Err(format!(
                    "with placeholders for masked values the module does something else: {replayed}, not {recorded}"
                )
                .into())
            }
            _ => Err("with placeholders for masked values the module does something else".into()),
        }
    }

    /// Resolves when all requests that were kept are written, after some seconds at most.
    pub(crate) async fn flush(&self) {
        let ends = Instant::now() + LAST;
        while self.waiting.load(Ordering::Acquire) > 0 && Instant::now() < ends {
            tokio::time::sleep(Duration::from_millis(2)).await;
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

    /// Writes a file. Returns the reason why it is left out, unless the log has it already.
    fn write(&mut self, meta: &Meta, file: &[u8]) -> Option<&'static str> {
        if self.is_paused() {
            return None;
        }
        match self.folder.write(meta, file) {
            Ok(Written::Whole) => {
                if self.paused.take().is_some() {
                    tracing::info!("recordings are written to {} again", self.shown);
                }
                None
            }
            Ok(Written::TooLarge) => Some("it is larger than record.max_bytes"),
            Err(error) => {
                if self.paused.replace(Instant::now()).is_none() {
                    tracing::error!("recording stops: {}: {error}", self.shown);
                }
                None
            }
        }
    }
}
