//! The runtime itself: the state that all requests share, and the methods for programs.
//!
//! - [`start`] makes it, and [`status`] reports about it.
//! - [`handle`] answers each request: [`find`] finds the module, [`answer`] reads the body and waits for a permit, [`call`] calls it
//!   within its time ([`in_time`]), and [`uploads`] does so while the body arrives.
//! - [`report`] notes failures.
//! - [`development`] has the methods for `tenon dev`.

mod answer;
mod call;
mod development;
mod find;
mod handle;
mod idle_memory;
mod in_time;
mod report;
mod start;
mod status;
mod uploads;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use tenon_http_server::Budget;
use tenon_tape::Tape;
use tenon_transport::Transport;
use wasmtime_wasi_http::WasiBody;

use crate::admission::Admission;
use crate::config::tls::Tls;
use crate::config::{Limits, ModuleSource, TrustedProxies, ms};
use crate::error::RuntimeError;
use crate::instance::call::pieces::Streams;
use crate::metering::budget::Remainders;
use crate::metering::{UsageListener, UsageListening};
use crate::module::engine::SharedEngine;
use crate::module::registry::{Registry, State};
use crate::request::client::Client;
use crate::request::pages::Pages;
use crate::tape::{Replayed, Sink, replay};
use crate::telemetry::exchange::Telemetry;

pub use development::SentAgain;

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
    admission: Arc<Admission>,
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
}

#[cfg(test)]
mod tests;
