//! The parameter of a path, such as a queue's name.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::problem::Problem;

/// The one parameter of a path, percent-decoded.
pub struct Name(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await;
        name.map(|Path(name)| Self(name)).map_err(|_| Problem::bad_request("the path must be text in UTF-8"))
    }
}
