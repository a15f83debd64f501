//! Calls of a module's routes, without a socket.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use tenon_runtime::Runtime;

/// A call of a route.
pub(crate) struct RouteCall<'a> {
    pub(crate) module: &'a str,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Bytes,
}

/// Calls a route. Returns the status of its answer, whose body nobody reads.
pub(crate) async fn call(runtime: &Runtime, call: RouteCall<'_>) -> Result<StatusCode, http::Error> {
    let uri = format!("http://localhost/run/{}{}", call.module, call.path);
    let mut request = Request::builder().method(call.method).uri(uri);
    for (name, value) in call.headers {
        request = request.header(name, value);
    }
    Ok(runtime.handle(request.body(Full::new(call.body))?).await.status())
}
