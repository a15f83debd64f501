//! Sidecar transport: HTTP from a module to the services it was given, over TCP or a Unix socket, and to nothing else.
//!
//! It owns the addresses, what a module is told of them, the connections, and the refusal of every other destination. It
//! knows nothing of WebAssembly: the runtime hands it a request and gets a response or a [`SendError`].
//!
//! 1. Parse each configured address with [`Address::parse`] and collect them as [`Sidecar`]s.
//! 2. Make one [`Transport`] per runtime; it keeps the connection pools.
//! 3. Give modules [`Transport::environment`], and send what they send with [`Transport::send`].

mod address;
mod connect;
mod error;

pub use address::{Address, AddressError, Sidecar};
pub use error::SendError;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use connect::Connector;

/// How long an idle connection to a sidecar is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// How many idle connections are kept for each sidecar.
const IDLE_CONNECTIONS: usize = 64;

/// The sidecars of a runtime and the pooled connections to them. Cloning shares the pools.
pub struct Transport<B> {
    client: Client<Connector, B>,
    sidecars: Arc<[Sidecar]>,
}

impl<B> Clone for Transport<B> {
    fn clone(&self) -> Self {
        Self { client: self.client.clone(), sidecars: Arc::clone(&self.sidecars) }
    }
}

impl<B> Transport<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// A transport that reaches `sidecars`. Connections are made when they are needed.
    #[must_use]
    pub fn new(sidecars: Vec<Sidecar>) -> Self {
        let routes: HashMap<String, Address> =
            sidecars.iter().map(|sidecar| (sidecar.authority(), sidecar.address.clone())).collect();
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_timer(TokioTimer::new())
            .build(Connector::new(routes));
        Self { client, sidecars: sidecars.into() }
    }

    /// What a module finds in its environment: `SIDECAR_<NAME>_URL` for each sidecar, always an `http://` URL.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        self.sidecars.iter().map(Sidecar::variable).collect()
    }

    /// Sends a request whose URI names scheme and authority.
    ///
    /// # Errors
    ///
    /// [`SendError::Refused`] when the authority is no sidecar's, before anything is sent; [`SendError::Connect`] and
    /// [`SendError::Exchange`] when the sidecar cannot be reached or does not keep to HTTP.
    pub async fn send(&self, request: Request<B>) -> Result<Response<Incoming>, SendError> {
        if !self.allows(request.uri()) {
            return Err(SendError::Refused { destination: destination(request.uri()) });
        }
        self.client.request(request).await.map_err(SendError::from)
    }

    fn allows(&self, uri: &Uri) -> bool {
        uri.scheme() == Some(&http::uri::Scheme::HTTP)
            && address::authority_of(uri)
                .is_some_and(|authority| self.sidecars.iter().any(|s| s.authority() == authority))
    }
}

/// Scheme, host and port of a URI; path and query may hold what a log should not.
fn destination(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("http");
    format!("{scheme}://{}", uri.host().unwrap_or(""))
        + &uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
