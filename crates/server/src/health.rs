//! `tenon-server sidecar health`: a probe for containers without a shell.

use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tenon_transport::Address;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::error::ServerError;
use crate::serve::print;

/// Bytes of an answer that are read.
const MAX_BYTES: usize = 64 * 1024;

/// Asks a sidecar for `/health`, and prints one line.
pub(crate) async fn check(text: &str, timeout_ms: u32) -> Result<ExitCode, ServerError> {
    let address = Address::parse(text).map_err(|error| ServerError::Usage(error.to_string()))?;
    let after = Duration::from_millis(timeout_ms.into());
    let failure = match tokio::time::timeout(after, ask(&address)).await {
        Ok(Ok(())) => None,
        Ok(Err(why)) => Some(why),
        Err(_) => Some(format!("no answer within {timeout_ms} ms")),
    };
    print(&match &failure {
        None => format!("{text} is up"),
        Some(why) => format!("{text} is down: {why}"),
    });
    Ok(ExitCode::from(if failure.is_none() { 0 } else { crate::FAILED }))
}

async fn ask(address: &Address) -> Result<(), String> {
    match address {
        Address::Unix(path) => answer(UnixStream::connect(path).await).await,
        Address::Tcp { host, port } => {
            // Hosts stand in brackets in a URL, and without them in a name to look up.
            let host = host.trim_start_matches('[').trim_end_matches(']');
            answer(TcpStream::connect((host, *port)).await).await
        }
        Address::InProcess(_) => Err("it is in another process".to_string()),
    }
}

async fn answer(stream: std::io::Result<impl AsyncRead + AsyncWrite + Unpin + Send + 'static>) -> Result<(), String> {
    let failed = |error: hyper::Error| error.to_string();
    let stream = stream.map_err(|error| error.to_string())?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    tokio::spawn(connection);
    let request = Request::get("/health").header("host", "service.sidecar.internal").body(Empty::<Bytes>::new());
    let request = request.map_err(|error| error.to_string())?;
    let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
    if head.status == StatusCode::OK {
        return Ok(());
    }
    let body = Limited::new(body, MAX_BYTES).collect().await.map_err(|error| error.to_string())?.to_bytes();
    let detail =
        serde_json::from_slice::<Value>(&body).ok().and_then(|json| Some(json["detail"].as_str()?.to_string()));
    Err(detail.unwrap_or_else(|| format!("it answered {}", head.status.as_u16())))
}
