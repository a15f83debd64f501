//! The error of a job that breaks a rule.

use std::borrow::Cow;

use tenon_service::http::problem::Problem;
use thiserror::Error;

/// The rule that a job breaks. It repeats no value.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub(crate) struct InvalidJob(Cow<'static, str>);

impl InvalidJob {
    pub(super) fn new(rule: impl Into<Cow<'static, str>>) -> Self {
        Self(rule.into())
    }
}

impl From<InvalidJob> for Problem {
    fn from(invalid: InvalidJob) -> Self {
        Self::bad_request(invalid.0)
    }
}
