//! Fuzz target for a runtime's configuration: limits, sidecar addresses, allowed hosts, certificates.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use tenon_runtime::{Isolation, Limits, ModuleSource, Runtime, RuntimeConfig, TlsFiles};
use tenon_transport::{Address, Allow, Sidecar, Transport, TransportConfig};

use crate::{small, tokio};

/// Reads bytes as lines of `key=value` and makes a configuration from the valid ones. A line `start` also makes a
/// runtime from it. Every URL that a module may call must lead to a sidecar or an allowed host. Every sidecar must be
/// found at the URL in its variable.
pub fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut setup = Setup::default();
    for line in text.lines() {
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        setup.take(key, value);
    }
    setup.check_destinations();
    // Starting takes a hundred times as long as everything before.
    if setup.start {
        tokio().block_on(setup.start());
    }
}

#[derive(Default)]
struct Setup {
    config: RuntimeConfig,
    /// The hosts of `[outbound] allow`, as written.
    hosts: Vec<String>,
    calls: Vec<Uri>,
    start: bool,
    /// The content of files, by their kind.
    pem: HashMap<&'static str, String>,
}

impl Setup {
    fn take(&mut self, key: &str, value: &str) {
        match key {
            "start" => self.start = true,
            "sidecar" => self.sidecar(value),
            "allow" => {
                if let Ok(allow) = Allow::parse(value) {
                    self.config.allow.push(allow);
                    self.hosts.push(value.to_ascii_lowercase());
                }
            }
            "call" => self.calls.extend(value.parse::<Uri>()),
            "env" => self.config.environment.extend(value.split_once(':').map(|(a, b)| (a.to_string(), b.to_string()))),
            "module" => self.config.modules.extend(ModuleSource::from_path(PathBuf::from(value))),
            "isolation" => self.config.isolation = value.parse().unwrap_or(Isolation::Request),
            "otlp" => self.config.otlp_endpoint = Some(value.to_string()),
            "certificate" => self.pem.entry("cert.pem").or_default().push_str(&value.replace('|', "\n")),
            "key" => self.pem.entry("key.pem").or_default().push_str(&value.replace('|', "\n")),
            name => {
                let before = self.config.limits.clone();
                let set =
                    value.parse().map_err(drop).and_then(|value| self.config.limits.set(name, value).map_err(drop));
                assert!(set.is_ok() || before == self.config.limits, "a limit that is refused changes nothing");
            }
        }
    }

    fn sidecar(&mut self, text: &str) {
        let (name, address) = text.split_once('@').unwrap_or((text, ""));
        if let Ok(address) = Address::parse(address)
            && let Ok(sidecar) = Sidecar::new(name, address)
        {
            self.config.sidecars.push(sidecar);
        }
    }

    fn check_destinations(&self) {
        let second = Duration::from_secs(1);
        let config = TransportConfig {
            connect_timeout: second,
            response_timeout: second,
            max_concurrent: 1,
            breaker_failures: 1,
            breaker_pause: second,
        };
        let (sidecars, allow) = (self.config.sidecars.clone(), self.config.allow.clone());
        let transport: Transport<Full<Bytes>> = Transport::new(sidecars, allow, config);
        let mut at = HashMap::new();
        for (variable, url) in transport.environment() {
            assert!(variable.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_'), "{variable}");
            let uri: Uri = url.parse().unwrap_or_else(|error| panic!("{variable} is {url}: {error}"));
            assert!(transport.route(&uri).is_ok(), "{url} of {variable} leads nowhere");
            at.insert(uri.authority().map(|authority| authority.as_str().to_string()), variable);
        }
        for call in &self.calls {
            if transport.route(call).is_err() {
                continue;
            }
            let host = call.host().unwrap_or_default().to_ascii_lowercase();
            let known = self.hosts.iter().any(|allowed| allowed.contains(&host))
                || at.keys().flatten().any(|authority| authority.contains(&host));
            assert!(known && !host.is_empty(), "{call} is let out, which nobody has allowed");
        }
    }

    /// Makes the runtime. Every runtime has the same pool size, because a pool is never released.
    async fn start(mut self) {
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => panic!("no folder for files: {error}"),
        };
        let write = |name: &str| {
            let file = folder.path().join(name);
            let content = self.pem.get(name).map(String::as_str).unwrap_or_default();
            std::fs::write(&file, content).unwrap_or_else(|error| panic!("no file can be written: {error}"));
            file
        };
        if !self.pem.is_empty() {
            self.config.tls = Some(TlsFiles { certificate: write("cert.pem"), key: write("key.pem") });
        }
        // The fuzzer must not read files of this machine.
        for module in &mut self.config.modules {
            module.path = folder.path().join("none.wasm");
        }
        let Limits { max_concurrent, memory_limit_bytes, max_table_elements, .. } = small();
        let limits = Limits { max_concurrent, memory_limit_bytes, max_table_elements, ..self.config.limits.clone() };
        if let Ok(runtime) = Runtime::new(RuntimeConfig { limits, ..self.config }).await {
            assert!(runtime.metrics().contains("tenon_"));
        }
    }
}
