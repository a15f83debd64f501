//! What a runtime is told. Every default stands here and nowhere else.

use std::path::PathBuf;
use std::time::Duration;

use tenon_transport::Sidecar;

/// A component and the name under which it is served.
#[derive(Clone, Debug)]
pub struct ModuleSource {
    /// The `<module>` of `/run/<module>/*`.
    pub name: String,
    /// The component's file.
    pub path: PathBuf,
}

impl ModuleSource {
    /// Names a module after its file: without `.wasm` and without a `-composed` before it.
    ///
    /// Returns none when nothing is left of the file name, or when it is not UTF-8.
    #[must_use]
    pub fn from_path(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        let file = path.file_name()?.to_str()?;
        let stem = file.strip_suffix(".wasm").unwrap_or(file);
        let name = stem.strip_suffix("-composed").unwrap_or(stem);
        if name.is_empty() { None } else { Some(Self { name: name.to_string(), path }) }
    }
}

/// The bounds that every request is held to.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time from the whole request to the response's head, guest computing and guest waiting alike; 504 beyond.
    pub request_timeout: Duration,
    /// Bytes of a request's body; 413 beyond. 10 MiB, as the bridge has it on other servers.
    pub max_body_bytes: usize,
    /// Bytes that each linear memory of an instance may grow to. Below 128 MiB the JavaScript engine traps before it
    /// collects garbage.
    pub memory_limit_bytes: usize,
    /// Requests that run at once, in all; 503 for one that finds no place within [`Limits::queue_timeout`].
    pub max_concurrent: u32,
    /// How long a request waits for a place.
    pub queue_timeout: Duration,
    /// How long requests that are running may take to finish once the server is told to stop.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(30),
            max_body_bytes: 10 * 1024 * 1024,
            memory_limit_bytes: 256 * 1024 * 1024,
            max_concurrent: 128,
            queue_timeout: Duration::from_secs(1),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// All that a runtime needs to know.
#[derive(Clone, Debug, Default)]
pub struct RuntimeConfig {
    /// The components to serve, each under another name.
    pub modules: Vec<ModuleSource>,
    /// The services that modules may call.
    pub sidecars: Vec<Sidecar>,
    /// Environment variables that every module sees, besides those of the sidecars. Nothing of the process's own
    /// environment is ever added.
    pub environment: Vec<(String, String)>,
    /// The bounds of a request.
    pub limits: Limits,
    /// Where compiled code is kept. None compiles anew each time.
    pub cache: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
