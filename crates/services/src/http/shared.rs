//! What the routes of a service work on.

use crate::Limits;

/// A store, and the limits that its routes hold requests to.
#[derive(Clone)]
pub(crate) struct Shared<S> {
    pub(crate) store: S,
    pub(crate) limits: Limits,
}
