//! A sidecar in this process: a function in the place of a connection.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;

/// A body on the way to or from a sidecar in this process.
pub type InProcessBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

type Answer = Pin<Box<dyn Future<Output = Response<InProcessBody>> + Send>>;

/// A sidecar in this process. It is called on the task of each request, and dropped with it.
#[derive(Clone)]
pub struct InProcess(Arc<dyn Fn(Request<InProcessBody>) -> Answer + Send + Sync>);

impl InProcess {
    /// A sidecar that answers with a function. Requests have the path alone in their URI, and a `Host`.
    pub fn new<F>(answer: impl Fn(Request<InProcessBody>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<InProcessBody>> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(answer(request))))
    }

    pub(crate) async fn answer(&self, request: Request<InProcessBody>) -> Response<InProcessBody> {
        (self.0)(request).await
    }
}

impl PartialEq for InProcess {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for InProcess {}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}
