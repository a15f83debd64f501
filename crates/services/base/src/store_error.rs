//! Failures of the stores of key-value and queues.

use std::fmt::Display;

use axum::http::StatusCode;
use thiserror::Error;

use crate::http::problem::Problem;

/// The reason why a store failed, or does not answer: for the log, and hidden from clients.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct StoreFailure(String);

impl StoreFailure {
    /// Takes the words of the store's own error, which must have no password.
    pub fn new(reason: impl Display) -> Self {
        Self(reason.to_string())
    }
}

/// A failure of the store itself.
#[derive(Debug)]
pub enum StoreError {
    /// Its memory is used up: 507.
    Full,
    /// Its cluster cannot change these keys together: 400.
    OtherSlot,
    /// Any other error; it is logged, and hidden from the client: 500.
    Failed(StoreFailure),
}

impl From<StoreFailure> for StoreError {
    fn from(failure: StoreFailure) -> Self {
        Self::Failed(failure)
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
            StoreError::Failed(failure) => Self::internal(failure),
        }
    }
}
