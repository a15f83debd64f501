//! The runtime's metrics for Prometheus: in its text format, or as OpenMetrics 1.0 on request.
//!
//! Counters of a module are looked up when it is loaded, so that counting a request touches no table but that of
//! statuses.

mod module;
mod names;

use std::collections::HashSet;

use http::header::{ACCEPT, HeaderMap, HeaderValue};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tenon_http_server::Budget;
use tenon_memory::Usage;

use module::ByModule;
pub(crate) use module::{Count, ModuleMetrics};
use names::{CallLabels, ModuleLabel, NotRecordedLabels, RequestLabels, SidecarLabels};

/// How metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Prometheus' text format 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The format that a client asks for by its `accept`.
    pub(crate) fn accepted(headers: &HeaderMap) -> Self {
        let mut accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let asks = accepted.any(|value| value.contains("application/openmetrics-text"));
        if asks { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        })
    }
}

/// Upper bounds in seconds: from a reused instance's 50 µs to the usual time-out.
const BUCKETS: [f64; 15] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

/// A family of histograms that all have the same buckets.
type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// Everything that is counted, for one runtime.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    modules: ByModule,
    sidecar_calls: Family<CallLabels, Counter>,
    sidecar_durations: Histograms<SidecarLabels>,
    recordings: Family<ModuleLabel, Counter>,
    not_recorded: Family<NotRecordedLabels, Counter>,
    pool: PoolGauges,
    pub(crate) running: Gauge,
    pub(crate) queued: Gauge,
    pub(crate) connections: Gauge,
    buffered: Gauge,
    no_room: Counter,
}

/// The use of an engine's pool, and the idle instances of a runtime.
pub(crate) struct PoolUsage {
    /// Instances that exist.
    pub(crate) instances: usize,
    /// Instances of the runtime that wait for a request.
    pub(crate) idle: usize,
    /// Guest stacks that exist.
    pub(crate) stacks: usize,
    pub(crate) memories: Usage,
}

/// The pool of instances, read when somebody asks.
#[derive(Default)]
struct PoolGauges {
    instances: Gauge,
    memories: Gauge,
    stacks: Gauge,
    warm_memories: Gauge,
    resident_bytes: Gauge,
    idle: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("tenon");
        let requests = Family::default();
        registry.register("requests", "Requests that were answered", Family::clone(&requests));
        let modules = ByModule::register(&mut registry);
        let sidecar_calls = Family::default();
        registry.register("sidecar_calls", "Outbound calls by outcome", Family::clone(&sidecar_calls));
        let sidecar_durations: Histograms<SidecarLabels> = Family::new_with_constructor(histogram);
        let help = "Time from an outbound call to the head of its response";
        registry.register("sidecar_call_duration_seconds", help, Family::clone(&sidecar_durations));
        let (recordings, not_recorded) = (Family::default(), Family::default());
        registry.register("recordings", "Recordings that were written", Family::clone(&recordings));
        let help = "Requests that should be recorded and were not, by reason";
        registry.register("requests_not_recorded", help, Family::clone(&not_recorded));
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, Gauge::clone(&gauge));
            gauge
        };
        let running = gauge("requests_running", "Requests that have a place in a module");
        let queued = gauge("requests_queued", "Requests that wait for a place");
        let connections = gauge("connections", "Connections that are open");
        let buffered = gauge("buffered_bytes", "Bytes that are held for clients (max_buffered_bytes)");
        let pool = PoolGauges {
            instances: gauge("instances", "Component instances that serve or are kept as they are"),
            memories: gauge("instances_memories", "Linear memories that exist"),
            stacks: gauge("instances_stacks", "Guest stacks that exist"),
            warm_memories: gauge("instances_warm_memories", "Slots of linear memories that wait to be used again"),
            resident_bytes: gauge("instances_resident_bytes", "Memory that those slots keep"),
            idle: gauge("instances_idle", "Instances that wait for their next request, as they are or restored"),
        };
        let no_room = Counter::default();
        let help = "Times that max_buffered_bytes left no room for a request, a response or a connection";
        registry.register("buffer_refusals", help, Counter::clone(&no_room));
        Self {
            registry,
            requests,
            modules,
            sidecar_calls,
            sidecar_durations,
            recordings,
            not_recorded,
            pool,
            running,
            queued,
            connections,
            buffered,
            no_room,
        }
    }

    /// The counters of one module. A module that is loaded again goes on with its old ones.
    pub(crate) fn module(&self, name: &str) -> ModuleMetrics {
        self.modules.of(name, self.requests.clone())
    }

    /// Counts an answer that no module was asked for.
    pub(crate) fn count_other(&self, method: &http::Method, status: u16) {
        self.requests.get_or_create(&RequestLabels::new("", method, status)).inc();
    }

    /// Counts an outbound call of a module. `outcome` is `ok`, or the kind of its failure; `seconds` are until it was known.
    pub(crate) fn count_call(&self, module: &str, sidecar: &str, outcome: &'static str, seconds: f64) {
        let (module, sidecar) = (module.to_string(), sidecar.to_string());
        let labels = SidecarLabels { module: module.clone(), sidecar: sidecar.clone() };
        self.sidecar_calls.get_or_create(&CallLabels { module, sidecar, outcome }).inc();
        self.sidecar_durations.get_or_create(&labels).observe(seconds);
    }

    /// Counts a recording of a module.
    pub(crate) fn count_recording(&self, module: &str) {
        self.recordings.get_or_create(&ModuleLabel { module: module.to_string() }).inc();
    }

    /// Counts a request that should be recorded and is not.
    pub(crate) fn count_not_recorded(&self, module: &str, reason: &'static str) {
        self.not_recorded.get_or_create(&NotRecordedLabels { module: module.to_string(), reason }).inc();
    }

    /// Everything as text.
    pub(crate) fn text(&self, format: Format, pool: &PoolUsage, budget: &Budget) -> String {
        set(&self.buffered, budget.used());
        // Another thread may have written the metrics meanwhile.
        self.no_room.inc_by((budget.refused() as u64).saturating_sub(self.no_room.get()));
        let PoolUsage { instances, idle, stacks, memories } = pool;
        set(&self.pool.idle, *idle);
        set(&self.pool.instances, *instances);
        set(&self.pool.memories, memories.used);
        set(&self.pool.stacks, *stacks);
        set(&self.pool.warm_memories, memories.waiting);
        set(&self.pool.resident_bytes, memories.resident);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        match format {
            Format::Prometheus => prometheus(&text),
            Format::OpenMetrics => text,
        }
    }
}

/// OpenMetrics in Prometheus' text format, which names a counter as its samples are named, and has no end.
fn prometheus(open_metrics: &str) -> String {
    fn described(line: &str) -> Option<(&str, &str, &str)> {
        let mut words = line.strip_prefix("# ")?.splitn(3, ' ');
        Some((words.next()?, words.next()?, words.next()?))
    }
    let counters: HashSet<&str> = open_metrics
        .lines()
        .filter_map(described)
        .filter_map(|(what, name, ty)| (what == "TYPE" && ty == "counter").then_some(name))
        .collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        match described(line) {
            Some((what, name, rest)) if counters.contains(name) => text += &format!("# {what} {name}_total {rest}"),
            _ => text += line,
        }
        text.push('\n');
    }
    text
}

fn set(gauge: &Gauge, value: impl TryInto<i64>) {
    gauge.set(value.try_into().unwrap_or(i64::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_names_a_counter_as_its_samples() {
        let open_metrics = "# HELP a_b Help of it.\n# TYPE a_b counter\na_b_total{x=\"# TYPE\"} 1\n# HELP g Gauge.\n\
            # TYPE g gauge\ng 2\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\n# EOF\n";
        let expected = "# HELP a_b_total Help of it.\n# TYPE a_b_total counter\na_b_total{x=\"# TYPE\"} 1\n# HELP g Gauge.\n\
            # TYPE g gauge\ng 2\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(prometheus(open_metrics), expected);
    }

    #[test]
    fn the_format_is_the_one_that_is_asked_for() {
        let format = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            Format::accepted(&headers)
        };
        assert_eq!(Format::accepted(&HeaderMap::new()), Format::Prometheus);
        assert_eq!(format("text/plain;version=0.0.4, */*"), Format::Prometheus);
        assert_eq!(format("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2"), Format::OpenMetrics);
    }
}
