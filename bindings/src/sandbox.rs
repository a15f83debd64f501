//! Evaluations of a sandbox: metered calls of its module, and the functions of the program that it calls.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use napi::bindgen_prelude::{BufferSlice, FnArgs, Function, spawn};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;
use tenon_runtime::{Meter, MeterLimit, MeterLimits};
use tenon_transport::{InProcess, InProcessBody};
use tokio::sync::oneshot;

use crate::in_process::OfferedFunction;
use crate::request::{Whole, whole};
use crate::running::Running;
use crate::runtime::{Runtime, Shared};

/// A line that an evaluation has logged.
#[napi(object, object_from_js = false)]
pub struct NativeLine {
    /// True for `console.error` and `console.warn`.
    pub is_error: bool,
    /// The line, without its end.
    pub text: String,
}

/// The resources that an evaluation has used.
#[napi(object, object_from_js = false)]
pub struct NativeUsage {
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
    /// The limit that has ended it: `cpu`, `wall`, `memory`, `calls`, `output`, `log` or `host`.
    pub limit: Option<String>,
    /// The lines that it has logged.
    pub log: Vec<NativeLine>,
}

#[allow(clippy::cast_precision_loss, reason = "no amount comes near 2^53")]
fn usage(meter: &Meter) -> NativeUsage {
    let used = meter.usage();
    let limit = meter.reached().map(|limit| match limit {
        MeterLimit::Cpu => "cpu",
        MeterLimit::Wall => "wall",
        MeterLimit::Memory => "memory",
        MeterLimit::Calls => "calls",
        MeterLimit::Output => "output",
        MeterLimit::Log => "log",
        MeterLimit::Host => "host",
    });
    NativeUsage {
        cpu_us: used.cpu.as_secs_f64() * 1e6,
        peak_memory_bytes: used.peak_memory as f64,
        calls: used.calls as f64,
        bytes_in: used.bytes_in as f64,
        bytes_out: used.bytes_out as f64,
        limit: limit.map(ToString::to_string),
        log: meter.take_log().into_iter().map(|line| NativeLine { is_error: line.is_error, text: line.text }).collect(),
    }
}

/// The end of an evaluation: a status, which is 0 when it was broken off, and the body.
type Outcome = (u16, Bytes);

type SettleArgs = FnArgs<(u32, u16, Whole, NativeUsage)>;

type Settle = ThreadsafeFunction<(u32, Outcome, Meter), (), SettleArgs, Status, false, true>;

/// Evaluations in the only module of a runtime. Node stays alive while one runs.
#[napi]
pub struct Evaluations {
    runtime: Shared,
    callback: Arc<Settle>,
    running: Arc<Running>,
    path: String,
    last: u32,
}

#[napi]
impl Evaluations {
    /// `settle` is called with the number of each evaluation that has ended: the status of the module's answer, or 0 when it was
    /// cancelled or broken off, the answer's body, and what it has used.
    #[napi(constructor)]
    pub fn new(
        runtime: &Runtime,
        module: String,
        #[napi(ts_arg_type = "(evaluation: number, status: number, body: Buffer, usage: NativeUsage) => void")]
        settle: Function<'_, SettleArgs, ()>,
    ) -> Result<Self> {
        let running = Arc::new(Running::default());
        let ended = Arc::clone(&running);
        let callback =
            settle.build_threadsafe_function::<(u32, Outcome, Meter)>().callee_handled::<false>().weak::<true>();
        let callback = callback.build_callback(move |told| {
            let (evaluation, (status, body), meter) = told.value;
            let _ = ended.remove(told.env, evaluation);
            Ok(FnArgs::from((evaluation, status, Whole(body), usage(&meter))))
        })?;
        running.keep_awake_by(&callback.handle);
        let path = format!("http://sandbox/run/{module}/");
        Ok(Self { runtime: runtime.runtime.clone(), callback: Arc::new(callback), running, path, last: 0 })
    }

    /// Begins an evaluation, and returns its number. It ends when it has used more processor time than `cpu_ms`, or logged more
    /// bytes than `log_bytes`.
    #[napi]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes; `as` saturates")]
    pub fn begin(&mut self, env: Env, body: BufferSlice<'_>, cpu_ms: f64, log_bytes: f64) -> u32 {
        self.last = self.last.wrapping_add(1);
        let cpu = Duration::try_from_secs_f64(cpu_ms / 1000.0).unwrap_or_default();
        let limits = MeterLimits { cpu, log_bytes: log_bytes as u64 };
        let meter = Meter::new(self.last, limits);
        let end = End { number: self.last, callback: Arc::clone(&self.callback), outcome: None, meter: meter.clone() };
        let request = Request::post(&self.path).extension(meter).body(whole(Some(&body)));
        let runtime = self.runtime.get();
        let task = spawn(async move {
            let end = end;
            let (Ok(runtime), Ok(request)) = (runtime, request) else { return };
            let answered = end.meter.counted(async {
                let (parts, body) = runtime.handle(request).await.into_parts();
                Some((parts.status.as_u16(), body.collect().await.ok()?.to_bytes()))
            });
            if let Some(outcome) = answered.await {
                end.tell(outcome);
            }
        });
        self.running.add(env, self.last, task.abort_handle());
        self.last
    }

    /// Ends an evaluation, which then settles. Node stays alive until then.
    #[napi]
    pub fn cancel(&self, evaluation: u32) {
        self.running.abort(evaluation);
    }
}

/// The end of an evaluation, which is reported in any case.
struct End {
    number: u32,
    callback: Arc<Settle>,
    outcome: Option<Outcome>,
    meter: Meter,
}

impl End {
    fn tell(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let outcome = self.outcome.take().unwrap_or_default();
        // This fails when Node's thread has ended, and then nobody waits.
        let _ = self.callback.call((self.number, outcome, self.meter.clone()), ThreadsafeFunctionCallMode::NonBlocking);
    }
}

type ToolArgs = FnArgs<(u32, u32, Whole)>;

type ToolCallback = ThreadsafeFunction<(u32, u32, Bytes), (), ToolArgs, Status, false, true>;

/// The calls that wait for the program, by their numbers.
#[derive(Clone, Default)]
struct Waiting(Arc<Mutex<HashMap<u32, oneshot::Sender<Bytes>>>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<u32, oneshot::Sender<Bytes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that waits. Its evaluation may end meanwhile.
struct WaitingCall(Waiting, u32);

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

/// Functions of the program that evaluations call, as a sidecar in this process.
#[napi]
pub struct Tools {
    offered: OfferedFunction,
    waiting: Waiting,
}

#[napi]
impl Tools {
    /// `call` is called with the number of each call, the number of its evaluation, and the body.
    #[napi(constructor)]
    pub fn new(
        #[napi(ts_arg_type = "(call: number, evaluation: number, body: Buffer) => void")] call: Function<
            '_,
            ToolArgs,
            (),
        >,
    ) -> Result<Self> {
        let callback = call.build_threadsafe_function::<(u32, u32, Bytes)>().callee_handled::<false>().weak::<true>();
        let callback: ToolCallback = callback.build_callback(move |told| {
            let (call, evaluation, body) = told.value;
            Ok(FnArgs::from((call, evaluation, Whole(body))))
        })?;
        let (callback, waiting, last) = (Arc::new(callback), Waiting::default(), Arc::new(AtomicU32::new(0)));
        let waits = waiting.clone();
        let answer = move |request: Request<InProcessBody>| {
            let (callback, waiting, last) = (Arc::clone(&callback), waits.clone(), Arc::clone(&last));
            async move {
                let (parts, body) = request.into_parts();
                // The runtime asks a sidecar for its health, without a meter.
                let Some(meter) = parts.extensions.get::<Meter>() else {
                    return response(StatusCode::OK, Bytes::new());
                };
                let Ok(body) = body.collect().await else { return failed() };
                let number = last.fetch_add(1, Ordering::Relaxed);
                let (tell, told) = oneshot::channel();
                waiting.lock().insert(number, tell);
                let _waiting = WaitingCall(waiting, number);
                callback.call((number, meter.number(), body.to_bytes()), ThreadsafeFunctionCallMode::NonBlocking);
                told.await.map_or_else(|_| failed(), |body| response(StatusCode::OK, body))
            }
        };
        Ok(Self { offered: OfferedFunction::new(InProcess::new(answer)), waiting })
    }

    /// The address of the sidecar.
    #[napi(getter)]
    pub fn address(&self) -> String {
        self.offered.address.clone()
    }

    /// Answers a call. Without effect when its evaluation has ended.
    #[napi]
    pub fn answer(&self, call: u32, body: BufferSlice<'_>) {
        let waits = self.waiting.lock().remove(&call);
        if let Some(waits) = waits {
            let _ = waits.send(Bytes::copy_from_slice(&body));
        }
    }
}

fn failed() -> Response<InProcessBody> {
    response(StatusCode::SERVICE_UNAVAILABLE, Bytes::new())
}

fn response(status: StatusCode, body: Bytes) -> Response<InProcessBody> {
    let mut response = Response::new(Full::new(body).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
}
