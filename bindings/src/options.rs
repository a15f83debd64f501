//! The options of a runtime, from JavaScript to `tenon_runtime::RuntimeConfig`.

use std::collections::HashMap;
use std::time::Duration;

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;
use tenon_runtime::{
    Allowance, Isolation, Limits, ModuleBudget, ModulePolicy, ModuleSource, RecordConfig, RuntimeConfig, TlsFiles,
    TrustedProxies, WhenSpent,
};
use tenon_transport::{Allow, Sidecar};

use crate::failure::Failure;
use crate::in_process;

/// Options of a runtime; omitted ones have the defaults of `crates/runtime/src/config`.
#[napi(object)]
#[derive(Default)]
pub struct RuntimeOptions {
    /// The components.
    pub modules: Vec<NativeModule>,
    /// Addresses of sidecars by name: `http://host:port`, `unix:///path`, or that of a `Sidecar` in this process.
    pub sidecars: Option<HashMap<String, String>>,
    /// The hosts that modules may call besides: `host`, `host:port`, or either behind `http://` or `https://`.
    pub outbound_allow: Option<Vec<String>>,
    /// Environment variables for every module.
    pub env: Option<HashMap<String, String>>,
    /// The files of a certificate and its key, in PEM, to serve with.
    pub tls: Option<NativeTls>,
    /// Where compiled code is kept; left out, it is compiled anew each time.
    pub cache_dir: Option<String>,
    /// True when files of code that was compiled ahead of time (`.cwasm`) are loaded; false when left out.
    pub trust_compiled: Option<bool>,
    /// Program and arguments of a process that calls `compileChild`; left out, components are compiled in this process.
    pub compiler: Option<Vec<String>>,
    /// `request` (the default) or `shared`.
    pub isolation: Option<String>,
    /// Limits by their names in `tenon.toml` (see `limitKeys`).
    pub limits: Option<HashMap<String, f64>>,
    /// `off`, `error`, `warn`, `info` or `debug`: the level of lines logged to standard error; if omitted, none unless
    /// another runtime logs.
    pub log_level: Option<String>,
    /// `readable` (the default) or `json`.
    pub log_format: Option<String>,
    /// True when each request is a line in the log, whatever the level.
    pub access_log: Option<bool>,
    /// Where traces are sent: `http://host:port` of an OpenTelemetry collector.
    pub otlp_endpoint: Option<String>,
    /// Addresses and networks of proxies whose `X-Forwarded-*` headers are believed.
    pub trusted_proxies: Option<Vec<String>>,
    /// Records requests; left out, none is recorded.
    pub record: Option<NativeRecord>,
    /// True when recordings are replayed; false when left out.
    pub replays: Option<bool>,
}

/// Which requests are recorded, and where.
#[napi(object)]
pub struct NativeRecord {
    /// The folder of recordings.
    pub folder: String,
    /// The share of all requests, from 0 to 1.
    pub share: f64,
    /// True when requests that failed are recorded.
    pub failures: bool,
    /// Milliseconds; requests that took as long are recorded.
    pub slow_ms: Option<f64>,
    /// The header by which a trusted proxy asks for a recording.
    pub header: Option<String>,
    /// Bytes of all recordings.
    pub max_bytes: f64,
    /// Milliseconds; older recordings are removed.
    pub max_age_ms: Option<f64>,
    /// Names of headers, JSON pointers after a `#`, and query parameters after a `?`.
    pub mask: Vec<String>,
}

/// The files of a certificate, in PEM.
#[napi(object)]
pub struct NativeTls {
    /// The certificate and its chain.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// A component's file, and the module's policy. A part that is left out is the runtime's; one that is given takes the place of
/// the runtime's as a whole.
#[napi(object)]
pub struct NativeModule {
    /// Its name; by default that of its file, without `.wasm` and `-composed`.
    pub name: Option<String>,
    /// The file; left out when there are bytes.
    pub path: Option<String>,
    /// The component, in the place of a file; it has a name then.
    pub bytes: Option<Buffer>,
    /// The rest of the policy; left out, all of it is the runtime's.
    pub policy: Option<NativePolicy>,
}

/// A module's reach, its limits, and the places where it is served besides `/run/<module>`.
#[napi(object)]
#[derive(Default)]
pub struct NativePolicy {
    /// Addresses of its sidecars by name.
    pub sidecars: Option<HashMap<String, String>>,
    /// The hosts that it may call besides.
    pub outbound_allow: Option<Vec<String>>,
    /// Its environment variables, secrets among them.
    pub env: Option<HashMap<String, String>>,
    /// `request` or `shared`.
    pub isolation: Option<String>,
    /// Limits by their names in `tenon.toml`; `max_concurrent` is how many of its requests run at once.
    pub limits: Option<HashMap<String, f64>>,
    /// The path below which it is served.
    pub mount: Option<String>,
    /// The host name for which it is served.
    pub host: Option<String>,
    /// Bounds of the use of its requests together, each in a period; left out, there is none.
    pub budget: Option<NativeBudget>,
}

/// The budget of a module. A part that is left out has no bound.
#[napi(object)]
#[derive(Default)]
pub struct NativeBudget {
    /// Microseconds of processor time.
    pub cpu: Option<NativeAllowance>,
    /// Outbound calls.
    pub calls: Option<NativeAllowance>,
    /// Bytes of responses and of outbound calls.
    pub bytes_out: Option<NativeAllowance>,
    /// Byte seconds of memory.
    pub memory: Option<NativeAllowance>,
    /// The status of the answer while it is spent: `429` (the default) or `503`.
    pub when_spent: Option<String>,
    /// Its share of the processors while other modules compute as well; 1 when left out.
    pub weight: Option<u32>,
}

/// An amount for each period.
#[napi(object)]
pub struct NativeAllowance {
    /// The amount.
    pub amount: f64,
    /// Milliseconds.
    pub period_ms: f64,
}

/// A limit of the runtime.
#[napi(object)]
pub struct LimitKey {
    /// Its key in `[server]` of `tenon.toml`; the ending is the unit.
    pub name: String,
    /// Its meaning, and the effect of exceeding it.
    pub meaning: String,
    /// Its value unless another is given.
    pub default: f64,
    /// The smallest value that is accepted.
    pub min: f64,
    /// The largest value that is accepted.
    pub max: f64,
    /// True for a limit that a module may have a value of its own for.
    pub of_module: bool,
}

/// Every limit of the runtime, in the order of the documentation.
#[napi]
#[allow(clippy::cast_precision_loss, reason = "no limit comes near 2^53")]
pub fn limit_keys() -> Vec<LimitKey> {
    let keys = Limits::KEYS.iter().map(|key| LimitKey {
        name: key.name.to_string(),
        meaning: key.meaning.trim().to_string(),
        default: key.default as f64,
        min: key.min as f64,
        max: key.max as f64,
        of_module: key.is_of_module(),
    });
    keys.collect()
}

pub(crate) fn config(options: RuntimeOptions) -> Result<RuntimeConfig, Failure> {
    Ok(RuntimeConfig {
        modules: options.modules.into_iter().map(module).collect::<Result<_, _>>()?,
        sidecars: sidecars(options.sidecars.unwrap_or_default())?,
        allow: allow(&options.outbound_allow.unwrap_or_default())?,
        environment: environment(options.env.unwrap_or_default()),
        isolation: isolation(options.isolation.as_deref().unwrap_or("request"))?,
        limits: limits(options.limits.unwrap_or_default())?,
        access_log: options.access_log.unwrap_or(false),
        otlp_endpoint: options.otlp_endpoint,
        trusted_proxies: TrustedProxies::parse(&options.trusted_proxies.unwrap_or_default())?,
        tls: options.tls.map(|tls| TlsFiles { certificate: tls.certificate.into(), key: tls.key.into() }),
        trust_compiled: options.trust_compiled.unwrap_or(false),
        cache: options.cache_dir.map(Into::into),
        compiler: options.compiler.unwrap_or_default().into_iter().map(Into::into).collect(),
        record: options.record.map(record).transpose()?,
        replays: options.replays.unwrap_or(false),
    })
}

fn record(given: NativeRecord) -> Result<RecordConfig, Failure> {
    let time = |name: &str, value: Option<f64>| {
        value.map(|value| Ok::<_, Failure>(Duration::from_millis(whole(name, value)?))).transpose()
    };
    let header = given.header.map(|name| {
        let wrong = format!("record.header is \"{name}\": it must be the name of a header");
        name.parse().map_err(|_| Failure::new("CONFIG", wrong))
    });
    Ok(RecordConfig {
        folder: given.folder.into(),
        share: given.share,
        failures: given.failures,
        slow: time("record.slow_ms", given.slow_ms)?,
        header: header.transpose()?,
        max_bytes: whole("record.max_bytes", given.max_bytes)?,
        max_age: time("record.max_age_ms", given.max_age_ms)?,
        mask: given.mask,
    })
}

/// A module with its policy.
pub(crate) fn module(module: NativeModule) -> Result<ModuleSource, Failure> {
    let path = module.path.unwrap_or_default();
    let wrong = format!("{path} cannot name a module");
    let source = match (module.name, module.bytes) {
        (Some(name), Some(bytes)) => Some(ModuleSource::of_bytes(name, Vec::from(bytes))),
        (Some(name), None) => Some(ModuleSource::new(name, path)),
        (None, _) => ModuleSource::from_path(path),
    };
    let mut source = source.ok_or_else(|| Failure::new("CONFIG", wrong))?;
    let about = |failure: Failure| failure.about(&format!("module {}", source.name));
    source.policy = policy(module.policy.unwrap_or_default()).map_err(about)?;
    Ok(source)
}

fn policy(given: NativePolicy) -> Result<ModulePolicy, Failure> {
    let mut limits = Vec::new();
    for (name, value) in given.limits.unwrap_or_default() {
        let value = whole(&name, value)?;
        limits.push((name, value));
    }
    // Sorted, so that the same policy compares as equal.
    limits.sort();
    Ok(ModulePolicy {
        sidecars: given.sidecars.map(sidecars).transpose()?,
        allow: given.outbound_allow.as_deref().map(allow).transpose()?,
        environment: given.env.map(environment),
        isolation: given.isolation.as_deref().map(isolation).transpose()?,
        limits,
        mount: given.mount,
        host: given.host,
        budget: given.budget.map(budget).transpose()?,
    })
}

fn budget(given: NativeBudget) -> Result<ModuleBudget, Failure> {
    let allowance = |name: &str, given: Option<NativeAllowance>| {
        given.map(|NativeAllowance { amount, period_ms }| {
            let period = Duration::from_millis(whole(&format!("{name}: the period"), period_ms)?);
            Ok::<_, Failure>(Allowance { amount: whole(name, amount)?, period })
        })
    };
    let part = |name, given| allowance(name, given).transpose();
    Ok(ModuleBudget {
        cpu: part("budget.cpu", given.cpu)?,
        calls: part("budget.calls", given.calls)?,
        bytes_out: part("budget.bytes_out", given.bytes_out)?,
        memory: part("budget.memory", given.memory)?,
        when_spent: match given.when_spent.as_deref() {
            None | Some("429") => WhenSpent::TooManyRequests,
            Some("503") => WhenSpent::Unavailable,
            Some(other) => {
                let why = format!("budget.when_spent is \"{other}\": it must be \"429\" or \"503\"");
                return Err(Failure::new("CONFIG", why));
            }
        },
        weight: given.weight,
    })
}

/// Sidecars, sorted by name, so that the same ones compare as equal.
pub(crate) fn sidecars(given: HashMap<String, String>) -> Result<Vec<Sidecar>, Failure> {
    let mut sidecars = given
        .into_iter()
        .map(|(name, address)| Ok(Sidecar::new(&name, in_process::address(&address)?)?))
        .collect::<Result<Vec<_>, Failure>>()?;
    sidecars.sort_by(|one, other| one.name().cmp(other.name()));
    Ok(sidecars)
}

/// Variables, sorted for the same reason.
pub(crate) fn environment(given: HashMap<String, String>) -> Vec<(String, String)> {
    let mut environment: Vec<_> = given.into_iter().collect();
    environment.sort();
    environment
}

fn allow(given: &[String]) -> Result<Vec<Allow>, Failure> {
    Ok(given.iter().map(|entry| Allow::parse(entry)).collect::<Result<_, _>>()?)
}

fn isolation(given: &str) -> Result<Isolation, Failure> {
    Ok(given.parse::<Isolation>()?)
}

fn limits(given: HashMap<String, f64>) -> Result<Limits, Failure> {
    let mut limits = Limits::default();
    for (name, value) in given {
        limits.set(&name, whole(&name, value)?)?;
    }
    Ok(limits)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number in range")]
pub(crate) fn whole(name: &str, value: f64) -> Result<u64, Failure> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    if value.fract() != 0.0 || !(0.0..=LARGEST).contains(&value) {
        return Err(Failure::new("CONFIG", format!("{name} is {value}: it must be a whole number")));
    }
    Ok(value as u64)
}
