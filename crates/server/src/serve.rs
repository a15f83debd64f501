//! `tenon-server run` and `tenon-server compile`.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tenon_runtime::Runtime;
use tokio::net::{TcpListener, lookup_host};

use crate::command::RunOptions;
use crate::configuration::Configuration;
use crate::error::ServerError;
use crate::in_process::InProcessSidecars;
use crate::live::Live;
use crate::signals::{End, HangUp, Signals};

/// Time for a start that compiles, in milliseconds.
const COMPILE_MS: u64 = 3_600_000;

/// Serves until a signal.
pub(crate) async fn run(options: RunOptions) -> Result<ExitCode, ServerError> {
    let configuration = Configuration::read(&options.configuration)?;
    tenon_log::start(options.log_level.name(), &configuration.log_format)?;
    let mut signals = Signals::new()?;
    let mut hang_up = HangUp::new()?;
    let (host, port) = (configuration.host.clone(), configuration.port);
    let (metrics_address, scheme) = (configuration.metrics_address.clone(), configuration.scheme());
    let starting = async {
        let live = Live::start(options.configuration.clone(), configuration).await?;
        let runtime = live.runtime().clone();
        let operations = match &metrics_address {
            Some(address) => {
                let server = runtime.listen_for_operations(listener(address).await?);
                note("Metrics", &format!("{}/metrics", shown("http", server.address())));
                Some(server)
            }
            None => None,
        };
        let host = options.host.as_ref().unwrap_or(&host);
        let port = options.port.unwrap_or(port);
        let server = runtime.listen(listener(&format!("{}:{port}", bracketed(host))).await?);
        Ok::<_, ServerError>((live, runtime, server, operations))
    };
    let (mut live, runtime, server, operations) = tokio::select! {
        started = starting => started?,
        end = signals.next() => return Ok(ExitCode::from(end.code())),
    };
    let url = shown(scheme, server.address());
    for name in runtime.modules() {
        note("Serve", &format!("{url}/run/{name}/"));
    }
    if options.json {
        print(&json!({ "url": url, "modules": runtime.modules() }).to_string());
    }
    live.consume()?;
    let end = loop {
        let gone = tokio::select! {
            end = signals.next() => break end,
            gone = hang_up.next() => gone,
        };
        if let Some(end) = gone {
            break end;
        }
        tokio::select! {
            end = signals.next() => break end,
            () = live.reload() => {}
        }
    };
    let steps = async {
        let closing = tokio::spawn(live.close());
        if end == End::Terminate {
            runtime.drain().await;
        }
        note("Stop", "after running requests");
        let _ = closing.await;
        server.close().await;
        if let Some(operations) = operations {
            operations.close().await;
        }
        runtime.settle().await;
        runtime.flush().await;
    };
    signals.ending(steps).await;
    Ok(ExitCode::from(end.code()))
}

/// Compiles the modules into the cache folder, which other users may read then.
pub(crate) async fn compile(configuration: &Path) -> Result<ExitCode, ServerError> {
    let configuration = Configuration::read(configuration)?.without_reach();
    tenon_log::start("info", &configuration.log_format)?;
    let mut config = configuration.runtime(&mut InProcessSidecars::default()).await?;
    let Some(cache) = config.cache.clone() else {
        return Err(ServerError::Usage("set TENON_CACHE_DIR to the folder for machine code".to_string()));
    };
    for name in ["startup_timeout_ms", "load_timeout_ms"] {
        config.limits.set(name, COMPILE_MS).map_err(ServerError::Usage)?;
    }
    let modules = config.modules.len();
    let runtime = Runtime::new(config).await?;
    // A module that could not be compiled is in the log, and an image must not lack it.
    let ready = runtime.ready_modules().len();
    drop(runtime);
    open_for_reading(&cache)?;
    note("Compile", &format!("{ready} of {modules} modules, into {}", cache.display()));
    Ok(if ready == modules { ExitCode::SUCCESS } else { ExitCode::from(crate::FAILED) })
}

/// Lets other users read a cache. They may not write, so its content stays trusted. Code that only further compiling
/// would use is removed.
fn open_for_reading(cache: &Path) -> Result<(), ServerError> {
    use std::os::unix::fs::PermissionsExt;
    let failed =
        |path: &Path, error: std::io::Error| ServerError::Cache { path: path.into(), reason: error.to_string() };
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(|error| failed(path, error))
    };
    for entry in std::fs::read_dir(cache).map_err(|error| failed(cache, error))? {
        let path = entry.map_err(|error| failed(cache, error))?.path();
        let is_shared = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(".shared"));
        if is_shared {
            std::fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        } else if path.is_file() {
            set(&path, 0o644)?;
        }
    }
    set(cache, 0o755)
}

impl Configuration {
    fn scheme(&self) -> &'static str {
        if self.has_tls() { "https" } else { "http" }
    }
}

async fn listener(address: &str) -> Result<TcpListener, ServerError> {
    let failed = |source| ServerError::Listen { address: address.to_string(), source };
    let found = lookup_host(address).await.map_err(failed)?.next();
    let found = found.ok_or_else(|| failed(std::io::Error::other("the name has no address")))?;
    TcpListener::bind(found).await.map_err(failed)
}

/// A host as a part of an address: an IPv6 address in brackets.
fn bracketed(host: &str) -> String {
    if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_string() }
}

fn shown(scheme: &str, address: Option<SocketAddr>) -> String {
    address.map_or_else(String::new, |address| format!("{scheme}://{address}"))
}

/// Logs a step of the server.
pub(crate) fn note(step: &str, what: &str) {
    tracing::info!(step, "{what}");
}

/// Prints a line on standard output. A closed reader must not end the server.
pub(crate) fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
