//! Calls of modules from JavaScript, without a socket.
//!
//! All calls of a runtime share one callback on Node's thread: one for each call, as a promise of napi-rs makes, costs
//! more than the data sent through it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use http_body_util::BodyExt;
use napi::bindgen_prelude::{
    BufferSlice, Either, FnArgs, Function, Latin1String, PromiseRaw, spawn, within_runtime_if_available,
};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;
use tenon_runtime::Here;

use crate::failure::{Failure, NativeFailure, promise};
use crate::request::{Answer, AnswerBody, NativeResponse, Whole, lift, lower};
use crate::running::Running;
use crate::runtime::{Runtime, Shared};
use crate::streams::Streams;

/// The outcome of a call.
type Outcome = std::result::Result<Answer, Failure>;

/// A call that goes on.
type Call = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The callback's arguments.
type Told = FnArgs<(u32, Option<NativeResponse>, Option<NativeFailure>)>;

/// The way to Node's thread.
type Way = ThreadsafeFunction<(u32, Outcome), (), Told, Status, false, true>;

/// Calls of one runtime. Node stays alive while one runs.
#[napi]
pub struct Calls {
    runtime: Shared,
    way: Arc<Way>,
    running: Arc<Running>,
    streams: Arc<Streams>,
    here: Here,
    last: u32,
}

#[napi]
impl Calls {
    /// `settle` is called with the number of each call that has ended, and its response or a failure: `REQUEST` when
    /// HTTP does not allow the request, `RESPONSE` when the module's answer breaks off. It is also called for calls
    /// that were cancelled.
    #[napi(constructor)]
    pub fn new(
        runtime: &Runtime,
        #[napi(ts_arg_type = "(call: number, response: NativeResponse | null, failure: NativeFailure | null) => void")]
        settle: Function<'_, Told, ()>,
    ) -> Result<Self> {
        let running = Arc::new(Running::default());
        let (ended, streams) = (Arc::clone(&running), Arc::new(Streams::default()));
        let kept = Arc::clone(&streams);
        let way = settle.build_threadsafe_function::<(u32, Outcome)>().callee_handled::<false>().weak::<true>();
        let way = way.build_callback(move |told| {
            let (call, outcome) = told.value;
            let cancelled = ended.remove(told.env, call).is_none();
            Ok(FnArgs::from(match outcome {
                // Nobody would read it. It ends as it is dropped.
                Ok((_, AnswerBody::Streamed(_))) if cancelled => (call, None, Some(broken_off().into())),
                Ok(answer) => (call, Some(lift(answer, &kept)), None),
                Err(failure) => (call, None, Some(failure.into())),
            }))
        })?;
        running.keep_awake_by(&way.handle);
        let (runtime, way) = (runtime.runtime.clone(), Arc::new(way));
        Ok(Self { runtime, way, running, streams, here: Here::default(), last: 0 })
    }

    /// Begins a call, and returns its response when it has been answered already, or else its number. `head` is the
    /// method, the absolute URL, and names and values of the headers in turn, each with a line feed behind it; its
    /// characters are bytes (U+0000 to U+00FF), as in the Fetch standard. `here`: the call may be begun on this thread, if
    /// no other runs.
    #[napi]
    pub fn begin(
        &mut self,
        env: Env,
        head: Latin1String,
        body: Option<BufferSlice<'_>>,
        here: bool,
    ) -> Either<u32, NativeResponse> {
        let request = lower(&head, body.as_deref());
        let runtime = self.runtime.get();
        let mut call: Call = Box::pin(async move {
            let (parts, body) = runtime?.handle(request?).await.into_parts();
            if body.is_streamed() {
                return Ok((parts, AnswerBody::Streamed(body)));
            }
            let body = body.collect().await.map_err(|error| Failure::new("RESPONSE", error.to_string()))?;
            Ok((parts, AnswerBody::Whole(body.to_bytes())))
        });
        if here
            && self.running.is_empty()
            && let Poll::Ready(outcome) = within_runtime_if_available(|| self.here.begin(call.as_mut()))
        {
            match outcome.unwrap_or_else(|| Err(broken_off())) {
                Ok(answer) => return Either::B(lift(answer, &self.streams)),
                Err(failure) => call = Box::pin(std::future::ready(Err(failure))),
            }
        }
        self.last = self.last.wrapping_add(1);
        let end = End { call: self.last, way: Arc::clone(&self.way), outcome: None };
        let task = spawn(async move { end.tell(call.await) });
        self.running.add(env, self.last, task.abort_handle());
        Either::A(self.last)
    }

    /// Ends a call.
    #[napi]
    pub fn cancel(&self, env: Env, call: u32) {
        if let Some(task) = self.running.remove(env, call) {
            task.abort();
        }
    }

    /// The next piece of a streamed response, which the module makes now; null at the end, or when there is no such
    /// stream. Only one piece may be requested at a time. Rejects with `RESPONSE` when the response breaks off; the
    /// stream has ended then.
    #[napi(ts_return_type = "Promise<Buffer<ArrayBuffer> | null>")]
    pub fn piece<'env>(&self, env: &'env Env, stream: u32) -> Result<PromiseRaw<'env, Option<Whole>>> {
        let streams = Arc::clone(&self.streams);
        promise(env, async move { streams.piece(stream).await }, |piece| piece.map(Whole))
    }

    /// Ends a streamed response, whose module cleans up in the background. A piece that is waited for is null then. Without
    /// effect when the stream has ended.
    #[napi]
    pub fn end_stream(&self, stream: u32) {
        self.streams.end(stream);
    }
}

/// The end of a call, which is reported in any case.
struct End {
    call: u32,
    way: Arc<Way>,
    outcome: Option<Outcome>,
}

impl End {
    fn tell(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let outcome = self.outcome.take().unwrap_or_else(|| Err(broken_off()));
        // This fails when Node's thread has ended, and then nobody waits.
        let _ = self.way.call((self.call, outcome), ThreadsafeFunctionCallMode::NonBlocking);
    }
}

fn broken_off() -> Failure {
    Failure::new("RESPONSE", "the call was broken off")
}
