//! The runtime itself: the state that all requests share, and the methods for programs.

mod answer;
mod idle_memory;
mod report;
mod uploads;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HeaderValue;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use prometheus_client::metrics::gauge::Gauge;
use tenon_code::Compiler;
use tenon_http_server::{Budget, discard};
use tenon_tape::Tape;
use tenon_transport::Transport;
use wasmtime_wasi_http::WasiBody;

use crate::admission::Admission;
use crate::admission::budget::Remainders;
use crate::config::tls::Tls;
use crate::config::{Limits, ModuleSource, RuntimeConfig, TrustedProxies, ms, size, transport_config};
use crate::error::RuntimeError;
use crate::instance::call::pieces::Streams;
use crate::instance::metering::{UsageListener, UsageListening};
use crate::module::engine::{SharedEngine, shared_engine};
use crate::module::inherited::Inherited;
use crate::module::loader::{Loader, Targets, Turns};
use crate::module::registry::{Registry, State};
use crate::module::sidecars;
use crate::request::client::Client;
use crate::request::origin::Peer;
use crate::request::pages::{Page, Pages};
use crate::request::problem::Problem;
use crate::request::request_id;
use crate::request::route::Route;
use crate::response::ResponseBody;
use crate::tape::{Replayed, Sink, replay};
use crate::telemetry::exchange::{Exchange, Telemetry};
use crate::telemetry::metrics::{Format, Metrics, PoolUsage};
use crate::telemetry::otlp::Otlp;
use crate::telemetry::recent::{Recent, RecentRequest};
use crate::telemetry::recording::Secrets;

/// How long a start waits to learn which sidecars are up.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// Serves modules. Cloning is cheap and shares everything.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

struct Shared {
    engine: SharedEngine,
    registry: Registry,
    /// Reaches the sidecars that all modules have, to see whether they are up. No module calls through it.
    transport: Transport<WasiBody>,
    limits: Limits,
    admission: Admission,
    streams: Arc<Streams>,
    telemetry: Arc<Telemetry>,
    pages: Pages,
    usage: Arc<UsageListening>,
    /// Takes recordings of requests.
    sink: Option<Arc<Sink>>,
    tls: Option<Tls>,
    budget: Budget,
    /// The program that embeds the runtime.
    program: Client,
    /// The proxies whose `X-Forwarded-*` headers are believed.
    trusted_proxies: TrustedProxies,
    /// True when the last update failed.
    is_outdated: AtomicBool,
    /// True when the server is about to close.
    is_draining: AtomicBool,
    /// True when a listener of its own answers `/metrics`.
    has_operations: AtomicBool,
    started: Instant,
}

impl Runtime {
    /// Loads the modules. Without cached code this computes for seconds a module, so it runs on threads of its own. A
    /// module that cannot be loaded is logged and answers 503, as long as another one can. One that takes longer than
    /// `startup_timeout_ms` goes on loading in the background once another one is ready, and answers 503 until then.
    ///
    /// # Errors
    ///
    /// A limit out of its range, a name or a mount that is given twice, an engine that cannot be set up, or the first module
    /// that cannot be served when not one can.
    pub async fn new(config: RuntimeConfig) -> Result<Self, RuntimeError> {
        config.limits.check().map_err(|wrong| RuntimeError::Config(wrong.to_string()))?;
        let tls = config.tls.as_ref().map(|tls| Tls::load(&tls.certificate, &tls.key)).transpose()?;
        let engine = shared_engine(config.limits.max_concurrent)?;

        let limits = config.limits;
        let metrics = Arc::new(Metrics::new());
        let transport = Transport::new(config.sidecars.clone(), Vec::new(), transport_config(&limits));
        let inherited = Inherited {
            sidecars: config.sidecars,
            allow: config.allow,
            environment: config.environment,
            isolation: config.isolation,
            limits: limits.clone(),
            metrics: Arc::clone(&metrics),
            #[cfg(test)]
            gap: crate::crossing::Gap::new(config.without),
        };
        let loader = Loader {
            targets: Targets::new(&engine).map_err(RuntimeError::Engine)?,
            engine: engine.clone(),
            cache: config.cache,
            inherited,
            compiler: compiler(config.compiler, &limits),
            modules: config.modules.len(),
            trust_compiled: config.trust_compiled,
            turns: Turns::default(),
            digests: config.replays || config.record.is_some(),
        };
        let registry = Registry::load(loader, config.modules).await?;
        let admission = Admission::new(&limits, Arc::clone(&metrics));
        let otlp = config.otlp_endpoint.as_deref().map(Otlp::start).transpose()?;
        let sink = config.record.map(|record| Sink::open(record, engine.clone())).transpose()?;
        if let Some(sink) = &sink {
            sink.say_unrecordable(&registry.ready());
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        let telemetry =
            Arc::new(Telemetry { metrics, recent: Recent::default(), access_log: config.access_log, otlp, scheme });
        let (pages, started) = (Pages::default(), Instant::now());
        let budget = Budget::new(size(limits.buffered_bytes()));
        let trusted_proxies = config.trusted_proxies;
        let program = Client::embedding(budget.unshared(), ms(limits.queue_timeout_ms));
        let shared = Shared {
            engine,
            registry,
            transport,
            limits,
            admission,
            streams: Arc::default(),
            telemetry,
            pages,
            usage: Arc::default(),
            sink,
            tls,
            budget,
            program,
            trusted_proxies,
            is_outdated: AtomicBool::new(false),
            is_draining: AtomicBool::new(false),
            has_operations: AtomicBool::new(false),
            started,
        };
        let runtime = Self { shared: Arc::new(shared) };
        runtime.look_at_sidecars().await;
        runtime.watch_sidecars();
        runtime.watch_memory();
        Ok(runtime)
    }

    /// Learns which sidecars are up, for `/health`. One that hangs is waited for no longer than for this.
    async fn look_at_sidecars(&self) {
        let modules = self.shared.registry.all();
        let _ = tokio::time::timeout(FIRST_LOOK, sidecars::look(&self.shared.transport, &modules)).await;
    }

    /// Keeps that fresh for as long as the runtime lives.
    fn watch_sidecars(&self) {
        let shared = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(sidecars::PAUSE).await;
                let Some(runtime) = shared.upgrade() else { return };
                let (transport, modules) = (runtime.transport.clone(), runtime.registry.all());
                drop(runtime);
                sidecars::look(&transport, &modules).await;
            }
        });
    }

    /// The names of the modules, sorted, and among them those that could not be loaded.
    #[must_use]
    pub fn modules(&self) -> Vec<String> {
        self.shared.registry.states().into_iter().map(|(name, _)| name).collect()
    }

    /// The names of the modules that serve, sorted.
    #[must_use]
    pub fn ready_modules(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.shared.registry.ready().iter().map(|module| module.info.name.to_string()).collect();
        names.sort();
        names
    }

    /// Loads a module anew, from another file when one is given, while the old one serves; then puts the new one in its
    /// place. Requests that run finish where they are. A name that is not known is added, and needs a file.
    ///
    /// # Errors
    ///
    /// The reason why the new component cannot be served; the old one goes on serving.
    pub async fn reload(&self, name: &str, path: Option<PathBuf>) -> Result<(), RuntimeError> {
        self.shared.registry.reload(name, path).await?;
        self.look_at_sidecars().await;
        Ok(())
    }

    /// Loads a module with a policy, as [`Runtime::reload`] does.
    ///
    /// # Errors
    ///
    /// The reason why the component or its policy cannot be served; the old one goes on serving.
    pub async fn load(&self, source: ModuleSource) -> Result<(), RuntimeError> {
        self.shared.registry.put(source).await?;
        self.look_at_sidecars().await;
        Ok(())
    }

    /// Makes the modules those of a list, all at once, while the old ones serve. Requests that run finish where they are.
    /// Modules whose file and policy are the same stay as they are.
    ///
    /// # Errors
    ///
    /// The reason why one of them cannot be served. Then all old ones go on serving, and `/health` says so until an update
    /// succeeds.
    pub async fn update(&self, modules: Vec<ModuleSource>) -> Result<(), RuntimeError> {
        let updated = self.shared.registry.update(modules).await;
        self.shared.is_outdated.store(updated.is_err(), Ordering::Relaxed);
        self.look_at_sidecars().await;
        updated
    }

    /// Notes in `/health` that there is a newer configuration, which cannot be served, until an update succeeds.
    pub fn note_failed_update(&self) {
        self.shared.is_outdated.store(true, Ordering::Relaxed);
    }

    /// Has `/ready` answer 503 and each answer of HTTP/1 close its connection from now on, and waits for `drain_ms`. Connections
    /// and requests are accepted meanwhile; closing the servers is the next step.
    pub async fn drain(&self) {
        self.shared.is_draining.store(true, Ordering::Relaxed);
        tokio::time::sleep(ms(self.shared.limits.drain_ms)).await;
    }

    /// Reports whether the server is about to close.
    pub(crate) fn is_draining(&self) -> bool {
        self.shared.is_draining.load(Ordering::Relaxed)
    }

    /// Reports whether a listener of its own answers `/metrics`.
    pub(crate) fn has_operations(&self) -> bool {
        self.shared.has_operations.load(Ordering::Relaxed)
    }

    /// The metrics so far, in the text format of Prometheus.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.metrics_as(Format::Prometheus)
    }

    fn metrics_as(&self, format: Format) -> String {
        let Shared { engine, registry, telemetry, budget, .. } = &*self.shared;
        let pool = PoolUsage {
            instances: engine.slots.taken(),
            idle: registry.idle(),
            stacks: engine.stacks.used(),
            memories: engine.memories.usage(),
        };
        telemetry.metrics.text(format, &pool, budget)
    }

    /// Resolves when no request runs, after a second at most: a request that is cut off ends a moment after its
    /// client's answer.
    pub async fn settle(&self) {
        let settled = async {
            while self.shared.admission.idle().is_none() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), settled).await;
    }

    /// Resolves when the traces of all requests that have been answered are sent, and their recordings are written, if there are any.
    pub async fn flush(&self) {
        if let Some(sink) = &self.shared.sink {
            sink.flush().await;
        }
        if let Some(otlp) = &self.shared.telemetry.otlp {
            otlp.flush().await;
        }
    }

    /// Has each request of a module metered from now on, and its use told to a function when it has ended; None ends that. A
    /// request that streams its answer has ended when its guest has.
    pub fn on_usage(&self, listener: Option<UsageListener>) {
        self.shared.usage.set(listener);
    }

    /// The remainders of the modules that have a budget, by their names, sorted.
    #[must_use]
    pub fn budgets(&self) -> Vec<(String, Remainders)> {
        let modules = self.shared.registry.all().into_iter();
        modules.filter_map(|(name, slot)| Some((name, slot.budget.remainders()?))).collect()
    }

    /// The last 200 requests, oldest first.
    #[must_use]
    pub fn recent_requests(&self) -> Vec<RecentRequest> {
        self.shared.telemetry.recent.all()
    }

    /// For development: records the last 50 requests, each with its headers and bodies, its log and its outbound calls.
    /// Every part is bounded. Recording cannot be turned off again.
    pub fn record_requests(&self) {
        self.shared.telemetry.recent.record();
    }

    /// A recorded request as JSON, by the number in [`RecentRequest::recording`]. Credentials and secrets are masked.
    #[must_use]
    pub fn recorded_request(&self, number: u64) -> Option<String> {
        let registry = &self.shared.registry;
        let mut environment = registry.inherited().environment.clone();
        for (_, slot) in registry.all() {
            environment.extend_from_slice(&slot.shared_state.environment);
        }
        self.shared.telemetry.recent.view(number, &Secrets::of(&environment))
    }

    /// Sends a recorded request again, as it came and with another request id.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be sent: not all of it was kept.
    pub async fn send_again(&self, number: u64) -> Result<SentAgain, &'static str> {
        let recent = &self.shared.telemetry.recent;
        let request = recent.recording(number).ok_or("it is not kept any more")?.request()?;
        let response = self.handle(request).await;
        let id = response.headers().get(request_id::HEADER).and_then(|id| id.to_str().ok());
        let sent = SentAgain { status: response.status(), recording: id.and_then(|id| recent.newest(id)) };
        // A guest that streams its answer goes on for as long as somebody reads.
        tokio::spawn(tokio::time::timeout(
            ms(self.shared.limits.request_timeout_ms),
            read_to_end(response.into_body()),
        ));
        Ok(sent)
    }

    /// Replays a recording in a fresh instance of a module, without network and without sidecars. `is_other` takes a module that is
    /// another build of the same sources, and compares answers only.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Config`] when the module is not there or is another one, or its instance fails to start.
    pub async fn replay(&self, module: &str, tape: Tape, is_other: bool) -> Result<Replayed, RuntimeError> {
        let refused = |reason: String| RuntimeError::Config(reason);
        let slot = self.shared.registry.get(module).ok_or_else(|| refused(format!("there is no module {module}")))?;
        let State::Ready(module) = &slot.state else { return Err(refused(format!("{module} is not loaded"))) };
        let engine = &self.shared.engine;
        let replayed = if is_other {
            replay::against(engine, module, tape).await
        } else if module.digest == tape.meta.component {
            replay::strict(engine, module, tape).await
        } else {
            return Err(refused("the recording is of another component".to_string()));
        };
        replayed.map_err(|failure| refused(format!("it cannot be replayed: {failure}")))
    }

    /// The SHA-256 of a module's component, as recordings name it; None when it is not loaded, or digests are not computed.
    #[must_use]
    pub fn component_digest(&self, module: &str) -> Option<[u8; 32]> {
        match &self.shared.registry.get(module)?.state {
            State::Ready(module) => Some(module.digest).filter(|digest| *digest != [0; 32]),
            State::Loading | State::Failed => None,
        }
    }

    /// For development: serves `page` at the exact path `path`, before everything else. None takes it away.
    pub fn set_page(&self, path: impl Into<String>, page: Option<Page>) {
        self.shared.pages.set_page(path.into(), page);
    }

    /// For development: records that the newest source of `module` cannot be built. Until the next build, browsers
    /// (`Accept` has `text/html`) get `html` with status 500, and other clients the last good module's answer, or 503
    /// without one.
    pub fn set_build_error(&self, module: impl Into<String>, html: Option<Bytes>) {
        self.shared.pages.set_build_error(module.into(), html);
    }

    /// The parts for the isolation harness.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> (&SharedEngine, &Registry, &Admission) {
        let Shared { engine, registry, admission, .. } = &*self.shared;
        (engine, registry, admission)
    }

    /// How many connections are open.
    pub(crate) fn connections_gauge(&self) -> Gauge {
        self.shared.telemetry.metrics.connections.clone()
    }

    /// Reports whether the address is that of a trusted proxy.
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.shared.trusted_proxies.contain(address)
    }

    /// The bytes that are held for clients.
    pub(crate) fn budget(&self) -> &Budget {
        &self.shared.budget
    }

    /// The limits of the server.
    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The certificate to serve with, if one is configured.
    pub(crate) fn tls(&self) -> Option<Tls> {
        self.shared.tls.clone()
    }

    /// Notes that a listener of its own answers `/metrics` from now on.
    pub(crate) fn note_operations(&self) {
        self.shared.has_operations.store(true, Ordering::Relaxed);
    }

    /// Waits until the streamed responses to clients on connections have ended: for some seconds at most.
    pub(crate) async fn streams_ended(&self) {
        self.shared.streams.ended().await;
    }

    /// Answers one request, whatever becomes of it: failures are responses too. Each answer carries `X-Request-Id`.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.handle_for(&self.shared.program, request).await
    }

    /// Answers one request that reached the program on a connection of its own, as [`Self::handle`] does.
    pub async fn handle_from<B>(&self, peer: Peer, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.handle_for(&self.shared.program.on_behalf_of(Some(peer)), request).await
    }

    /// Reports whether a request is for a module, whatever its state is, and not for the runtime itself or for nobody.
    #[must_use]
    pub fn is_for_module(&self, peer: Option<Peer>, parts: &Parts) -> bool {
        match Route::of(&parts.uri) {
            Route::Module { name, .. } => self.shared.registry.get(name).is_some() || self.shared.pages.is_broken(name),
            Route::None => {
                let origin = self.shared.program.on_behalf_of(peer).origin(parts, &self.shared.trusted_proxies);
                self.shared.registry.mounted(origin.host(), parts.uri.path()).is_some()
            }
            _ => false,
        }
    }

    /// Answers one request of a client.
    pub(crate) async fn handle_for<B>(&self, client: &Client, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut exchange = Exchange::begin(&self.shared.telemetry, &request);
        let (parts, body) = request.into_parts();
        let mut is_gone = false;
        let mut response = match client.request(&parts) {
            Ok(mut room) => {
                let answered = self.answer(client, parts, body, &mut exchange, &mut room).await;
                is_gone = matches!(answered, Err(Problem::ClientGone));
                let mut response = answered.unwrap_or_else(|problem| {
                    room.clear();
                    explain(&problem, &exchange.id)
                });
                response.body_mut().set_room(room);
                response
            }
            Err(problem) if Client::must_send_all(parts.version) => {
                discard(&parts.headers, body, ms(self.shared.limits.body_timeout_ms)).await;
                explain(&problem, &exchange.id)
            }
            // A stream that waits for its client would take memory, and there is none for it.
            Err(problem) => explain(&problem, &exchange.id).map(|_| ResponseBody::from(Bytes::new())),
        };
        if let Ok(value) = HeaderValue::from_str(&exchange.id) {
            response.headers_mut().insert(request_id::HEADER, value);
        }
        if let Some(recording) = &exchange.recording {
            recording.answer(&response);
            response.body_mut().record(recording);
        }
        if is_gone {
            // One that went away in its upload is noted as all others that did.
            drop(exchange);
        } else {
            let status = response.status();
            response.body_mut().finish(exchange, status);
        }
        response
    }
}

/// A request that was sent again.
#[derive(Clone, Copy, Debug)]
pub struct SentAgain {
    /// The status of the answer.
    pub status: StatusCode,
    /// The number of its own recording.
    pub recording: Option<u64>,
}

async fn read_to_end(mut body: ResponseBody) {
    while let Some(Ok(_)) = body.frame().await {}
}

fn explain(problem: &Problem, request_id: &str) -> Response<ResponseBody> {
    problem.log(request_id);
    problem.response(request_id).map(ResponseBody::from)
}

fn compiler(command: Vec<OsString>, limits: &Limits) -> Compiler {
    Compiler { command, timeout: ms(limits.load_timeout_ms), memory: limits.compile_memory_bytes }
}

#[cfg(test)]
mod tests;
