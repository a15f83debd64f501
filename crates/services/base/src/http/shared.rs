//! Shared state of a service's routes.

use crate::Limits;

/// A store, and the limits of requests.
#[derive(Clone)]
pub struct Shared<S> {
    /// The store.
    pub store: S,
    /// The limits of a request.
    pub limits: Limits,
}
