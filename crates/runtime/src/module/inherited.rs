//! The server's own policy, from which each module takes the parts that its policy leaves out.
//!
//! Each module gets [`SharedState`] of its own, also where its policy leaves everything out: it shares no connection, no
//! circuit breaker and no place at a sidecar with another module, so that none can see or starve another.

use std::sync::Arc;

use tenon_transport::{Allow, Sidecar, Transport};

use crate::config::{Isolation, Limits, ModulePolicy, ModuleSource, transport_config};
use crate::error::RuntimeError;
use crate::instance::masks::Masks;
use crate::instance::shared_state::SharedState;
use crate::telemetry::metrics::Metrics;

/// The server's policy.
pub(crate) struct Inherited {
    pub(crate) sidecars: Vec<Sidecar>,
    pub(crate) allow: Vec<Allow>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) isolation: Isolation,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
    #[cfg(test)]
    pub(crate) gap: crate::crossing::Gap,
}

impl Inherited {
    /// The shared_state of a module.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Config`] for a limit that the module cannot have.
    pub(crate) fn shared_state(&self, source: &ModuleSource) -> Result<Arc<SharedState>, RuntimeError> {
        let policy = &source.policy;
        #[cfg(test)]
        let policy = &self.gap.policy(policy);
        let ModulePolicy { sidecars, allow, environment, isolation, limits, mount: _, host: _, budget: _ } = policy;
        let limits = self
            .limits
            .of_module(limits)
            .map_err(|wrong| RuntimeError::Config(format!("module {}: {wrong}", source.name)))?;
        let sidecars = sidecars.as_ref().unwrap_or(&self.sidecars).clone();
        let allow = allow.as_ref().unwrap_or(&self.allow).clone();
        let transport = Transport::new(sidecars.clone(), allow.clone(), transport_config(&limits));
        #[cfg(test)]
        let transport = self.gap.transport(transport);
        let mut variables = transport.environment();
        variables.extend_from_slice(environment.as_ref().unwrap_or(&self.environment));
        let masks = Masks::of(&variables);
        #[cfg(test)]
        let masks = self.gap.masks(masks);
        Ok(Arc::new(SharedState {
            masks: Arc::new(masks),
            environment: variables,
            transport,
            limits,
            isolation: isolation.unwrap_or(self.isolation),
            metrics: Arc::clone(&self.metrics),
            sidecars,
            allow,
            #[cfg(test)]
            without: self.gap.fence(),
            #[cfg(test)]
            peak: Arc::default(),
        }))
    }
}
