//! The budget of one module: amounts that its requests may use together in a period.

use std::time::Duration;

use http::StatusCode;

/// An amount for each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The amount, in the unit of its field of [`ModuleBudget`]; 0 counts as 1.
    pub amount: u64,
    /// The period.
    pub period: Duration,
}

/// The answer to requests while a budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenSpent {
    /// 429 Too Many Requests.
    #[default]
    TooManyRequests,
    /// 503 Service Unavailable.
    Unavailable,
}

impl WhenSpent {
    /// The status of the answer.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The budget of a module. A part that is left out has no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleBudget {
    /// Processor time, in microseconds.
    pub cpu: Option<Allowance>,
    /// Outbound calls.
    pub calls: Option<Allowance>,
    /// Bytes of responses and of outbound calls.
    pub bytes_out: Option<Allowance>,
    /// Memory of running requests over time, in byte seconds.
    pub memory: Option<Allowance>,
    /// The answer while one of them is spent.
    pub when_spent: WhenSpent,
    /// Its share of the processors while other modules compute as well; 1 when left out.
    pub weight: Option<u32>,
}
