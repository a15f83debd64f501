//! The configuration as `tenon build --server` writes it: `tenon.toml` as it was resolved then.
//!
//! Secrets and the URLs of stores stand in it as references (`env:NAME`, `file:path`), so the file can be in an image. Paths are
//! relative to its folder.

mod module;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tenon_jobs::{Declaration, QueueOptions, Tasks, Work, WorkError};
use tenon_runtime::{Limits, ModuleSource, RecordConfig, RuntimeConfig, SECRET_PREFIX, TlsFiles, TrustedProxies};
use tenon_transport::Sidecar;

use module::{Module, allow, isolation};

use crate::error::ServerError;
use crate::in_process::{InProcessSidecars, Places, SidecarValue};
use crate::{overrides, values};

/// The version of the format; `cli/src/build/server-folder.ts` writes it.
const VERSION: u32 = 1;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The whole file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Configuration {
    version: u32,
    /// The address to listen on.
    pub(crate) host: String,
    /// The port to listen on.
    pub(crate) port: u16,
    /// The address of `/metrics`, when it has one of its own.
    pub(crate) metrics_address: Option<String>,
    /// `readable` or `json`.
    pub(crate) log_format: String,
    access_log: bool,
    #[serde(default)]
    trust_compiled: bool,
    otlp_endpoint: Option<String>,
    trusted_proxies: Vec<String>,
    tls: Option<Tls>,
    record: Option<Record>,
    isolation: String,
    limits: BTreeMap<String, u64>,
    sidecars: BTreeMap<String, SidecarValue>,
    outbound_allow: Vec<String>,
    env: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
    modules: BTreeMap<String, Module>,
    /// The routes that handle messages, by the names of queues.
    #[serde(default)]
    queues: BTreeMap<String, QueueOptions>,
    /// The jobs of the project.
    cron: Option<Declaration>,
    /// The folder of the file.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
    /// The values of the file that hold for the whole process, and so until it ends.
    #[serde(skip)]
    fixed: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    certificate: PathBuf,
    key: PathBuf,
}

/// Which requests are recorded, and where.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Record {
    folder: PathBuf,
    #[serde(default)]
    share: f64,
    #[serde(default = "is_on")]
    failures: bool,
    slow_ms: Option<u64>,
    header: Option<String>,
    #[serde(default = "max_bytes")]
    max_bytes: u64,
    max_age_ms: Option<u64>,
    #[serde(default)]
    mask: Vec<String>,
}

/// The default of `failures`.
fn is_on() -> bool {
    true
}

/// The default of `maxBytes`.
fn max_bytes() -> u64 {
    RecordConfig::MAX_BYTES
}

impl Record {
    /// The runtime's options; a relative folder is relative to that of the configuration.
    fn of_runtime(&self, folder: &Path) -> Result<RecordConfig, String> {
        let header = self.header.as_deref().map(str::parse).transpose();
        Ok(RecordConfig {
            folder: folder.join(&self.folder),
            share: self.share,
            failures: self.failures,
            slow: self.slow_ms.map(Duration::from_millis),
            header: header.map_err(|_| "header: it must be the name of a header".to_string())?,
            max_bytes: self.max_bytes,
            max_age: self.max_age_ms.map(Duration::from_millis),
            mask: self.mask.clone(),
        })
    }
}

impl Configuration {
    /// Reads a file. Variables of the environment win over it.
    ///
    /// # Errors
    ///
    /// [`ServerError::Configuration`], with the place in the file, and [`ServerError::Usage`] for a variable.
    pub(crate) fn read(path: &Path) -> Result<Self, ServerError> {
        let wrong = |reason: String| ServerError::Configuration { path: path.to_path_buf(), reason };
        let size = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
        if size > MAX_BYTES {
            return Err(wrong(format!("it is larger than {MAX_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let mut values: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        overrides::apply(&mut values, variables).map_err(ServerError::Usage)?;
        let fixed = fixed(&values);
        let mut configuration: Self = serde_path_to_error::deserialize(values)
            .map_err(|error| wrong(format!("{}: {}", error.path(), error.inner())))?;
        if configuration.version != VERSION {
            let version = configuration.version;
            return Err(wrong(format!("its version is {version}, and this server reads version {VERSION}")));
        }
        configuration.fixed = fixed;
        configuration.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(configuration)
    }

    /// Reports whether the server has a certificate.
    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The keys whose values differ from those of another configuration, and hold only after a restart.
    pub(crate) fn fixed_changes(&self, other: &Self) -> Vec<String> {
        let keys: BTreeSet<_> = self.fixed.keys().chain(other.fixed.keys()).collect();
        let changed = keys.into_iter().filter(|key| self.fixed.get(*key) != other.fixed.get(*key));
        changed.cloned().collect()
    }

    /// The names of the modules, and their files relative to the folder.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.modules.iter().map(|(name, module)| (name.as_str(), module.source.as_path()))
    }

    /// The folders of sidecars in this process. The code that `compile --in-place` has written is beside the configuration.
    pub(crate) fn places(&self) -> Places<'_> {
        let cache = if self.trust_compiled { Some(self.folder.clone()) } else { crate::cache_folder() };
        Places { folder: &self.folder, cache }
    }

    /// Reports whether a sidecar is served in this process.
    pub(crate) fn has_sidecars_in_process(&self) -> bool {
        let own = self.modules.values().filter_map(|module| module.sidecars.as_ref());
        own.chain([&self.sidecars]).flat_map(BTreeMap::values).any(|each| matches!(each, SidecarValue::InProcess(_)))
    }

    /// Reads no secrets, and connects to no sidecar: for a server that only compiles.
    pub(crate) fn without_reach(mut self) -> Self {
        self.sidecars.clear();
        self.secrets.clear();
        (self.tls, self.record) = (None, None);
        (self.queues, self.cron) = (BTreeMap::new(), None);
        for module in self.modules.values_mut() {
            (module.sidecars, module.secrets) = (None, None);
        }
        self
    }

    /// The queues and jobs, with the sidecars of the runtime's configuration.
    ///
    /// # Errors
    ///
    /// As [`Work::new`].
    pub(crate) fn work(&self, config: &RuntimeConfig) -> Result<Work, WorkError> {
        let tasks = Tasks { queues: self.queues.clone(), cron: self.cron.clone() };
        let timeout = Duration::from_millis(config.limits.request_timeout_ms);
        Work::new(tasks, &config.sidecars, &config.environment, timeout)
    }

    /// One sidecar, started if it is one of this process.
    ///
    /// # Errors
    ///
    /// As [`InProcessSidecars::place`], and [`ServerError::Usage`] when there is none of this name.
    pub(crate) async fn sidecar(&self, name: &str, sidecars: &mut InProcessSidecars) -> Result<Sidecar, ServerError> {
        let one = self.sidecars.get_key_value(name).map(|(name, value)| (name.clone(), value.clone()));
        let one = BTreeMap::from_iter(one);
        let placed = sidecars.place(&one, "sidecars", &self.places()).await?.pop();
        placed.ok_or_else(|| {
            ServerError::Usage(format!("there is no sidecar `{name}` in the configuration: give an address"))
        })
    }

    /// The runtime's configuration, with sidecars in this process started.
    ///
    /// # Errors
    ///
    /// Each secret and URL that is not there; else the first part that makes no sense, and a store that does not answer.
    pub(crate) async fn runtime(&self, sidecars: &mut InProcessSidecars) -> Result<RuntimeConfig, ServerError> {
        let mut problems = Vec::new();
        let secrets = values::secrets(&self.secrets, &self.folder, "secrets", &mut problems);
        let mut environments = BTreeMap::new();
        for (name, Module { env, secrets: own, .. }) in &self.modules {
            let section = format!("modules.{name}.secrets");
            let own = own.as_ref().map(|own| values::secrets(own, &self.folder, &section, &mut problems));
            // Variables and secrets are inherited one without the other.
            if env.is_some() || own.is_some() {
                let env = env.as_ref().unwrap_or(&self.env);
                environments.insert(name, environment(env, own.as_ref().unwrap_or(&secrets)));
            }
        }
        if !problems.is_empty() {
            return Err(ServerError::Values(problems.join("\n")));
        }
        let mut modules = Vec::new();
        for (name, module) in &self.modules {
            let own = match &module.sidecars {
                Some(own) => Some(sidecars.place(own, &format!("modules.{name}.sidecars"), &self.places()).await?),
                None => None,
            };
            let policy = module.policy(own, environments.remove(name));
            let policy = policy.map_err(|wrong| ServerError::Usage(format!("modules.{name}.{wrong}")))?;
            modules.push(ModuleSource { policy, ..ModuleSource::new(name.clone(), self.folder.join(&module.source)) });
        }
        let mut limits = Limits::default();
        for (name, value) in &self.limits {
            limits.set(name, *value).map_err(|wrong| ServerError::Usage(format!("limits: {wrong}")))?;
        }
        let tls = self.tls.as_ref().map(|Tls { certificate, key }| TlsFiles {
            certificate: self.folder.join(certificate),
            key: self.folder.join(key),
        });
        Ok(RuntimeConfig {
            modules,
            sidecars: sidecars.place(&self.sidecars, "sidecars", &self.places()).await?,
            allow: allow(&self.outbound_allow)
                .map_err(|wrong| ServerError::Usage(format!("outboundAllow: {wrong}")))?,
            environment: environment(&self.env, &secrets),
            isolation: isolation(&self.isolation).map_err(ServerError::Usage)?,
            limits,
            access_log: self.access_log,
            otlp_endpoint: self.otlp_endpoint.clone(),
            trusted_proxies: TrustedProxies::parse(&self.trusted_proxies)
                .map_err(|wrong| ServerError::Usage(format!("trustedProxies: {wrong}")))?,
            tls,
            trust_compiled: self.trust_compiled,
            cache: crate::cache_folder(),
            compiler: crate::compiler()?,
            record: self
                .record
                .as_ref()
                .map(|record| record.of_runtime(&self.folder))
                .transpose()
                .map_err(|wrong| ServerError::Usage(format!("record.{wrong}")))?,
            replays: false,
        })
    }
}

/// The values that the process reads once: where it listens, how it logs, and the limits that are no module's.
fn fixed(values: &Value) -> BTreeMap<String, Value> {
    const KEYS: [&str; 9] =
        ["host", "port", "metricsAddress", "logFormat", "accessLog", "otlpEndpoint", "trustedProxies", "tls", "record"];
    let of_server = KEYS.iter().filter_map(|key| Some(((*key).to_string(), values.get(*key)?.clone())));
    let limits = values.get("limits").and_then(Value::as_object).into_iter().flatten();
    let limits = limits.filter(|(name, _)| Limits::KEYS.iter().any(|key| key.name == **name && !key.is_of_module()));
    of_server.chain(limits.map(|(name, value)| (format!("limits.{name}"), value.clone()))).collect()
}

/// The environment of modules: variables, and secrets under names that `env` of the SDK does not find.
fn environment(env: &BTreeMap<String, String>, secrets: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let variables = env.iter().map(|(name, value)| (name.clone(), value.clone()));
    let secrets = secrets.iter().map(|(name, value)| (format!("{SECRET_PREFIX}{name}"), value.clone()));
    variables.chain(secrets).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_runtime::{Isolation, ModulePolicy, WhenSpent};

    use super::*;

    fn configuration(more: &Value) -> Value {
        let mut all = json!({
            "version": 1, "host": "127.0.0.1", "port": 0, "logFormat": "json", "accessLog": false, "trustedProxies": [],
            "isolation": "request", "limits": { "drain_ms": 5 }, "sidecars": {}, "outboundAllow": [], "env": { "REGION": "eu" },
            "secrets": { "KEY": "file:key" }, "modules": {},
        });
        let (Some(all_keys), Some(more)) = (all.as_object_mut(), more.as_object()) else { panic!("both are objects") };
        all_keys.extend(more.clone());
        all
    }

    fn read(folder: &Path, value: &Value) -> Result<Configuration, ServerError> {
        let path = folder.join("server.json");
        std::fs::write(&path, value.to_string()).unwrap();
        std::fs::write(folder.join("key"), "of-the-server\n").unwrap();
        std::fs::write(folder.join("own"), "of-the-module\n").unwrap();
        Configuration::read(&path)
    }

    async fn runtime(folder: &Path, more: Value) -> Result<RuntimeConfig, ServerError> {
        read(folder, &configuration(&more))?.runtime(&mut InProcessSidecars::default()).await
    }

    #[tokio::test]
    async fn a_module_has_the_parts_that_it_names_and_the_servers_others() {
        let folder = tempfile::tempdir().unwrap();
        let modules = json!({
            "plain": { "source": "plain.wasm" },
            "own": {
                "source": "own.wasm", "secrets": { "KEY": "file:own" }, "sidecars": { "db": "unix:///run/db.sock" },
                "outbound": { "allow": ["api.example"] }, "isolation": "shared", "limits": { "max_concurrent": 2 }, "mount": "/own",
                "budget": { "calls": { "amount": 9, "periodMs": 60000 }, "whenSpent": "503" },
            },
        });
        let config = runtime(folder.path(), json!({ "modules": modules })).await.unwrap();
        let variables = |secret: &str| {
            let pairs = [("REGION", "eu"), ("TENON_SECRET_KEY", secret)];
            pairs.map(|(name, value)| (name.to_string(), value.to_string())).to_vec()
        };
        assert_eq!(config.environment, variables("of-the-server"));
        assert_eq!(config.limits.drain_ms, 5);
        let [own, plain] = &config.modules[..] else { panic!("two modules") };
        assert_eq!(plain.path, folder.path().join("plain.wasm"));
        assert_eq!(plain.policy, ModulePolicy::default());
        assert_eq!(own.policy.environment, Some(variables("of-the-module")), "its secrets, and the server's variables");
        assert_eq!(own.policy.sidecars.as_ref().map(Vec::len), Some(1));
        let budget = own.policy.budget.unwrap();
        assert_eq!((budget.calls.unwrap().amount, budget.cpu, budget.when_spent), (9, None, WhenSpent::Unavailable));
        assert_eq!((own.policy.isolation, own.policy.mount.as_deref()), (Some(Isolation::Shared), Some("/own")));
    }

    #[tokio::test]
    async fn what_cannot_be_served_is_named_without_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let missing = json!({ "m": { "source": "m.wasm", "secrets": { "A": "env:TENON_NOT_SET" } } });
        for (more, said) in [
            (json!({ "versionn": 1 }), "unknown field `versionn`"),
            (json!({ "version": 2 }), "its version is 2, and this server reads version 1"),
            (json!({ "limits": { "max_things": 1 } }), "max_things"),
            (json!({ "isolation": "none" }), "isolation is \"none\""),
            (json!({ "secrets": { "KEY": "file:gone" }, "modules": missing }), "modules.m.secrets.A: the environment"),
            (json!({ "sidecars": { "db": { "run": "sql", "urlFile": "gone" } } }), "sidecars.db: cannot read"),
            (json!({ "sidecars": { "db": { "run": "sql", "url": "x", "listen": 1 } } }), "unknown field `listen`"),
        ] {
            let error = runtime(folder.path(), more.clone()).await.err().map(|error| error.to_string());
            assert!(error.as_ref().is_some_and(|error| error.contains(said)), "{more}: {error:?}");
        }
    }

    #[tokio::test]
    async fn sidecars_in_this_process_that_are_defined_alike_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let kv = json!({ "run": "kv", "url": "sqlite:kv.db" });
        let modules = json!({ "m": { "source": "m.wasm", "sidecars": { "cache": kv } } });
        let config = runtime(folder.path(), json!({ "sidecars": { "cache": kv }, "modules": modules })).await.unwrap();
        let own = config.modules[0].policy.sidecars.as_ref().unwrap();
        assert_eq!(own, &config.sidecars);
        assert!(folder.path().join("kv.db").exists(), "paths are relative to the file's folder");
        // A server that only compiles needs none of them.
        let value = configuration(&json!({ "secrets": { "A": "env:TENON_NOT_SET" } }));
        let config = read(folder.path(), &value).unwrap().without_reach();
        assert!(config.runtime(&mut InProcessSidecars::default()).await.is_ok());
    }

    #[test]
    fn recordings_have_a_folder_beside_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let record = json!({ "folder": "tapes", "share": 0.5, "slowMs": 20, "header": "x-record", "mask": ["#/a"] });
        let configuration = read(folder.path(), &configuration(&json!({ "record": record }))).unwrap();
        let record = configuration.record.unwrap().of_runtime(folder.path()).unwrap();
        let expected = RecordConfig {
            share: 0.5,
            failures: true,
            slow: Some(Duration::from_millis(20)),
            header: Some("x-record".parse().unwrap()),
            mask: vec!["#/a".to_string()],
            ..RecordConfig::new(folder.path().join("tapes"))
        };
        assert_eq!(record, expected);
    }
}
