//! A sidecar in this process: a function in place of a connection.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;

/// A body on the way to or from a sidecar in this process.
pub type InProcessBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

type ResponseFuture = Pin<Box<dyn Future<Output = Response<InProcessBody>> + Send>>;

/// A sidecar in this process. It is called on the task of each request, and its future is dropped with the request.
#[derive(Clone)]
pub struct InProcess(Arc<dyn Fn(Request<InProcessBody>) -> ResponseFuture + Send + Sync>);

impl InProcess {
    /// Makes a sidecar from a function. The URI of requests is the path alone, and they have a `Host`.
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

#[cfg(test)]
mod tests {
    use http::header::HOST;
    use http_body_util::{BodyExt, Full};
    use tokio::task::JoinSet;

    use super::*;
    use crate::tests::{config, looked, text, transport};
    use crate::{Address, SendError, Sidecar};

    /// Makes a sidecar in this process. It answers with the path, never answers `/slow`, and is healthy if `healthy`.
    fn in_process(healthy: bool) -> Vec<Sidecar> {
        let answer = move |request: Request<InProcessBody>| async move {
            let path = request.uri().to_string();
            if path == "/slow" {
                std::future::pending::<()>().await;
            }
            let (host, sent) = (request.headers()[HOST].clone(), request.collect().await.unwrap().to_bytes());
            let mut text = Response::new(format!("{path} {} {}", host.to_str().unwrap(), sent.len()));
            if path == "/health" && !healthy {
                *text.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
            }
            text.map(|text| Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync())
        };
        vec![Sidecar::new("db", Address::InProcess(InProcess::new(answer))).unwrap()]
    }

    #[tokio::test]
    async fn requests_reach_a_sidecar_in_this_process() {
        let transport = transport(in_process(true), &[], config());
        assert_eq!(transport.environment(), [("SIDECAR_DB_URL".to_string(), "http://db.sidecar.internal".to_string())]);
        let told = text(&transport, "http://db.sidecar.internal/a?b=%2F").await.unwrap();
        assert_eq!(told, "/a?b=%2F db.sidecar.internal 0");
        // More calls at once than permits, one after another: each permit is returned.
        let all = (0..100).map(|n| {
            let transport = transport.clone();
            async move { text(&transport, &format!("http://db.sidecar.internal/{n}")).await.unwrap() }
        });
        assert_eq!(all.collect::<JoinSet<_>>().join_all().await.len(), 100);
        assert_eq!(looked(&transport).await, [("db".to_string(), Some(true))]);
    }

    #[tokio::test]
    async fn a_sidecar_in_this_process_is_held_to_the_limits_and_down_when_its_store_is() {
        let transport = transport(in_process(false), &[], config());
        let slow = text(&transport, "http://db.sidecar.internal/slow").await;
        assert!(matches!(slow, Err(SendError::Timeout { .. })), "{slow:?}");
        assert_eq!(looked(&transport).await, [("db".to_string(), Some(false))]);
    }
}
