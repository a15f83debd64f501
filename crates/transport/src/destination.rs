//! One destination: its idle connections, permits and breaker, and the steps of a request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body::Body;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::body::{Received, ResponseBody};
use crate::breaker::{Breaker, Pass, Traffic};
use crate::config::TransportConfig;
use crate::connect::{Stream, Target};
use crate::error::SendError;
use crate::in_process::InProcess;

/// Time for which an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of idle connections of each destination.
const IDLE_CONNECTIONS: usize = 64;

/// Pause before the second attempt to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// Divisor of the connect timeout. A destination gets no further call when it has no free permits and has answered
/// nothing for this part of the timeout. A call that waits for a permit there also holds one of the server.
const STALLED: u32 = 2;

/// A sidecar, or an allowed host.
pub(crate) struct Destination<B> {
    pub(crate) name: Arc<str>,
    /// The `Host` of this crate's own requests.
    pub(crate) host: HeaderValue,
    target: Target,
    idle: Mutex<Vec<Idle<B>>>,
    permits: Arc<Semaphore>,
    pub(crate) breaker: Breaker,
    pub(crate) config: TransportConfig,
    /// True while a task watches its calls.
    pub(crate) watched: AtomicBool,
}

struct Idle<B> {
    sender: SendRequest<B>,
    since: Instant,
}

impl<B> Destination<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    pub(crate) fn new(name: &str, authority: &str, target: Target, config: &TransportConfig) -> Self {
        Self {
            name: name.into(),
            host: HeaderValue::from_str(authority).unwrap_or(HeaderValue::from_static("localhost")),
            target,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(config.max_concurrent)),
            breaker: Breaker::new(config.breaker_failures, config.breaker_pause),
            config: config.clone(),
            watched: AtomicBool::new(false),
        }
    }

    /// Sends a request. `timeout` limits the time for its response, if it is shorter than the configured one.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request<B>,
        timeout: Option<Duration>,
    ) -> Result<Response<ResponseBody<B>>, SendError> {
        let pass = self.breaker.pass().map_err(|(failures, retry_in)| SendError::Open {
            name: self.name.to_string(),
            failures,
            retry_in,
        })?;
        if self.target.is_sidecar() && !self.watched.load(Ordering::Relaxed) {
            self.watch();
        }
        let permit = self.permit().await?;
        let limit = self.config.response_timeout;
        let after = timeout.map_or(limit, |timeout| timeout.min(limit));
        let sent = tokio::time::timeout(after, self.exchange(origin_form(request))).await;
        let sent = sent.unwrap_or_else(|_| Err(SendError::Timeout { name: self.name.to_string(), after }));
        self.judge(pass, &sent, after == limit);
        let (response, sender) = sent?;
        Ok(response.map(|body| ResponseBody::new(body, Arc::clone(self), sender, permit, limit)))
    }

    /// Reports the outcome to the breaker. A caller with a shorter timeout than configured gives no verdict on the
    /// destination. Nor does a request that this runtime refused or could not accept.
    fn judge<T>(&self, pass: Pass<'_>, sent: &Result<T, SendError>, is_full_time: bool) {
        match sent {
            Ok(_) => pass.succeeded(),
            // Caused by the caller, for example by a request body that broke off.
            Err(SendError::Exchange { source, .. }) if source.is_user() => {}
            Err(SendError::Connect { .. } | SendError::Resolve { .. } | SendError::Exchange { .. }) => pass.failed(),
            Err(SendError::Timeout { .. }) if is_full_time => pass.failed(),
            Err(_) => {}
        }
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, SendError> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let busy = || SendError::Busy { name: self.name.to_string(), limit: self.config.max_concurrent };
        if matches!(self.breaker.traffic(self.config.connect_timeout / STALLED), Traffic::Silent(_)) {
            return Err(busy());
        }
        let permit = Arc::clone(&self.permits).acquire_owned();
        match tokio::time::timeout(self.config.connect_timeout, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(busy()),
        }
    }

    async fn exchange(
        &self,
        mut request: Request<B>,
    ) -> Result<(Response<Received>, Option<SendRequest<B>>), SendError> {
        if let Target::InProcess(service) = &self.target {
            let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
            return Ok((service.answer(request).await.map(Received::InProcess), None));
        }
        let mut may_repeat = is_idempotent(request.method());
        loop {
            let (mut sender, kept) = match self.kept() {
                Some(sender) => (sender, true),
                None => match self.connect().await {
                    Ok(sender) => (sender, false),
                    Err(SendError::Connect { .. }) if may_repeat => {
                        may_repeat = false;
                        tokio::time::sleep(RETRY_PAUSE).await;
                        continue;
                    }
                    Err(error) => return Err(error),
                },
            };
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response.map(Received::Connection), Some(sender))),
                // hyper returns a request of which no byte was sent: an idle connection was closed meanwhile.
                Err(mut error) => match error.take_message() {
                    Some(again) if kept || may_repeat => {
                        may_repeat &= kept;
                        request = again;
                    }
                    _ => return Err(SendError::Exchange { name: self.name.to_string(), source: error.into_error() }),
                },
            }
        }
    }

    fn kept(&self) -> Option<SendRequest<B>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Idle { sender, since }) = idle.pop() {
            if since.elapsed() > IDLE_TIMEOUT {
                // The remaining ones are older still.
                idle.clear();
            } else if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    /// Takes a connection back.
    pub(crate) fn keep(&self, sender: SendRequest<B>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS {
            idle.push(Idle { sender, since: Instant::now() });
        }
    }

    async fn connect(&self) -> Result<SendRequest<B>, SendError> {
        let exchange = |source| SendError::Exchange { name: self.name.to_string(), source };
        let (sender, connection) = http1::handshake(self.open().await?).await.map_err(exchange)?;
        // It ends when the sender is dropped or the peer closes. The next sender notices either.
        tokio::spawn(connection);
        Ok(sender)
    }

    /// Opens a connection on which nothing was sent yet.
    pub(crate) async fn open(&self) -> Result<Stream, SendError> {
        let failed = |source| {
            let (name, address) = (self.name.to_string(), self.target.address());
            SendError::Connect { name, address, source }
        };
        let connecting = self.target.connect(&self.name);
        tokio::time::timeout(self.config.connect_timeout, connecting)
            .await
            .unwrap_or_else(|_| Err(failed(std::io::ErrorKind::TimedOut.into())))
    }

    pub(crate) fn is_in_process(&self) -> bool {
        matches!(self.target, Target::InProcess(_))
    }

    /// Checks the destination: connects unless an idle connection is still open, and records the result. A sidecar in
    /// this process is asked for its health.
    pub(crate) async fn look(&self) {
        if let Target::InProcess(service) = &self.target {
            return self.breaker.looked(self.is_healthy(service).await);
        }
        // An open idle connection proves it, and later checks need no other.
        let sender = match self.kept() {
            Some(sender) => Ok(sender),
            None => self.connect().await,
        };
        self.breaker.looked(sender.map(|sender| self.keep(sender)).is_ok());
    }
}

impl<B> Destination<B> {
    async fn is_healthy(&self, service: &InProcess) -> bool {
        let mut request = Request::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
        *request.uri_mut() = Uri::from_static("/health");
        request.headers_mut().insert(HOST, self.host.clone());
        let answer = tokio::time::timeout(self.config.connect_timeout, service.answer(request)).await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }
}

/// Returns whether a request can be sent twice (RFC 9110, section 9.2.2).
fn is_idempotent(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::PUT, Method::DELETE, Method::OPTIONS, Method::TRACE].contains(method)
}

/// Puts path and query into the request line, and the authority into `Host`, without user name and password (RFC 9112,
/// sections 3.2.1 and 3.2; RFC 9110, section 4.2.4).
fn origin_form<B>(mut request: Request<B>) -> Request<B> {
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let host = authority.map(|authority| authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    // Replaces a guest's `Host`, which contains the whole authority.
    if let Some(host) = host.and_then(|host| HeaderValue::from_str(host).ok()) {
        request.headers_mut().insert(HOST, host);
    }
    // An empty path is sent as `/`, which is also how it reads.
    let path = request.uri().path_and_query().filter(|path| path.as_str() != "/").cloned();
    *request.uri_mut() = Uri::from(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_header_is_without_user_name_and_password() {
        for (uri, host) in
            [("http://a:1/x?y", "a:1"), ("http://ada:secret@a:1/", "a:1"), ("http://u@[::1]:2", "[::1]:2")]
        {
            let request = origin_form(Request::get(uri).header(HOST, "ada:secret@a").body(()).unwrap());
            assert_eq!(request.headers().get_all(HOST).iter().collect::<Vec<_>>(), [host]);
            assert_eq!(request.uri().authority(), None);
        }
    }

    #[test]
    fn an_empty_path_is_sent_as_a_slash() {
        let uri = Uri::builder().scheme("http").authority("a:1").path_and_query("").build().unwrap();
        assert_eq!(origin_form(Request::get(uri).body(()).unwrap()).uri().to_string(), "/");
        for (uri, target) in
            [("http://a:1", "/"), ("http://a:1/", "/"), ("http://a:1?b", "/?b"), ("http://a:1/c?b", "/c?b")]
        {
            assert_eq!(origin_form(Request::get(uri).body(()).unwrap()).uri().to_string(), target, "{uri}");
        }
    }
}
