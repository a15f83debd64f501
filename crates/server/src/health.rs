//! `tenon-server sidecar health`: a probe for containers without a shell.

use std::process::ExitCode;
use std::time::Duration;

use http::{Method, StatusCode};
use tenon_jobs::{Service, SidecarAddress};
use tenon_transport::{Address, AddressError, Sidecar};

use crate::error::ServerError;
use crate::output::print;

/// Asks a sidecar for `/health`, and prints one line.
pub(crate) async fn check(text: &str, timeout_ms: u32) -> Result<ExitCode, ServerError> {
    let usage = |error: AddressError| ServerError::Usage(error.to_string());
    let sidecar = Sidecar::new("service", Address::parse(text).map_err(usage)?).map_err(usage)?;
    let after = Duration::from_millis(timeout_ms.into());
    let service = Service::new(SidecarAddress::new(sidecar, None)?, after);
    let failure = match tokio::time::timeout(after, service.ask(Method::GET, "/health", None)).await {
        Ok(Ok(answer)) if answer.status == StatusCode::OK => None,
        Ok(Ok(answer)) => Some(answer.detail()),
        Ok(Err(why)) => Some(why.to_string()),
        Err(_) => Some(format!("no answer within {timeout_ms} ms")),
    };
    print(&match &failure {
        None => format!("{text} is up"),
        Some(why) => format!("{text} is down: {why}"),
    });
    Ok(ExitCode::from(if failure.is_none() { 0 } else { crate::FAILED }))
}
