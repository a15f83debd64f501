//! Calls of modules' routes, without a socket.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use tenon_runtime::Runtime;

/// A call of a route.
pub(crate) struct RouteCall {
    pub(crate) module: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// Modules whose routes are called.
pub(crate) trait Routes: Send + Sync + 'static {
    /// The names of the modules that serve, sorted.
    fn ready_modules(&self) -> Vec<String>;

    /// Calls a route. Returns the status of its answer, or the reason why there is no whole answer.
    fn call(&self, call: RouteCall) -> impl Future<Output = Result<StatusCode, String>> + Send;
}

impl Routes for Runtime {
    fn ready_modules(&self) -> Vec<String> {
        self.ready_modules()
    }

    /// Reads an answer to its end, because a module may fail while it writes one. A stream ends unread, because it may be endless.
    async fn call(&self, call: RouteCall) -> Result<StatusCode, String> {
        if !self.modules().contains(&call.module) {
            return Err(format!("no module is called {}", call.module));
        }
        let uri = format!("http://localhost/run/{}{}", call.module, call.path);
        let mut request = Request::builder().method(&*call.method).uri(uri);
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(call.body)).map_err(|error| error.to_string())?;
        let answer = self.handle(request).await;
        let status = answer.status();
        let mut body = answer.into_body();
        if !body.is_streamed() {
            while let Some(piece) = body.frame().await {
                piece.map_err(|error| error.to_string())?;
            }
        }
        Ok(status)
    }
}
