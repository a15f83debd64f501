//! Random requests to random handlers, many at once.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tenon_fixtures::random::{self, DIRTY, Numbers, USED};
use tenon_tape::{Tape, TapeFolder};
use tenon_transport::{Address, Sidecar};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;

use super::probe::{Leave, Probe};
use super::requests::{in_javascript, to_random, to_streams, to_throws};
use crate::config::{Limits, ModuleSource, RecordConfig, RuntimeConfig};
use crate::executor::inline_poll::InlinePoll;
use crate::module::{Module, Reuse};
use crate::runtime::Runtime;
use crate::tape::{Replayed, Verdict};

/// Requests at once, which is more than there are instances.
const AT_ONCE: usize = 12;

/// Replays at once: one for each thread, and one that is begun meanwhile.
const REPLAYS_AT_ONCE: usize = 3;

/// The modules of `tenon_fixtures::streams`, bare and behind the bridge.
const STREAMS: [&str; 2] = ["streams", "streams-bridged"];

/// The module of `tenon_fixtures::exceptions`.
const THROWS: &str = "throws";

/// The settings of a campaign.
#[derive(Clone, Debug)]
pub(super) struct Campaign {
    /// The same handlers and requests are made of the same seed; their order in time is the system's.
    pub(super) seed: u64,
    pub(super) requests: u64,
    /// Requests until all modules are replaced by others.
    pub(super) round: u64,
    /// Where the core modules are that random handlers are made of (`crates/smith`), and how many serve at once.
    pub(super) folder: PathBuf,
    pub(super) modules: u64,
    /// A component in JavaScript, which gets one in `share` requests.
    pub(super) javascript: Option<PathBuf>,
    pub(super) share: u64,
    pub(super) leave: Option<Leave>,
    /// Records every request, and replays it at the end of its round.
    pub(super) records: bool,
    /// The longest time of a request, in milliseconds.
    pub(super) timeout_ms: u64,
}

/// The result of a campaign.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) requests: u64,
    /// Those that were given up before they were answered.
    pub(super) cancelled: u64,
    /// The number of these to the JavaScript component.
    pub(super) javascript: u64,
    /// Answers whose body was streamed, and those of them that the client left before their end.
    pub(super) streamed: u64,
    pub(super) left: u64,
    /// Answers by status.
    pub(super) statuses: BTreeMap<u16, u64>,
    /// Instances that were asked for, and how many of these requests the harness made itself at the end of a round.
    pub(super) asked: u64,
    pub(super) last: u64,
    /// Comparisons of instances that were restored.
    pub(super) restored: u64,
    /// Those among them of a module that does nothing but stream.
    pub(super) restored_streams: u64,
    /// Comparisons of instances that were made.
    pub(super) made: u64,
    /// Modules that served, those of them whose instances are restored, and those that could not be loaded or instantiated.
    pub(super) modules: u64,
    pub(super) restorable: u64,
    pub(super) unusable: u64,
    /// Modules that share their code with an earlier one.
    pub(super) sharing: u64,
    /// Requests that were recorded and replayed, and those of them whose memory was compared as well.
    pub(super) replayed: u64,
    pub(super) replayed_memories: u64,
    /// Differences to a fresh instance, and of replays.
    pub(super) differences: Vec<String>,
}

impl Outcome {
    /// Adds the result of a replay.
    fn add_replay(&mut self, (module, replayed): (String, Replayed)) {
        self.replayed += 1;
        self.replayed_memories += u64::from(replayed.compared_memory);
        if replayed.verdict != Verdict::Same {
            self.differences.push(format!("{module}, replayed: {:?}", replayed.verdict));
        }
    }
}

impl Campaign {
    /// Runs it on the threads of this Tokio runtime, until the requests are done or something differs.
    pub(super) async fn run(&self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut numbers = Numbers::new(self.seed);
        while outcome.requests < self.requests && outcome.differences.is_empty() {
            let round = Round::begin(self, &mut numbers, &mut outcome).await;
            let count = self.round.min(self.requests - outcome.requests);
            round.run(self, count, numbers.next_u64(), &mut outcome).await;
            if outcome.requests < self.requests {
                let comparisons = outcome.restored + outcome.made;
                let _ = writeln!(std::io::stderr(), "{} requests, {comparisons} comparisons", outcome.requests);
            }
        }
        outcome
    }
}

/// Modules that serve for a while.
pub(super) struct Round {
    runtime: Runtime,
    modules: Vec<Arc<Module>>,
    _sidecar: Service,
    _folder: tempfile::TempDir,
}

/// The limits of a campaign: time-outs come soon, and few requests run at once, so that their instances are used again.
fn limits(timeout_ms: u64) -> Limits {
    Limits {
        max_concurrent: 8,
        queue_timeout_ms: 30_000,
        request_timeout_ms: timeout_ms,
        memory_limit_bytes: 128 * 1024 * 1024,
        max_response_bytes: 1024 * 1024,
        max_log_bytes: 4_096,
        max_outbound_calls: 4,
        breaker_failures: 1_000,
        ..Limits::default()
    }
}

impl Round {
    pub(super) async fn begin(campaign: &Campaign, numbers: &mut Numbers, outcome: &mut Outcome) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sidecar, _sidecar) = service(folder.path()).await;
        let mut modules = Vec::new();
        let mut plain = BTreeMap::new();
        let mut cores: Vec<_> =
            std::fs::read_dir(&campaign.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        cores.sort();
        let mut core = &cores[0];
        for number in 0..campaign.modules {
            // Modules of the same core differ in their memory only, so they share their code.
            if number == 0 || numbers.one_in(2) {
                core = &cores[usize::try_from(numbers.below(cores.len() as u64)).unwrap()];
            }
            let pages = [3, 3, 8, 80][usize::try_from(numbers.below(4)).unwrap()];
            let mark = numbers.next_u64();
            let Some(bare) = random::handler(&std::fs::read(core).unwrap(), pages, mark) else { continue };
            let name = format!("m{number}");
            let bytes = match numbers.below(8) {
                0 => tenon_fixtures::bridged(&bare),
                1 => tenon_compose::compose(&bare, tenon_compose::BRIDGE).unwrap(),
                _ => {
                    plain.insert(name.clone(), bare.clone());
                    bare
                }
            };
            let path = folder.path().join(format!("{name}.wasm"));
            std::fs::write(&path, bytes).unwrap();
            modules.push(served(&name, path));
        }
        let streams = tenon_fixtures::streams();
        for (name, bytes) in STREAMS.into_iter().zip([streams.clone(), tenon_fixtures::bridged(&streams)]) {
            let path = folder.path().join(format!("{name}.wasm"));
            std::fs::write(&path, bytes).unwrap();
            modules.push(served(name, path));
        }
        plain.insert(STREAMS[0].to_string(), streams);
        let throwing = tenon_fixtures::exceptions::throwing();
        let path = folder.path().join("throws.wasm");
        std::fs::write(&path, &throwing).unwrap();
        modules.push(served(THROWS, path));
        plain.insert(THROWS.to_string(), throwing);
        let count = modules.len() + usize::from(campaign.javascript.is_some());
        modules.extend(campaign.javascript.clone().map(|path| served("javascript", path)));
        let config = RuntimeConfig {
            modules,
            sidecars: vec![sidecar],
            environment: [("NAME", "value"), ("TENON_SECRET_KEY", SECRET)]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            limits: limits(campaign.timeout_ms),
            record: campaign
                .records
                .then(|| RecordConfig { share: 1.0, ..RecordConfig::new(folder.path().join("tapes")) }),
            // Code that is mapped from a file, or in memory.
            cache: numbers.one_in(2).then(|| folder.path().join("code")),
            ..RuntimeConfig::default()
        };
        let runtime = Runtime::new(config).await.unwrap();
        let (engine, registry, _) = runtime.parts();
        let mut usable = Vec::new();
        let mut codes = BTreeSet::new();
        for module in registry.ready() {
            let leave = campaign.leave;
            let Ok(probe) = Probe::new(module.blueprint(), engine, leave).await else { continue };
            let checked = match plain.get(&*module.info.name) {
                Some(bytes) => probe.check_fresh(module.blueprint(), bytes).await,
                None if &*module.info.name == "javascript" => {
                    probe.check_memory(&std::fs::read(campaign.javascript.as_ref().unwrap()).unwrap())
                }
                None => Ok(()),
            };
            if let Err(error) = checked {
                outcome.differences.push(format!("{}, a fresh instance: {error:#}", module.info.name));
            }
            let _ = module.probe.set(Arc::new(probe));
            outcome.modules += 1;
            outcome.restorable += u64::from(matches!(module.reuse, Reuse::Restored(..)));
            outcome.sharing += u64::from(!codes.insert(module.entry.component().image_range().start.addr()));
            usable.push(module);
        }
        outcome.unusable += (count - usable.len()) as u64;
        Self { runtime, modules: usable, _sidecar, _folder: folder }
    }

    /// Sends requests, and adds their results.
    pub(super) async fn run(&self, campaign: &Campaign, count: u64, seed: u64, outcome: &mut Outcome) {
        let left = Arc::new(AtomicU64::new(count));
        let statuses = Arc::new(Mutex::new(BTreeMap::<u16, u64>::new()));
        let counts = Arc::new(Counts::default());
        let mut clients = JoinSet::new();
        for client in 0..AT_ONCE {
            let (runtime, left, statuses) = (self.runtime.clone(), Arc::clone(&left), Arc::clone(&statuses));
            let counts = Arc::clone(&counts);
            let names: Vec<Arc<str>> = self.modules.iter().map(|module| Arc::clone(&module.info.name)).collect();
            let mut numbers = Numbers::new(seed ^ (client as u64) << 32);
            let share = if campaign.javascript.is_some() { campaign.share } else { 0 };
            let records = campaign.records;
            clients.spawn(async move {
                let mut here = InlinePoll::default();
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                    let request = if share > 0 && numbers.one_in(share) {
                        counts.javascript.fetch_add(1, Ordering::Relaxed);
                        in_javascript(&mut numbers)
                    } else {
                        let random: Vec<_> = names.iter().filter(|name| &***name != "javascript").collect();
                        let name = random[usize::try_from(numbers.below(random.len() as u64)).unwrap()];
                        if STREAMS.contains(&&**name) {
                            to_streams(name, &mut numbers)
                        } else if &**name == THROWS {
                            to_throws(name, &mut numbers)
                        } else {
                            to_random(name, &mut numbers)
                        }
                    };
                    match sent(&runtime, request, &mut here, &mut numbers).await {
                        Some(Answered { status, streamed, left }) => {
                            *statuses.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
                            counts.streamed.fetch_add(u64::from(streamed), Ordering::Relaxed);
                            counts.left.fetch_add(u64::from(left), Ordering::Relaxed);
                        }
                        None => drop(counts.cancelled.fetch_add(1, Ordering::Relaxed)),
                    }
                    // The runtime leaves out recordings when too many wait to be written.
                    if records && numbers.one_in(8) {
                        runtime.flush().await;
                    }
                }
            });
        }
        while let Some(client) = clients.join_next().await {
            client.unwrap();
        }
        outcome.requests += count;
        outcome.cancelled += counts.cancelled.load(Ordering::Relaxed);
        outcome.javascript += counts.javascript.load(Ordering::Relaxed);
        outcome.streamed += counts.streamed.load(Ordering::Relaxed);
        outcome.left += counts.left.load(Ordering::Relaxed);
        for (status, count) in &*statuses.lock().unwrap_or_else(PoisonError::into_inner) {
            *outcome.statuses.entry(*status).or_default() += count;
            if matches!(*status, USED | DIRTY) {
                outcome.differences.push(format!("{count} handlers found something themselves: {status}"));
            }
        }
        // Resources that are released behind an answer are released now, and compared once more.
        let (engine, _, admission) = self.runtime.parts();
        while admission.free() < crate::config::size(limits(campaign.timeout_ms).max_concurrent) {
            tokio::task::yield_now().await;
        }
        for module in &self.modules {
            let caller = crate::instance::caller::Caller::host("last", &limits(campaign.timeout_ms));
            drop(module.instance(engine, caller).await);
            let Some(probe) = module.probe.get() else { continue };
            let (restored, made, differences) = probe.outcome();
            outcome.asked += probe.asked();
            outcome.last += 1;
            outcome.restored += restored;
            if &*module.info.name == STREAMS[0] {
                outcome.restored_streams += restored;
            }
            outcome.made += made;
            outcome.differences.extend(differences);
        }
        if campaign.records {
            self.replay(outcome).await;
        }
    }

    /// Replays everything that was recorded.
    async fn replay(&self, outcome: &mut Outcome) {
        self.runtime.flush().await;
        let path = self._folder.path().join("tapes");
        let mut tapes = TapeFolder::open(&path, RecordConfig::MAX_BYTES, None).unwrap();
        let mut replays = JoinSet::new();
        for file in tapes.files().collect::<Vec<_>>() {
            let bytes = tapes.read(&file.name).expect("the file is there");
            if [SECRET.as_bytes(), b"secretsecret"].iter().any(|secret| memchr::memmem::find(&bytes, secret).is_some())
            {
                outcome.differences.push(format!("{} has a secret", file.name));
            }
            if replays.len() == REPLAYS_AT_ONCE {
                outcome.add_replay(replays.join_next().await.unwrap().unwrap());
            }
            let runtime = self.runtime.clone();
            replays.spawn(async move {
                let tape = Tape::read(&bytes).unwrap();
                let module = tape.meta.module.clone();
                let replayed = runtime.replay(&module, tape, false).await.unwrap();
                (module, replayed)
            });
        }
        while let Some(replayed) = replays.join_next().await {
            outcome.add_replay(replayed.unwrap());
        }
        tapes.remove_to(0, std::time::SystemTime::now()).unwrap();
    }
}

/// Counts of a round's clients.
#[derive(Default)]
struct Counts {
    cancelled: AtomicU64,
    javascript: AtomicU64,
    streamed: AtomicU64,
    left: AtomicU64,
}

/// An answer that a client has received.
struct Answered {
    status: u16,
    streamed: bool,
    /// True when the client left before the end of a streamed body.
    left: bool,
}

/// Sends a request, to its end or until it is given up. A quarter of the clients take three frames of the body at most.
async fn sent(
    runtime: &Runtime,
    request: Request<Full<Bytes>>,
    here: &mut InlinePoll,
    numbers: &mut Numbers,
) -> Option<Answered> {
    let mut frames = if numbers.one_in(4) { numbers.below(4) } else { u64::MAX };
    let answered = async {
        let response = runtime.handle(request).await;
        let status = response.status().as_u16();
        let mut body = response.into_body();
        let streamed = body.whole().is_none();
        while frames > 0 {
            // A body that is streamed may break off.
            let Some(Ok(_)) = body.frame().await else { return Answered { status, streamed, left: false } };
            frames -= 1;
        }
        Answered { status, streamed, left: streamed }
    };
    let mut answered = pin!(answered);
    if numbers.one_in(4)
        && let Poll::Ready(answered) = here.begin(answered.as_mut())
    {
        return answered;
    }
    match numbers.below(40) {
        // It has begun at most.
        0 => {
            let mut polls = numbers.below(3);
            std::future::poll_fn(|context| {
                if polls == 0 {
                    return Poll::Ready(None);
                }
                polls -= 1;
                answered.as_mut().poll(context).map(Some)
            })
            .await
        }
        1 | 2 => tokio::time::timeout(Duration::from_micros(numbers.below(3_000)), answered).await.ok(),
        _ => Some(answered.await),
    }
}

/// A module at `/run/<name>` and at `/at/<name>`.
fn served(name: &str, path: PathBuf) -> ModuleSource {
    let mut module = ModuleSource::new(name, path);
    module.policy.mount = Some(format!("/at/{name}"));
    module
}

/// A secret of all modules. Log lines of random handlers begin with a part of it.
const SECRET: &str = "random.sidecar.internal";

/// A sidecar that answers, says nothing, or hangs up. It begins transactions, and ends those that it is asked to commit.
struct Service(tokio::task::JoinHandle<()>);

impl Drop for Service {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn service(folder: &Path) -> (Sidecar, Service) {
    let (listener, address) = listen(folder).await;
    let served = tokio::spawn(async move {
        let mut numbers = Numbers::new(1);
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(serve(connection, Numbers::new(numbers.next_u64())));
        }
    });
    (Sidecar::new("random", Address::parse(&address).unwrap()).unwrap(), Service(served))
}

#[cfg(unix)]
async fn listen(folder: &Path) -> (tokio::net::UnixListener, String) {
    let path = folder.join("sidecar.sock");
    (tokio::net::UnixListener::bind(&path).unwrap(), format!("unix://{}", path.display()))
}

#[cfg(not(unix))]
async fn listen(_folder: &Path) -> (tokio::net::TcpListener, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    (listener, address)
}

async fn serve(mut connection: impl AsyncRead + AsyncWrite + Unpin, mut numbers: Numbers) {
    let mut bytes = vec![0; 65_536];
    while let Ok(length @ 1..) = connection.read(&mut bytes).await {
        let request = &bytes[..length];
        let (status, header) = if request.starts_with(b"POST /sql/transaction ") {
            ("201 Created", format!("tenon-transaction: {}\r\n", numbers.below(1_000)))
        } else if request.starts_with(b"POST /sql/transaction/commit ") {
            let named = request.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"tenon-transaction: "));
            let id = String::from_utf8_lossy(named.unwrap_or(b"none")).trim().to_string();
            ("200 OK", format!("tenon-transaction-ended: {id}\r\n"))
        } else {
            ("200 OK", String::new())
        };
        match numbers.below(20) {
            0 => return,
            1 => {}
            _ => {
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{header}content-length: 11\r\n\r\n{{\"is\":true}}"
                );
                let _ = connection.write_all(answer.as_bytes()).await;
            }
        }
    }
}
