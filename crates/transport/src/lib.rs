//! Outbound transport: HTTP from a module to its sidecars, over TCP or a Unix socket, and to the allowed hosts. It
//! refuses every other destination.
//!
//! It owns the addresses, the modules' environment variables, the connections and their limits, and the handling of
//! failing sidecars. It does not know WebAssembly: the runtime passes it a request and gets a response or a
//! [`SendError`].
//!
//! 1. Parse each configured address with [`Address::parse`] and collect them as [`Sidecar`]s; parse each entry of
//!    `[outbound] allow` with [`Allow::parse`].
//! 2. Make one [`Transport`] per runtime; it has the connection pools.
//! 3. Give modules [`Transport::environment`], and send their requests with [`Transport::send`].
//!
//! ```text
//!  Transport::send ─► sidecar by authority, or rule ─► Destination: breaker ─► permit ─► idle or new connection ─► body
//! ```

mod address;
mod allow;
mod body;
mod breaker;
mod config;
mod connect;
mod destination;
mod error;
mod in_process;
mod watch;

pub use address::{Address, AddressError, Sidecar};
pub use allow::Allow;
pub use body::{BodyError, ResponseBody};
pub use config::TransportConfig;
pub use connect::tls_client;
pub use error::SendError;
pub use in_process::{InProcess, InProcessBody};

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use tokio::task::JoinSet;

use allow::{Outside, Rules};
use breaker::Traffic;
use connect::Target;
use destination::Destination;

/// Age after which a sidecar in this process that is up is asked for its health again.
const IN_PROCESS_AGE: Duration = Duration::from_secs(10);

/// The destinations of a runtime and their idle connections. Clones share them.
pub struct Transport<B> {
    inner: Arc<Inner<B>>,
}

struct Inner<B> {
    config: TransportConfig,
    sidecars: Vec<Sidecar>,
    /// By authority as modules call it.
    destinations: HashMap<String, Arc<Destination<B>>>,
    rules: Arc<Rules>,
    /// Destinations that were called, at most as many as the rules name.
    outside: Mutex<HashMap<Outside, Arc<Destination<B>>>>,
}

impl<B> Clone for Transport<B> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

/// The destination of a request.
pub struct Route<B>(Arc<Destination<B>>);

impl<B> Route<B> {
    /// Returns the sidecar's name, or the host with its port. The number of names is bounded, so they are fit for a
    /// metric.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }
}

impl<B> Transport<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Makes a transport that reaches `sidecars` and the hosts of `allow`. It connects on demand.
    #[must_use]
    pub fn new(sidecars: Vec<Sidecar>, allow: Vec<Allow>, config: TransportConfig) -> Self {
        let destination = |sidecar: &Sidecar| {
            let target = match &sidecar.address {
                Address::Tcp { host, port } => Target::Tcp { host: host.clone(), port: *port },
                Address::Unix(path) => Target::Unix(path.clone()),
                Address::InProcess(service) => Target::InProcess(service.clone()),
            };
            let authority = sidecar.authority();
            let destination = Destination::new(sidecar.name(), &authority, target, &config);
            (authority, Arc::new(destination))
        };
        let destinations = sidecars.iter().map(destination).collect();
        let (rules, outside) = (Arc::new(Rules(allow)), Mutex::default());
        Self { inner: Arc::new(Inner { config, sidecars, destinations, rules, outside }) }
    }

    /// Returns the environment of modules: `SIDECAR_<NAME>_URL` for each sidecar, always an `http://` URL.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        self.inner.sidecars.iter().map(Sidecar::variable).collect()
    }

    /// Returns the destination of a request to `uri`, which has scheme and authority.
    ///
    /// # Errors
    ///
    /// [`SendError::Refused`] when the destination is not allowed.
    pub fn route(&self, uri: &Uri) -> Result<Route<B>, SendError> {
        if uri.scheme() == Some(&http::uri::Scheme::HTTP)
            && let Some(authority) = address::authority_of(uri)
            && let Some(destination) = self.inner.destinations.get(&authority)
        {
            return Ok(Route(Arc::clone(destination)));
        }
        match Outside::of(uri) {
            Some(outside) if self.inner.rules.allow(&outside) => Ok(Route(self.outside(outside))),
            _ => Err(SendError::Refused { destination: destination(uri) }),
        }
    }

    fn outside(&self, to: Outside) -> Arc<Destination<B>> {
        let mut outside = self.inner.outside.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let name = format!("{}:{}", to.host, to.port);
            let target = Target::Outside(to.clone(), Arc::clone(&self.inner.rules));
            Arc::new(Destination::new(&name, &name, target, &self.inner.config))
        };
        Arc::clone(outside.entry(to.clone()).or_insert_with(new))
    }

    /// Sends a request along the route of its URI. `timeout` limits the time for the response, if it is less than the
    /// configured time. A failure before anything was sent is retried once when the method is idempotent.
    ///
    /// # Errors
    ///
    /// Every [`SendError`] except [`SendError::Refused`].
    pub async fn send(
        &self,
        route: &Route<B>,
        request: Request<B>,
        timeout: Option<Duration>,
    ) -> Result<Response<ResponseBody<B>>, SendError> {
        route.0.send(request, timeout).await
    }

    /// Returns each sidecar's name, and whether calls or [`Transport::look`] found it up within `age`.
    #[must_use]
    pub fn known(&self, age: Duration) -> Vec<(String, Option<bool>)> {
        let known = |(name, destination): (&str, &Arc<Destination<B>>)| {
            let known = destination.breaker.known().filter(|(_, at)| at.elapsed() <= age);
            (name.to_string(), known.map(|(up, _)| up))
        };
        self.sidecars().map(known).collect()
    }

    /// Checks each sidecar without a result within `age`: connects unless an idle connection shows that it is up. A
    /// sidecar in this process asks its store, which may cost money, so one that is up is asked less often. Returns
    /// when all have accepted or failed, at the latest after the connect timeout.
    pub async fn look(&self, age: Duration) {
        let mut looks = JoinSet::new();
        for (_, destination) in self.sidecars() {
            let age = if destination.is_in_process() { age.max(IN_PROCESS_AGE) } else { age };
            let is_known = destination.breaker.known().is_some_and(|(up, at)| up && at.elapsed() <= age);
            // The watch pings a sidecar that is left alone.
            if !is_known && destination.breaker.traffic(Duration::MAX) != Traffic::Refused {
                let destination = Arc::clone(destination);
                looks.spawn(async move { destination.look().await });
            }
        }
        while looks.join_next().await.is_some() {}
    }

    /// Returns whether there are sidecars.
    #[must_use]
    pub fn has_sidecars(&self) -> bool {
        !self.inner.sidecars.is_empty()
    }

    fn sidecars(&self) -> impl Iterator<Item = (&str, &Arc<Destination<B>>)> {
        let Inner { sidecars, destinations, .. } = &*self.inner;
        sidecars.iter().filter_map(move |sidecar| Some((sidecar.name(), destinations.get(&sidecar.authority())?)))
    }
}

/// Returns scheme and host of a URI, because path and query may have secrets that a log must not contain.
fn destination(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("http");
    format!("{scheme}://{}", uri.host().unwrap_or(""))
        + &uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
