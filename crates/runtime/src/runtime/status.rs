//! The pages `/health`, `/ready` and `/metrics`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::Response;
use http::header::CONTENT_TYPE;

use super::{Runtime, Shared};
use crate::module::registry::{ModuleSlot, State};
use crate::module::sidecars;
use crate::request::health;
use crate::response::ResponseBody;
use crate::telemetry::metrics::{Format, PoolUsage};

impl Runtime {
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

    pub(super) fn health(&self) -> Response<Bytes> {
        let sidecars = sidecars::health(&self.shared.transport, &self.shared.registry.all());
        let is_outdated = self.shared.is_outdated.load(Ordering::Relaxed);
        health::response(self.shared.started.elapsed(), &self.shared.registry.states(), &sidecars, is_outdated)
    }

    /// Requests should come here while a module is loaded that has all its sidecars, and the server is not about to close. A
    /// sidecar that all modules have counts in any case.
    pub(super) fn readiness(&self) -> Response<Bytes> {
        let modules = self.shared.registry.all();
        let down = sidecars::health(&self.shared.transport, &modules).into_iter().filter(|(_, up)| !up);
        let down: Vec<String> = down.map(|(name, _)| name).collect();
        let has_all = |name: &str| !down.iter().any(|down| down.starts_with(&format!("{name}/")));
        let serves = |(name, slot): &(String, Arc<ModuleSlot>)| matches!(slot.state, State::Ready(_)) && has_all(name);
        let mut reasons = Vec::new();
        if self.is_draining() {
            reasons.push("the server is about to close".to_string());
        }
        if !modules.iter().any(serves) {
            reasons.push("no module is ready".to_string());
        }
        let is_down = |name: &&String| !name.contains('/') || !reasons.is_empty();
        let down: Vec<_> = down.iter().filter(is_down).map(|name| format!("the sidecar {name} is down")).collect();
        reasons.extend(down);
        health::readiness(&reasons)
    }

    pub(super) fn metrics_page(&self, format: Format) -> Response<ResponseBody> {
        let mut response = Response::new(ResponseBody::from(Bytes::from(self.metrics_as(format))));
        response.headers_mut().insert(CONTENT_TYPE, format.content_type());
        response
    }
}
