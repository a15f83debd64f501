//! The counters of one module.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::names::{ModuleLabel, RequestLabels, known};
use super::{Histograms, histogram};
use crate::metering::meter::Usage;

/// Events in a module that are counted besides its answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    /// It trapped.
    Trap,
    /// It took too long.
    Timeout,
    /// Its answer was none that HTTP allows.
    InvalidResponse,
    /// A request found no place.
    Overloaded,
    /// An instance was made.
    Instance,
    /// An outbound call was refused.
    Refused,
    /// A request was refused because the budget is spent.
    Spent,
}

/// Name and help of each [`Count`], in its order.
const COUNTS: [(&str, &str); 7] = [
    ("traps", "Requests whose module trapped"),
    ("timeouts", "Requests that took longer than allowed"),
    ("invalid_responses", "Answers of modules that HTTP does not allow"),
    ("overloads", "Requests that found no place"),
    ("instances_created", "Instances that were made"),
    ("outbound_refused", "Outbound calls to a destination that is not allowed"),
    ("budget_refusals", "Requests that were refused because the module's budget is spent"),
];

/// Name and help of each sum of metered requests besides their processor time, in the order of [`Usage`]'s.
const SUMS: [(&str, &str); 5] = [
    (
        "metered_requests",
        "Requests that were metered: those of modules with a budget, and all while the program listens",
    ),
    (
        "metered_peak_memory_bytes",
        "Largest sizes of the memory of metered requests; divided by their number it is the mean",
    ),
    ("metered_calls", "Outbound calls of metered requests"),
    ("metered_in_bytes", "Bytes that metered requests got"),
    ("metered_out_bytes", "Bytes that metered requests gave"),
];

/// Seconds.
type Seconds = Counter<f64, AtomicU64>;

/// The metrics by module, for Prometheus.
pub(super) struct ByModule {
    counts: [Family<ModuleLabel, Counter>; COUNTS.len()],
    sums: [Family<ModuleLabel, Counter>; SUMS.len()],
    cpu: Family<ModuleLabel, Seconds>,
    durations: Histograms<ModuleLabel>,
}

impl ByModule {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let mut counter = |(name, help): (&str, &str)| {
            let family = Family::default();
            registry.register(name, help, Family::clone(&family));
            family
        };
        let (counts, sums) = (COUNTS.map(&mut counter), SUMS.map(&mut counter));
        let cpu = Family::default();
        registry.register("metered_cpu_seconds", "Processor time of metered requests", Family::clone(&cpu));
        let durations: Histograms<ModuleLabel> = Family::new_with_constructor(histogram);
        let help = "Time from the head of a request to the head of its response";
        registry.register("request_duration_seconds", help, Family::clone(&durations));
        Self { counts, sums, cpu, durations }
    }

    pub(super) fn of(&self, module: &str, requests: Family<RequestLabels, Counter>) -> ModuleMetrics {
        let label = ModuleLabel { module: module.to_string() };
        ModuleMetrics {
            module: module.to_string(),
            counts: self.counts.each_ref().map(|family| family.get_or_create_owned(&label)),
            sums: self.sums.each_ref().map(|family| family.get_or_create_owned(&label)),
            cpu: self.cpu.get_or_create_owned(&label),
            durations: self.durations.get_or_create_owned(&label),
            requests,
            seen: RwLock::default(),
        }
    }
}

/// The counters of one module, at hand.
pub(crate) struct ModuleMetrics {
    module: String,
    counts: [Counter; COUNTS.len()],
    sums: [Counter; SUMS.len()],
    cpu: Seconds,
    durations: Histogram,
    requests: Family<RequestLabels, Counter>,
    /// The counters of the methods and statuses seen so far: their key, unlike the family's, needs no copy of the name.
    seen: RwLock<HashMap<(&'static str, StatusCode), Counter>>,
}

impl ModuleMetrics {
    pub(crate) fn count(&self, event: Count) {
        self.counts[event as usize].inc();
    }

    /// Adds the use of a metered request.
    pub(crate) fn used(&self, usage: &Usage) {
        let amounts = [1, usage.peak_memory, usage.calls, usage.bytes_in, usage.bytes_out];
        for (sum, amount) in self.sums.iter().zip(amounts) {
            sum.inc_by(amount);
        }
        self.cpu.inc_by(usage.cpu.as_secs_f64());
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, method: &Method, status: StatusCode, duration: Duration) {
        self.durations.observe(duration.as_secs_f64());
        let key = (known(method), status);
        if let Some(counter) = self.seen.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            counter.inc();
            return;
        }
        let counter = self.requests.get_or_create_owned(&RequestLabels::new(&self.module, method, status.as_u16()));
        counter.inc();
        self.seen.write().unwrap_or_else(PoisonError::into_inner).insert(key, counter);
    }
}
