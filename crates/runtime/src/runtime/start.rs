//! The start of a runtime.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tenon_code::Compiler;
use tenon_http_server::Budget;
use tenon_transport::Transport;

use super::{Runtime, Shared};
use crate::admission::Admission;
use crate::config::tls::Tls;
use crate::config::{Limits, RuntimeConfig, ms, size, transport_config};
use crate::error::RuntimeError;
use crate::module::engine::shared_engine;
use crate::module::inherited::Inherited;
use crate::module::loader::{Loader, Targets, Turns};
use crate::module::registry::Registry;
use crate::module::sidecars;
use crate::request::client::Client;
use crate::request::pages::Pages;
use crate::tape::Sink;
use crate::telemetry::exchange::Telemetry;
use crate::telemetry::metrics::Metrics;
use crate::telemetry::otlp::Otlp;
use crate::telemetry::recent::Recent;

/// How long a start waits to learn which sidecars are up.
const FIRST_LOOK: Duration = Duration::from_millis(100);

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
        let admission = Arc::new(Admission::new(&limits, Arc::clone(&metrics)));
        let registry = Registry::load(loader, Arc::clone(&admission), config.modules).await?;
        let otlp = config.otlp_endpoint.as_deref().map(Otlp::start).transpose()?;
        let sink = config.record.map(|record| Sink::open(record, engine.clone(), Arc::clone(&metrics))).transpose()?;
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
    pub(super) async fn look_at_sidecars(&self) {
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
}

fn compiler(command: Vec<OsString>, limits: &Limits) -> Compiler {
    Compiler { command, timeout: ms(limits.load_timeout_ms), memory: limits.compile_memory_bytes }
}
