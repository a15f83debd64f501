//! The time of a call, and its failure.

use tokio::time::{Instant, timeout_at};

use super::report::{log, report};
use crate::config::ms;
use crate::instance::call::Failure;
use crate::instance::call::direct::TOO_LARGE;
use crate::instance::caller::Caller;
use crate::metering::meter::MeterLimit;
use crate::module::Module;
use crate::request::problem::Problem;
use crate::telemetry::metrics::Count;

/// Waits for a call of a module within `request_timeout_ms`, and reports its failure.
pub(super) async fn in_time<T>(
    module: &Module,
    caller: &Caller,
    called: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Problem> {
    let ends = Instant::now() + ms(module.shared_state.limits.request_timeout_ms);
    in_time_until(module, caller, ends, called).await
}

/// Waits for a call of a module until its time ends, and reports its failure.
pub(super) async fn in_time_until<T>(
    module: &Module,
    caller: &Caller,
    ends: Instant,
    called: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Problem> {
    match timeout_at(ends, called).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(failure)) => Err(failed(module, caller, failure)),
        Err(_) => Err(timed_out(module, caller)),
    }
}

/// Reports that a module has not answered within `request_timeout_ms`.
pub(super) fn timed_out(module: &Module, caller: &Caller) -> Problem {
    let problem = Problem::TimedOut(module.shared_state.limits.request_timeout_ms);
    if let Some(meter) = caller.bounded() {
        meter.reach(MeterLimit::Wall);
        return problem;
    }
    log(&module.info, caller, &problem);
    module.info.metrics.count(Count::Timeout);
    problem
}

/// Reports the failure of a call.
pub(super) fn failed(module: &Module, caller: &Caller, failure: Failure) -> Problem {
    if let Some(meter) = caller.bounded() {
        // The program learns it from the meter.
        match &failure {
            Failure::InvalidResponse(TOO_LARGE) => meter.reach(MeterLimit::Output),
            Failure::Trap(_, Some(_)) => meter.reach(MeterLimit::Host),
            _ => {}
        }
        if meter.reached().is_some() {
            return failure.into();
        }
    }
    report(&module.info, caller, &failure);
    #[cfg(test)]
    if let Some(problem) = crate::crossing::problem(&module.shared_state, &failure) {
        return problem;
    }
    failure.into()
}
