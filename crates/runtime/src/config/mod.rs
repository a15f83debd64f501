//! The configuration of a runtime, with all defaults.

mod budget;
pub(crate) mod environment;
pub(crate) mod error;
mod limits;
mod outbound;
mod policy;
mod record;
pub(crate) mod tls;
mod trusted_proxies;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use bytes::Bytes;
use tenon_transport::{Allow, Sidecar};

use self::error::ConfigError;

pub use budget::{Allowance, ModuleBudget, WhenSpent};
pub use limits::{LimitKey, Limits};
pub(crate) use limits::{count, ms, size};
pub(crate) use outbound::transport_config;
pub use policy::ModulePolicy;
pub use record::RecordConfig;
pub use trusted_proxies::TrustedProxies;

/// Extension of a file of code that was compiled ahead of time.
const COMPILED: &str = "cwasm";

/// A component, its name, and its policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSource {
    /// The `<module>` of `/run/<module>/*`.
    pub name: String,
    /// The component's file, or a name for its bytes in errors.
    pub path: PathBuf,
    /// The component, when it is not read from the file.
    pub bytes: Option<Bytes>,
    /// Its permissions, its limits, and its additional addresses.
    pub policy: ModulePolicy,
}

impl ModuleSource {
    /// A component that has all that the server has.
    #[must_use]
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), path: path.into(), bytes: None, policy: ModulePolicy::default() }
    }

    /// A component that is in memory.
    #[must_use]
    pub fn of_bytes(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { bytes: Some(bytes.into()), ..Self::new(name, "the given data") }
    }

    /// Reports whether the file has code that was compiled ahead of time.
    pub(crate) fn is_compiled(&self) -> bool {
        self.bytes.is_none() && self.path.extension().is_some_and(|extension| extension == COMPILED)
    }

    /// Names a module after its file: without `.wasm` or `.cwasm` and without a `-composed` before it.
    ///
    /// Returns none when nothing is left of the file name, or when it is not UTF-8.
    #[must_use]
    pub fn from_path(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        let file = path.file_name()?.to_str()?;
        let stem = file.strip_suffix(".wasm").or_else(|| file.strip_suffix(".cwasm")).unwrap_or(file);
        let name = stem.strip_suffix("-composed").unwrap_or(stem);
        if name.is_empty() { None } else { Some(Self::new(name.to_string(), path)) }
    }
}

/// The state that requests to one module share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Nothing: each has an instance of its own, which is dropped after it.
    #[default]
    Request,
    /// Instances, one request after another: a request may see the memory that an earlier one left. Faster. Services of WASI 0.3
    /// never share them.
    Shared,
}

impl FromStr for Isolation {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "request" => Ok(Self::Request),
            "shared" => Ok(Self::Shared),
            other => Err(ConfigError::Isolation(other.to_string())),
        }
    }
}

/// The files of a certificate, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate and its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// All that a runtime needs to know.
#[derive(Clone, Debug, Default)]
pub struct RuntimeConfig {
    /// The components to serve, each under another name.
    pub modules: Vec<ModuleSource>,
    /// The services that modules may call. This and the next four hold for modules whose policy has none of its own.
    pub sidecars: Vec<Sidecar>,
    /// The hosts that modules may call besides.
    pub allow: Vec<Allow>,
    /// Environment variables that every module sees, besides those of the sidecars. Nothing of the process's own
    /// environment is ever added.
    pub environment: Vec<(String, String)>,
    /// The state that requests to one module share.
    pub isolation: Isolation,
    /// The bounds of a request.
    pub limits: Limits,
    /// Logs each request as a line (target `access`).
    pub access_log: bool,
    /// Where traces are sent: the `http://host:port` or `https://host:port` of an OpenTelemetry
    /// collector. None sends none.
    pub otlp_endpoint: Option<String>,
    /// The proxies whose `X-Forwarded-*` headers are believed.
    pub trusted_proxies: TrustedProxies,
    /// The certificate to serve with; none serves plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Where compiled code is kept. None compiles anew each time.
    pub cache: Option<PathBuf>,
    /// Loads files of code that was compiled ahead of time (`.cwasm`). Such code is not sandboxed, so set this only for
    /// trusted files.
    pub trust_compiled: bool,
    /// Program and arguments of a process that calls [`crate::compile_child`]: components are compiled there, within
    /// `load_timeout_ms` and `compile_memory_bytes`. Empty compiles on a thread of this process, which has no bound of
    /// memory, and which is left behind when its time is over.
    pub compiler: Vec<OsString>,
    /// Records requests.
    pub record: Option<RecordConfig>,
    /// Computes the digests of components, which [`crate::Runtime::replay`] compares with those of recordings. Recording does so, too.
    pub replays: bool,
    /// The fence between modules that a test takes out.
    #[cfg(test)]
    pub(crate) without: Option<crate::crossing::fence::Fence>,
}

impl RuntimeConfig {
    /// Gives each module the parts of its policy that it would inherit, so that an update to another configuration changes them as well.
    /// Limits of the server that a module cannot have stay what they are while it runs.
    #[must_use]
    pub fn with_whole_policies(mut self) -> Self {
        let inherited = self.limits.for_modules();
        for ModuleSource { policy, .. } in &mut self.modules {
            policy.sidecars.get_or_insert_with(|| self.sidecars.clone());
            policy.allow.get_or_insert_with(|| self.allow.clone());
            policy.environment.get_or_insert_with(|| self.environment.clone());
            policy.isolation.get_or_insert(self.isolation);
            let own = std::mem::take(&mut policy.limits);
            policy.limits.extend(inherited.iter().filter(|(name, _)| own.iter().all(|(one, _)| one != name)).cloned());
            policy.limits.extend(own);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_policy_has_the_servers_parts_and_its_own() {
        let mut module = ModuleSource::new("a", "a.wasm");
        module.policy.limits = vec![("request_timeout_ms".to_string(), 7)];
        let environment = vec![("A".to_string(), "1".to_string())];
        let config =
            RuntimeConfig { modules: vec![module], environment: environment.clone(), ..RuntimeConfig::default() };
        let policy = config.with_whole_policies().modules.remove(0).policy;
        assert_eq!((policy.environment, policy.isolation), (Some(environment), Some(Isolation::Request)));
        let values = |name: &str| {
            policy.limits.iter().filter(|(one, _)| one == name).map(|(_, value)| *value).collect::<Vec<_>>()
        };
        assert_eq!(values("request_timeout_ms"), [7]);
        assert_eq!(values("memory_limit_bytes"), [Limits::default().memory_limit_bytes]);
        assert!(values("max_queued").is_empty(), "a limit of the server is none of a module");
    }

    #[test]
    fn modules_are_named_after_their_files() {
        let name = |path: &str| ModuleSource::from_path(path).map(|module| module.name);
        assert_eq!(name("dist/hello.wasm").as_deref(), Some("hello"));
        assert_eq!(name("dist/hello-composed.wasm").as_deref(), Some("hello"));
        assert_eq!(name("my-composed-app.wasm").as_deref(), Some("my-composed-app"));
        assert_eq!(name("-composed.wasm"), None);
        assert_eq!(name(".."), None);
    }
}
