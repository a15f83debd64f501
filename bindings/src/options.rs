//! What a runtime is told, from JavaScript to `tenon_runtime::RuntimeConfig`.

use std::collections::HashMap;

use napi_derive::napi;
use tenon_runtime::{Limits, ModuleSource, RuntimeConfig, TlsFiles, TrustedProxies};
use tenon_transport::{Address, Allow, Sidecar};

use crate::failure::Failure;

/// What a runtime is told; what is left out has the default of `crates/runtime/src/config`.
#[napi(object)]
#[derive(Default)]
pub struct RuntimeOptions {
    /// The components.
    pub modules: Vec<NativeModule>,
    /// Addresses of sidecars by name: `http://host:port` or `unix:///path`.
    pub sidecars: Option<HashMap<String, String>>,
    /// The hosts that modules may call besides: `host`, `host:port`, or either behind `http://` or `https://`.
    pub outbound_allow: Option<Vec<String>>,
    /// Environment variables for every module.
    pub env: Option<HashMap<String, String>>,
    /// The files of a certificate and its key, in PEM, to serve with.
    pub tls: Option<NativeTls>,
    /// Where compiled code is kept; left out, it is compiled anew each time.
    pub cache_dir: Option<String>,
    /// Program and arguments of a process that calls `compileChild`; left out, components are compiled in this process.
    pub compiler: Option<Vec<String>>,
    /// `request` (the default) or `shared`.
    pub isolation: Option<String>,
    /// Limits by their names in `tenon.toml` (see `limitKeys`).
    pub limits: Option<HashMap<String, f64>>,
    /// `off`, `error`, `warn`, `info` (the default) or `debug`; what is logged goes to standard error.
    pub log_level: Option<String>,
    /// `readable` (the default) or `json`.
    pub log_format: Option<String>,
    /// Whether each request is a line in the log, whatever the level.
    pub access_log: Option<bool>,
    /// Where traces are sent: `http://host:port` of an OpenTelemetry collector.
    pub otlp_endpoint: Option<String>,
    /// Addresses and networks of proxies whose `X-Forwarded-*` headers are believed.
    pub trusted_proxies: Option<Vec<String>>,
}

/// The files of a certificate, in PEM.
#[napi(object)]
pub struct NativeTls {
    /// The certificate and its chain.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// A component's file.
#[napi(object)]
pub struct NativeModule {
    /// What it is called; left out, it is called after its file, without `.wasm` and `-composed`.
    pub name: Option<String>,
    /// The file.
    pub path: String,
}

/// A limit of the runtime.
#[napi(object)]
pub struct LimitKey {
    /// Its key in `[server]` of `tenon.toml`; the ending is the unit.
    pub name: String,
    /// What it bounds, and what happens beyond.
    pub meaning: String,
    /// Its value unless another is given.
    pub default: f64,
    /// The smallest value that is accepted.
    pub min: f64,
    /// The largest value that is accepted.
    pub max: f64,
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
    });
    keys.collect()
}

pub(crate) fn config(options: RuntimeOptions) -> Result<RuntimeConfig, Failure> {
    let sidecars = options
        .sidecars
        .unwrap_or_default()
        .into_iter()
        .map(|(name, address)| Ok(Sidecar::new(&name, Address::parse(&address)?)?));
    let isolation = options.isolation.as_deref().unwrap_or("request").parse();
    Ok(RuntimeConfig {
        modules: options.modules.into_iter().map(module).collect::<Result<_, _>>()?,
        sidecars: sidecars.collect::<Result<_, Failure>>()?,
        allow: options
            .outbound_allow
            .unwrap_or_default()
            .iter()
            .map(|entry| Allow::parse(entry))
            .collect::<Result<_, _>>()?,
        environment: options.env.unwrap_or_default().into_iter().collect(),
        isolation: isolation.map_err(|wrong: String| Failure::new("CONFIG", wrong))?,
        limits: limits(options.limits.unwrap_or_default())?,
        access_log: options.access_log.unwrap_or(false),
        otlp_endpoint: options.otlp_endpoint,
        trusted_proxies: TrustedProxies::parse(&options.trusted_proxies.unwrap_or_default())
            .map_err(|wrong| Failure::new("CONFIG", wrong))?,
        tls: options.tls.map(|tls| TlsFiles { certificate: tls.certificate.into(), key: tls.key.into() }),
        cache: options.cache_dir.map(Into::into),
        compiler: options.compiler.unwrap_or_default().into_iter().map(Into::into).collect(),
    })
}

fn module(module: NativeModule) -> Result<ModuleSource, Failure> {
    if let Some(name) = module.name {
        return Ok(ModuleSource { name, path: module.path.into() });
    }
    let wrong = format!("{} cannot name a module", module.path);
    ModuleSource::from_path(module.path).ok_or_else(|| Failure::new("CONFIG", wrong))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number in range")]
fn limits(given: HashMap<String, f64>) -> Result<Limits, Failure> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let mut limits = Limits::default();
    for (name, value) in given {
        if value.fract() != 0.0 || !(0.0..=LARGEST).contains(&value) {
            return Err(Failure::new("CONFIG", format!("{name} is {value}: it must be a whole number")));
        }
        limits.set(&name, value as u64).map_err(|wrong| Failure::new("CONFIG", wrong))?;
    }
    Ok(limits)
}
