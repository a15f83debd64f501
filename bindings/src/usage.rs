//! The use of requests and the budgets of modules, for functions of JavaScript.

use std::sync::{Arc, Mutex, PoisonError};

use napi::Result;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use tenon_runtime::{Remainders, RequestUsage};

use crate::runtime::{Runtime, Shared};

/// Records that wait for Node's thread at most. Further ones are dropped.
const MOST: usize = 100_000;

/// The use of one request, which has ended.
#[napi(object, object_from_js = false)]
pub struct NativeRequestUsage {
    pub module: String,
    pub request_id: String,
    /// Microseconds of processor time.
    pub cpu_us: f64,
    /// The largest size of its memories together, in bytes.
    pub peak_memory_bytes: f64,
    /// Outbound calls, also those that were refused.
    pub calls: f64,
    /// Bytes of its request, and of responses to its calls.
    pub bytes_in: f64,
    /// Bytes of its calls and of its response.
    pub bytes_out: f64,
}

#[allow(clippy::cast_precision_loss, reason = "no amount comes near 2^53")]
impl From<RequestUsage> for NativeRequestUsage {
    fn from(RequestUsage { module, request_id, usage }: RequestUsage) -> Self {
        Self {
            module: module.to_string(),
            request_id: request_id.to_string(),
            cpu_us: (usage.cpu.as_secs_f64() * 1e6).round(),
            peak_memory_bytes: usage.peak_memory as f64,
            calls: usage.calls as f64,
            bytes_in: usage.bytes_in as f64,
            bytes_out: usage.bytes_out as f64,
        }
    }
}

/// The use of a runtime's requests for a function of JavaScript, until it is closed. A runtime has one of them at a time.
#[napi]
pub struct Usages {
    runtime: Shared,
    waiting: Arc<Mutex<Vec<RequestUsage>>>,
}

#[napi]
impl Usages {
    /// `wake` is called on Node's thread when records wait.
    #[napi(constructor)]
    pub fn new(runtime: &Runtime, #[napi(ts_arg_type = "() => void")] wake: Function<'_, (), ()>) -> Result<Self> {
        let wake = wake.build_threadsafe_function::<()>().callee_handled::<false>().weak::<true>();
        let wake = wake.max_queue_size::<1>().build_callback(|_| Ok(()))?;
        let waiting = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&waiting);
        let listener = move |usage| {
            let mut waiting = told.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.len() < MOST {
                waiting.push(usage);
            }
            if waiting.len() == 1 {
                drop(waiting);
                // This fails when Node's thread has ended, and then nobody needs the records.
                let _ = wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
            }
        };
        runtime.runtime.get_or_throw()?.on_usage(Some(Arc::new(listener)));
        Ok(Self { runtime: runtime.runtime.clone(), waiting })
    }

    /// Takes the waiting records.
    #[napi]
    pub fn take(&self) -> Vec<NativeRequestUsage> {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().map(NativeRequestUsage::from).collect()
    }

    /// Ends the metering. Waiting records can still be taken.
    #[napi]
    pub fn close(&self) {
        if let Ok(runtime) = self.runtime.get() {
            runtime.on_usage(None);
        }
    }
}

/// The state of a part of a budget.
#[napi(object, object_from_js = false)]
pub struct NativeRemainder {
    /// `cpu`, `calls`, `bytes_out` or `memory`.
    pub part: String,
    /// The amount of a window: microseconds, calls, bytes or byte seconds.
    pub amount: f64,
    /// The amount that is left in it.
    pub remaining: f64,
    /// The length of a window, in milliseconds.
    pub period_ms: f64,
    /// Milliseconds until a part that is spent is so no more.
    pub resets_in_ms: f64,
}

/// The state of a module's budget.
#[napi(object, object_from_js = false)]
pub struct NativeRemainders {
    pub module: String,
    /// The status of the answer while it is spent.
    pub when_spent: String,
    pub parts: Vec<NativeRemainder>,
}

#[allow(clippy::cast_precision_loss, reason = "no amount comes near 2^53")]
pub(crate) fn remainders((module, Remainders { when_spent, parts }): (String, Remainders)) -> NativeRemainders {
    let parts = parts.into_iter().map(|part| NativeRemainder {
        part: part.part.name().to_string(),
        amount: part.amount as f64,
        remaining: part.remaining as f64,
        period_ms: part.period.as_millis() as f64,
        resets_in_ms: part.resets_in.as_millis() as f64,
    });
    NativeRemainders { module, when_spent: when_spent.status().as_str().to_string(), parts: parts.collect() }
}
