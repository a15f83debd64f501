//! `tenon-server run`.

use std::net::SocketAddr;
use std::process::ExitCode;

use serde_json::json;
use tokio::net::{TcpListener, lookup_host};

use crate::command::RunOptions;
use crate::configuration::Configuration;
use crate::error::ServerError;
use crate::live::Live;
use crate::output::{note, print};
use crate::signals::{End, HangUp, Signals};

/// Serves until a signal.
pub(crate) async fn run(options: RunOptions) -> Result<ExitCode, ServerError> {
    let configuration = Configuration::read(&options.configuration)?;
    tenon_log::start(options.log_level.name(), &configuration.log_format)?;
    tenon_runtime::keep_little();
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
    live.consume();
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
