//! Calls of modules from JavaScript, without a socket.
//!
//! All calls of a runtime share one callback on Node's thread: one for each call, as a promise of napi-rs makes, costs
//! more than the data sent through it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http_body_util::BodyExt;
use napi::bindgen_prelude::{
    BufferSlice, Either, FnArgs, Function, Latin1String, PromiseRaw, spawn, within_runtime_if_available,
};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;
use tenon_runtime::InlinePoll;

use crate::failure::{Failure, NativeFailure, promise};
use crate::request::{
    ModuleBody, ModuleResponse, NativePeer, NativeResponse, RequestBody, Whole, lift, lower, peer_of, whole,
};
use crate::running::Running;
use crate::runtime::{Runtime, Shared};
use crate::streams::Streams;
use crate::uploads::Uploads;

/// The outcome of a call.
type Outcome = std::result::Result<ModuleResponse, Failure>;

/// A call that goes on.
type Call = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The callback's arguments.
type CallbackArgs = FnArgs<(u32, Option<NativeResponse>, Option<NativeFailure>)>;

/// The callback on Node's thread.
type Callback = ThreadsafeFunction<(u32, Outcome), (), CallbackArgs, Status, false, true>;

/// Calls of one runtime. Node stays alive while one runs.
#[napi]
pub struct Calls {
    runtime: Shared,
    callback: Arc<Callback>,
    running: Arc<Running>,
    streams: Arc<Streams>,
    uploads: Arc<Uploads>,
    here: InlinePoll,
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
        settle: Function<'_, CallbackArgs, ()>,
    ) -> Result<Self> {
        let running = Arc::new(Running::default());
        let (ended, streams) = (Arc::clone(&running), Arc::new(Streams::default()));
        let kept = Arc::clone(&streams);
        let callback = settle.build_threadsafe_function::<(u32, Outcome)>().callee_handled::<false>().weak::<true>();
        let callback = callback.build_callback(move |told| {
            let (call, outcome) = told.value;
            let cancelled = ended.remove(told.env, call).is_none();
            Ok(FnArgs::from(match outcome {
                // Nobody would read it. It ends as it is dropped.
                Ok((_, ModuleBody::Streamed(_))) if cancelled => (call, None, Some(broken_off().into())),
                Ok(answer) => (call, Some(lift(answer, &kept)), None),
                Err(failure) => (call, None, Some(failure.into())),
            }))
        })?;
        running.keep_awake_by(&callback.handle);
        let (runtime, callback) = (runtime.runtime.clone(), Arc::new(callback));
        Ok(Self { runtime, callback, running, streams, uploads: Arc::default(), here: InlinePoll::default(), last: 0 })
    }

    /// Begins a call, and returns its response when it has been answered already, or else its number. `head` is the
    /// method, the absolute URL, and names and values of the headers in turn, each with a line feed behind it; its
    /// characters are bytes (U+0000 to U+00FF), as in the Fetch standard. With a peer, the URL may be a path, and the
    /// host one of the headers. `here`: the call may be begun on this thread, if no other runs.
    #[napi]
    pub fn begin(
        &mut self,
        env: Env,
        head: Latin1String,
        body: Option<BufferSlice<'_>>,
        here: bool,
        peer: Option<NativePeer>,
    ) -> Either<u32, NativeResponse> {
        let mut call = self.call(&head, peer, whole(body.as_deref()));
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
        self.go_on(env, call);
        Either::A(self.last)
    }

    /// Begins a call whose body is sent with `push` and `end_upload`, and returns the call's number. `head` and `peer` are
    /// as in `begin`.
    #[napi]
    pub fn begin_upload(&mut self, env: Env, head: Latin1String, peer: Option<NativePeer>) -> u32 {
        self.last = self.last.wrapping_add(1);
        let body = self.uploads.begin(self.last);
        let call = self.call(&head, peer, http_body_util::Either::Right(body));
        self.go_on(env, call);
        self.last
    }

    /// Adds a piece to the body of a call, when there is room for it; one is added at a time. False when nobody reads the body any
    /// more.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn push<'env>(&self, env: &'env Env, call: u32, piece: BufferSlice<'_>) -> Result<PromiseRaw<'env, bool>> {
        let (uploads, piece) = (Arc::clone(&self.uploads), Bytes::copy_from_slice(&piece));
        promise(env, async move { Ok(uploads.push(call, piece).await) }, |taken| taken)
    }

    /// Ends the body of a call; `failed` breaks it off.
    #[napi]
    pub fn end_upload(&self, call: u32, failed: bool) {
        self.uploads.end(call, failed);
    }

    /// Resolves when nobody reads the body of a call any more: its end was read, or the request is over.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn upload_ended<'env>(&self, env: &'env Env, call: u32) -> Result<PromiseRaw<'env, ()>> {
        let uploads = Arc::clone(&self.uploads);
        promise(
            env,
            async move {
                uploads.ended(call).await;
                Ok(())
            },
            |()| (),
        )
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

impl Calls {
    fn call(&self, head: &[u8], peer: Option<NativePeer>, body: RequestBody) -> Call {
        let request = lower(head, body);
        let (runtime, peer) = (self.runtime.get(), peer_of(peer));
        Box::pin(async move {
            let answer = match peer {
                None => runtime?.handle(request?).await,
                Some(peer) => runtime?.handle_from(peer, request?).await,
            };
            let (parts, body) = answer.into_parts();
            if body.is_streamed() {
                return Ok((parts, ModuleBody::Streamed(body)));
            }
            let body = body.collect().await.map_err(|error| Failure::new("RESPONSE", error.to_string()))?;
            Ok((parts, ModuleBody::Whole(body.to_bytes())))
        })
    }

    /// Runs a call, whose number is the last one, off Node's thread.
    fn go_on(&self, env: Env, call: Call) {
        let end = End { call: self.last, callback: Arc::clone(&self.callback), outcome: None };
        let task = spawn(async move { end.tell(call.await) });
        self.running.add(env, self.last, task.abort_handle());
    }
}

/// The end of a call, which is reported in any case.
struct End {
    call: u32,
    callback: Arc<Callback>,
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
        let _ = self.callback.call((self.call, outcome), ThreadsafeFunctionCallMode::NonBlocking);
    }
}

fn broken_off() -> Failure {
    Failure::new("RESPONSE", "the call was broken off")
}
