//! The watch over the calls to a sidecar: tells a slow sidecar from a dead one, and notices when it is back.
//!
//! A task runs for each called sidecar, and ends when no call waits and the breaker is closed. It pings the sidecar
//! while calls get no answer or the breaker refuses them. Any answer proves that the server is alive, however slow its
//! calls are.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::{Method, Request, Uri};
use http_body::Body;
use http_body_util::Empty;
use hyper::client::conn::http1;

use crate::breaker::Traffic;
use crate::destination::Destination;
use crate::error::SendError;

/// Interval of checks of the calls, and of pings of a sidecar that is left alone.
const PAUSE: Duration = Duration::from_millis(250);

/// Silence before a sidecar with waiting calls is pinged, as a multiple of the connect timeout.
const SILENCE: u32 = 2;

impl<B> Destination<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// Starts the watch unless it runs.
    pub(crate) fn watch(self: &Arc<Self>) {
        if self.watched.swap(true, Ordering::AcqRel) {
            return;
        }
        let (silence, destination) = (self.config.connect_timeout * SILENCE, Arc::downgrade(self));
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PAUSE).await;
                let Some(destination) = destination.upgrade() else { return };
                match destination.breaker.traffic(silence) {
                    Traffic::Passing => {}
                    traffic @ (Traffic::Silent(_) | Traffic::Refused) => match (destination.ping().await, traffic) {
                        // A server that accepts connections and no ping may still accept calls.
                        (Ok(()) | Err(SendError::Exchange { .. }), _) => destination.breaker.heard(),
                        (Err(_), Traffic::Silent(waiting)) => destination.breaker.silent(waiting),
                        (Err(_), _) => destination.breaker.looked(false),
                    },
                    Traffic::None => {
                        destination.watched.store(false, Ordering::Release);
                        let is_over = destination.breaker.traffic(silence) == Traffic::None;
                        if is_over || destination.watched.swap(true, Ordering::AcqRel) {
                            return;
                        }
                    }
                }
            }
        });
    }

    /// Sends `OPTIONS *`, which asks a server for a sign of life (RFC 9110, section 9.3.7). Any answer within the
    /// connect timeout is one. A sidecar in this process always is.
    async fn ping(&self) -> Result<(), SendError> {
        if self.is_in_process() {
            return Ok(());
        }
        let after = self.config.connect_timeout;
        let ping = async {
            let failed = |source| SendError::Exchange { name: self.name.to_string(), source };
            let (mut sender, connection) = http1::handshake(self.open().await?).await.map_err(failed)?;
            tokio::spawn(connection);
            let mut request = Request::new(Empty::<Bytes>::new());
            *request.method_mut() = Method::OPTIONS;
            *request.uri_mut() = Uri::from_static("*");
            request.headers_mut().insert(HOST, self.host.clone());
            sender.send_request(request).await.map(drop).map_err(failed)
        };
        let timeout = |_| Err(SendError::Timeout { name: self.name.to_string(), after });
        tokio::time::timeout(after, ping).await.unwrap_or_else(timeout)
    }
}
