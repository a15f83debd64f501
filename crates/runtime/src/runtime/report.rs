//! Notes of failures: the log, the counters, and the transcript of a request in development.

use std::fmt::Display;
use std::sync::Arc;

use tenon_visible::shown;

use crate::admission::Permit;
use crate::instance::call::pieces::Cut;
use crate::instance::call::{Failure, Instance};
use crate::instance::caller::Caller;
use crate::instance::guest_log::escaped;
use crate::instance::log_budget::{REASON_BYTES, cut};
use crate::module::Module;
use crate::telemetry::metrics::Count;
use crate::telemetry::module_info::ModuleInfo;
use crate::telemetry::transcript::Level;

/// Makes the end of a guest that streams its answer: it frees the permit in the module.
pub(super) fn ended(
    module: &Arc<Module>,
    caller: &Caller,
    permit: &Arc<Permit>,
) -> impl FnOnce(Result<Instance, Failure>) + Send + 'static {
    let (module, caller, permit) = (Arc::clone(module), caller.clone(), Arc::clone(permit));
    move |ended| {
        match ended {
            Ok(instance) => module.keep(instance),
            Err(failure) => {
                log(&module.info, &caller, "the following lines came after the answer");
                report(&module.info, &caller, &failure);
            }
        }
        drop(permit);
    }
}

/// Makes the report of a guest that streams its answer and writes nothing more of it.
pub(super) fn stalled(module: &Arc<Module>, caller: &Caller, limit: u64) -> impl FnOnce() + Send + Sync + 'static {
    let (module, caller) = (Arc::clone(module), caller.clone());
    move || {
        let why = format_args!("nothing more of its answer came within {limit} ms: it is cut off");
        log(&module.info, &caller, &why);
        module.info.metrics.count(Count::Timeout);
    }
}

/// Logs and counts why a streamed response breaks off.
pub(super) fn report_cut(module: &ModuleInfo, caller: &Caller, cut: &Cut) {
    match cut {
        Cut::Failed(failure) => {
            log(module, caller, "the following lines came after the start of the answer");
            report(module, caller, failure);
        }
        // A generator that waits for something runs its `finally` after that, which may take longer than the module is given.
        Cut::NotCancelled => {
            let (module, request_id) = (&*module.name, &*caller.request_id);
            tracing::warn!(module, request_id, "the answer was cut off: {cut}");
        }
        Cut::TimedOut(_) => {
            log(module, caller, &format_args!("the answer was cut off: {cut}"));
            module.metrics.count(Count::Timeout);
        }
        Cut::TooLarge(_) => {
            log(module, caller, &format_args!("the answer was cut off: {cut}"));
            module.metrics.count(Count::InvalidResponse);
        }
        Cut::Broken | Cut::Stopped => log(module, caller, &format_args!("the answer was cut off: {cut}")),
    }
}

/// Logs why a module's request failed. A request fails once, so this is logged whatever its module has logged before. The
/// module chooses a part of the text, such as the names of its functions.
pub(super) fn log(module: &ModuleInfo, caller: &Caller, what: &(impl Display + ?Sized)) {
    let what = escaped(&what.to_string());
    let what = cut(&what, REASON_BYTES);
    tracing::error!(module = &*module.name, request_id = &*caller.request_id, "{what}");
    if let Some(transcript) = &caller.transcript {
        transcript.line(Level::Error, &shown(what));
    }
}

/// Logs and counts a failure of a module.
pub(super) fn report(module: &ModuleInfo, caller: &Caller, failure: &Failure) {
    let event = match failure {
        Failure::InvalidResponse(_) => Count::InvalidResponse,
        Failure::Trap(..) | Failure::Unanswered => Count::Trap,
        Failure::NoRoom => Count::Overloaded,
    };
    match failure {
        Failure::InvalidResponse(what) => log(module, caller, what),
        Failure::Trap(error, None) => {
            log(module, caller, &format_args!("the module failed: {}", in_a_line(error)));
        }
        Failure::Trap(error, Some(limit)) => {
            let why = in_a_line(error);
            log(module, caller, &format_args!("the module failed after it ran into {limit}: {why}"));
        }
        Failure::Unanswered => log(module, caller, "the module ended without an answer"),
        // The problem itself is logged.
        Failure::NoRoom => {}
    }
    module.metrics.count(event);
}

/// An error and its causes, the first cause first, as one line: a log is read by lines.
fn in_a_line(error: &wasmtime::Error) -> String {
    let causes: Vec<_> = error.chain().map(ToString::to_string).collect();
    let lines = causes.iter().rev().flat_map(|cause| cause.lines()).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_its_first_cause_comes_first() {
        let error = wasmtime::Error::msg("wasm trap: unreachable").context("wasm backtrace:\n    0: f\n\n    1: g");
        assert_eq!(in_a_line(&error), "wasm trap: unreachable | wasm backtrace: | 0: f | 1: g");
    }
}
