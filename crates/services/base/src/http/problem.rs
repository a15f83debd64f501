//! Errors as problem details (RFC 9457).

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONNECTION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use tenon_http_server::problem;

/// An error answer. Its detail is for the client, without internal causes.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    detail: String,
    header: Option<(HeaderName, HeaderValue)>,
    /// Extension members, besides those of RFC 9457.
    members: Option<Box<Map<String, Value>>>,
}

impl Problem {
    /// Makes a problem with a status and a sentence for the client.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), header: None, members: None }
    }

    /// 400: an invalid request; `detail` names the error.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// 400 for a request without a `Host`, or with two (RFC 9112, section 3.2). The connection closes.
    pub fn no_host() -> Self {
        Self::bad_request("a request must name its host once, in the header `Host`")
            .with_header(CONNECTION, HeaderValue::from_static("close"))
    }

    /// 404.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// 500. The cause goes to the log and not to the client.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        tracing::error!("{error}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the service failed; its log has the reason")
    }

    /// 503: no permit became free in time.
    pub fn busy() -> Self {
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests are running; try again soon");
        problem.header = Some((RETRY_AFTER, HeaderValue::from_static("1")));
        problem
    }

    /// 401.
    pub fn unauthorized() -> Self {
        let mut problem = Self::new(StatusCode::UNAUTHORIZED, "a bearer token is needed, and this is not it");
        problem.header = Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        problem
    }

    /// A problem of one statement of a batch, counted from 0; the detail names the statement if it is at fault.
    pub fn of_statement(mut self, index: usize) -> Self {
        if self.status.is_client_error() {
            self.detail = format!("statement {index}: {}", self.detail);
        }
        self
    }

    /// Adds an extension member.
    pub fn with_member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.get_or_insert_default().insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = problem(self.status, &self.detail, self.members.as_deref());
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response.map(Body::from)
    }
}

/// Adds problem details to the router's own answer to a wrong method, which has an `Allow` and no body.
pub async fn explain_methods(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    let allow = response.headers_mut().remove(axum::http::header::ALLOW);
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not answer this method");
    match allow {
        Some(allow) => problem.with_header(axum::http::header::ALLOW, allow).into_response(),
        None => problem.into_response(),
    }
}

/// Answers every path without a route.
pub async fn no_such_path() -> Problem {
    Problem::not_found("there is no such path here")
}
