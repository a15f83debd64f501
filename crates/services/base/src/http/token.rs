//! The bearer token of a sidecar.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::problem::Problem;

/// A secret that is never printed.
#[derive(Clone)]
pub struct Token(Arc<[u8]>);

impl Token {
    /// Keeps a token.
    pub fn new(text: &str) -> Self {
        Self(text.as_bytes().into())
    }

    /// Takes constant time for tokens of one length.
    fn accepts(&self, request: &Request) -> bool {
        let Some(value) = request.headers().get(AUTHORIZATION) else { return false };
        let value = value.as_bytes();
        let Some((scheme, token)) = value.split_at_checked(7) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(self.0.ct_eq(token.trim_ascii_start()))
    }
}

/// Paths whose signature is the permission.
const SIGNED: &str = "/storage-url/";

/// Passes requests with the token, health checks, and signed URLs.
pub async fn check(State(token): State<Token>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path == "/health" || path.starts_with(SIGNED) || token.accepts(&request) {
        next.run(request).await
    } else {
        Problem::unauthorized().into_response()
    }
}

/// Passes requests with the token, which the upstream must not see, and health checks.
pub async fn check_and_remove(State(token): State<Token>, mut request: Request, next: Next) -> Response {
    if request.uri().path() != "/health" && !token.accepts(&request) {
        return Problem::unauthorized().into_response();
    }
    request.headers_mut().remove(AUTHORIZATION);
    next.run(request).await
}
