//! The bearer token that a sidecar may ask for.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::problem::Problem;

/// A secret that nothing prints.
#[derive(Clone)]
pub(crate) struct Token(Arc<[u8]>);

impl Token {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.as_bytes().into())
    }

    /// Takes as long for a wrong token as for the right one of its length.
    fn accepts(&self, request: &Request) -> bool {
        let Some(value) = request.headers().get(AUTHORIZATION) else { return false };
        let value = value.as_bytes();
        let Some((scheme, token)) = value.split_at_checked(7) else { return false };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(self.0.ct_eq(token))
    }
}

/// Paths that carry their own permission.
const SIGNED: &str = "/storage-url/";

/// Lets through who has the token, who asks whether the sidecar is up, and addresses that carry their own permission.
pub(crate) async fn check(State(token): State<Token>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path == "/health" || path.starts_with(SIGNED) || token.accepts(&request) {
        next.run(request).await
    } else {
        Problem::unauthorized().into_response()
    }
}
