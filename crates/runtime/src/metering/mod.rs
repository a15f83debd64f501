//! Metering of requests for a listener of the program and for the budget of their module.
//!
//! A request is metered from its permit to the end of that, which its guest's end is. Without a listener and a budget nothing is
//! counted.

pub(crate) mod budget;
pub(crate) mod connection;
pub(crate) mod meter;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::metering::budget::Budget;
use crate::metering::meter::{Meter, Usage};
use crate::telemetry::module_info::ModuleInfo;

/// The use of one request of a module, which has ended.
#[derive(Clone, Debug)]
pub struct RequestUsage {
    /// The module.
    pub module: Arc<str>,
    /// The request's id, as in `X-Request-Id` and in the log.
    pub request_id: Arc<str>,
    /// The amounts.
    pub usage: Usage,
}

/// A function that gets the use of each request. It must not block.
pub type UsageListener = Arc<dyn Fn(RequestUsage) + Send + Sync>;

/// The listener of a runtime.
#[derive(Default)]
pub(crate) struct UsageListening {
    is_on: AtomicBool,
    listener: RwLock<Option<UsageListener>>,
}

impl UsageListening {
    /// Replaces the listener.
    pub(crate) fn set(&self, listener: Option<UsageListener>) {
        self.is_on.store(listener.is_some(), Ordering::Relaxed);
        *self.listener.write().unwrap_or_else(PoisonError::into_inner) = listener;
    }

    fn tell(&self, usage: RequestUsage) {
        let listener = self.listener.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(listener) = listener {
            listener(usage);
        }
    }
}

/// The metering of one request, which ends when it is dropped.
pub(crate) struct Metering {
    pub(crate) meter: Meter,
    module: Arc<ModuleInfo>,
    request_id: Arc<str>,
    listening: Arc<UsageListening>,
}

impl Metering {
    /// Begins to meter a request if somebody needs it.
    pub(crate) fn begin(
        listening: &Arc<UsageListening>,
        budget: &Arc<Budget>,
        module: &Arc<ModuleInfo>,
        request_id: &Arc<str>,
    ) -> Option<Self> {
        let budget = budget.is_set().then(|| Arc::clone(budget));
        if budget.is_none() && !listening.is_on.load(Ordering::Relaxed) {
            return None;
        }
        Some(Self {
            meter: Meter::counting(budget),
            module: Arc::clone(module),
            request_id: Arc::clone(request_id),
            listening: Arc::clone(listening),
        })
    }
}

impl Drop for Metering {
    fn drop(&mut self) {
        self.meter.end();
        let usage = self.meter.usage();
        self.module.metrics.used(&usage);
        let (module, request_id) = (Arc::clone(&self.module.name), Arc::clone(&self.request_id));
        self.listening.tell(RequestUsage { module, request_id, usage });
    }
}
