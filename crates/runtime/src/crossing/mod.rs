//! Fences between modules, and a way to take one of them out.
//!
//! In [`tests`] one module tries to get at another's belongings, and each attempt has to fail. An attempt proves something only if
//! it succeeds without its fence. So a test names a [`Fence`] in its configuration, and the functions here undo that one fence, each
//! called at the line of the product that is the fence.

pub(crate) mod fence;
#[cfg(unix)]
pub(crate) mod tests;

use std::sync::{Mutex, PoisonError};

use http::Uri;
use tenon_transport::{Allow, Transport};
use wasmtime_wasi_http::WasiBody;

use crate::config::{ModulePolicy, transport_config};
use crate::instance::call::failure::Failure;
use crate::instance::masks::Masks;
use crate::instance::shared_state::SharedState;
use crate::request::problem::Problem;
use fence::Fence;

/// The missing fence of one runtime, and the parts that all modules have in common without it.
pub(crate) struct Gap {
    fence: Option<Fence>,
    policy: Mutex<Option<ModulePolicy>>,
    transport: Mutex<Option<Transport<WasiBody>>>,
}

impl Gap {
    pub(crate) fn new(fence: Option<Fence>) -> Self {
        Self { fence, policy: Mutex::default(), transport: Mutex::default() }
    }

    pub(crate) fn fence(&self) -> Option<Fence> {
        self.fence
    }

    /// Returns a module's policy. The part that the missing fence guards is taken from the first module.
    pub(crate) fn policy(&self, own: &ModulePolicy) -> ModulePolicy {
        let mut first = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let first = first.get_or_insert_with(|| own.clone()).clone();
        match self.fence {
            Some(Fence::Environment) => ModulePolicy { environment: first.environment, ..own.clone() },
            Some(Fence::Sidecars) => ModulePolicy { sidecars: first.sidecars, ..own.clone() },
            Some(Fence::Hosts) => ModulePolicy { allow: first.allow, ..own.clone() },
            _ => own.clone(),
        }
    }

    /// The transport of a module: that of the first module without [`Fence::Connections`].
    pub(crate) fn transport(&self, own: Transport<WasiBody>) -> Transport<WasiBody> {
        match self.fence {
            Some(Fence::Connections) => {
                self.transport.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(own).clone()
            }
            _ => own,
        }
    }

    /// The masks of a module: none without [`Fence::Masks`].
    pub(crate) fn masks(&self, own: Masks) -> Masks {
        if self.fence == Some(Fence::Masks) { Masks::default() } else { own }
    }
}

/// A transport that reaches any host, without [`Fence::Refusal`].
pub(crate) fn transport(shared_state: &SharedState, uri: &Uri) -> Option<Transport<WasiBody>> {
    if shared_state.without != Some(Fence::Refusal) || shared_state.transport.route(uri).is_ok() {
        return None;
    }
    let allow = Allow::parse(uri.authority()?.as_str()).ok()?;
    Some(Transport::new(Vec::new(), vec![allow], transport_config(&shared_state.limits)))
}

/// The module from which one takes its places over: any other without [`Fence::Places`].
pub(crate) fn before<'a, T>(own: Option<&'a T>, other: Option<&'a T>, shared_state: &SharedState) -> Option<&'a T> {
    if shared_state.without == Some(Fence::Places) { own.or(other) } else { own }
}

/// The answer that has the text of a failure, without [`Fence::Answers`].
pub(crate) fn problem(shared_state: &SharedState, failure: &Failure) -> Option<Problem> {
    (shared_state.without == Some(Fence::Answers)).then(|| Problem::UnknownModule(format!("{failure:?}")))
}
