//! Calls of modules' routes, without a socket.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use tenon_runtime::Runtime;
use thiserror::Error;

/// A call of a route.
pub(crate) struct RouteCall {
    pub(crate) module: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// The reason why a call has no whole answer.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    /// No module has this name.
    #[error("no module is called {0}")]
    NoModule(String),
    /// Its parts make no request of HTTP.
    #[error(transparent)]
    Request(#[from] http::Error),
    /// The answer broke off.
    #[error("{0}")]
    Cut(String),
}

/// Modules whose routes are called.
pub(crate) trait Routes: Send + Sync + 'static {
    /// The names of the modules that serve, sorted.
    fn ready_modules(&self) -> Vec<String>;

    /// Calls a route. Returns the status of its answer, or the reason why there is no whole answer.
    fn call(&self, call: RouteCall) -> impl Future<Output = Result<StatusCode, CallError>> + Send;
}

impl Routes for Runtime {
    fn ready_modules(&self) -> Vec<String> {
        self.ready_modules()
    }

    /// Reads an answer to its end, because a module may fail while it writes one. A stream ends unread, because it may be endless.
    async fn call(&self, call: RouteCall) -> Result<StatusCode, CallError> {
        if !self.modules().contains(&call.module) {
            return Err(CallError::NoModule(call.module));
        }
        let uri = format!("http://localhost/run/{}{}", call.module, call.path);
        let mut request = Request::builder().method(&*call.method).uri(uri);
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(call.body))?;
        let answer = self.handle(request).await;
        let status = answer.status();
        let mut body = answer.into_body();
        if !body.is_streamed() {
            while let Some(piece) = body.frame().await {
                piece.map_err(|error| CallError::Cut(error.to_string()))?;
            }
        }
        Ok(status)
    }
}
