//! Shared state of a service's routes.

use crate::Limits;

/// A store, and the limits of requests.
#[derive(Clone)]
pub(crate) struct Shared<S> {
    pub(crate) store: S,
    pub(crate) limits: Limits,
}
