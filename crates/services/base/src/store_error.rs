//! Failures of the stores of key-value and queues.

use axum::http::StatusCode;

use crate::http::problem::Problem;

/// A failure of the store itself.
#[derive(Debug)]
pub enum StoreError {
    /// Its memory is used up: 507.
    Full,
    /// Its cluster cannot change these keys together: 400.
    OtherSlot,
    /// Any other error; it is logged, and hidden from the client: 500.
    Failed(String),
}

impl From<String> for StoreError {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => {
                Self::new(StatusCode::INSUFFICIENT_STORAGE, "the store is full: it has no memory for another entry")
            }
            StoreError::OtherSlot => Self::bad_request(
                "a Redis Cluster keeps entries together only when their keys have one hash tag: write {user:1}:name and \
                 {user:1}:email, or send one request for each entry",
            ),
            StoreError::Failed(text) => Self::internal(text),
        }
    }
}
