//! Calling `wasi:http/incoming-handler`: the response's head when the guest sets it, its body while the guest writes it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};
use wasmtime::component::Resource;
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::body::HostOutgoingBody;
use wasmtime_wasi_http::p2::types::HostResponseOutparam;
use wasmtime_wasi_http::{Error, WasiBody, WasiHttpView};

use super::instance::Exports;
use super::{Failure, Instance};
use crate::admission::compute::Class;
use crate::config::ms;
use crate::instance::host::whole;
use crate::module::Module;

/// A body that keeps its guest running until it is read to its end or dropped. It breaks off when it grows too large, and when
/// the guest is asked for more of it and writes nothing for as long as an answer may take.
pub(crate) struct GuestBody {
    body: WasiBody,
    left: u64,
    timeout: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    /// Set when the guest trapped before it had finished a body, which then ends as if it were whole.
    cut_off: Arc<AtomicBool>,
    stalled: Option<Box<dyn FnOnce() + Send + Sync>>,
    _guest: AbortOnDropJoinHandle<()>,
}

impl GuestBody {
    /// Reports whether the guest has been waited for too long.
    fn has_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        let timeout = self.timeout;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(timeout)));
        waiting.as_mut().poll(cx).is_ready()
    }
}

impl http_body::Body for GuestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_pending() {
            if !self.has_stalled(cx) {
                return Poll::Pending;
            }
            if let Some(stalled) = self.stalled.take() {
                stalled();
            }
            return Poll::Ready(Some(Err(Error::HttpResponseTimeout)));
        }
        // A client that takes nothing does not ask for more, and no time passes for the guest.
        self.waiting = None;
        if let Poll::Ready(None) = &polled
            && self.cut_off.load(Ordering::Relaxed)
        {
            return Poll::Ready(Some(Err(Error::HttpProtocolError)));
        }
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let length = frame.data_ref().map_or(0, Bytes::len) as u64;
            match self.left.checked_sub(length) {
                Some(left) => self.left = left,
                None => return Poll::Ready(Some(Err(Error::HttpResponseBodySize(None)))),
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// Calls an instance. `done` is called when the guest has ended, which may be later than this call: with the instance
/// after a good end, or with the error when no caller awaits the answer any more. It is dropped, called or not, no
/// earlier than the guest ends. `stalled` is called when its body is cut off because nothing more of it comes.
pub(crate) async fn call(
    mut instance: Instance,
    request: Request<Bytes>,
    module: &Module,
    done: impl FnOnce(Result<Instance, Failure>) + Send + 'static,
    stalled: impl FnOnce() + Send + Sync + 'static,
) -> Result<Response<GuestBody>, Failure> {
    let (answer, answered) = oneshot::channel();
    let http = instance.store.data_mut();
    let scheme = if http.is_secure() { Scheme::Https } else { Scheme::Http };
    let incoming = http.http().new_incoming_request(scheme, request.map(whole))?;
    let out = http.http().new_response_outparam(answer)?;
    let place: Resource<HostResponseOutparam> = Resource::new_borrow(out.rep());
    let (fail, failed) = oneshot::channel();
    let cut_off = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&cut_off);
    let limits = &module.shared_state.limits;
    let guest = spawn(module.compute.run(Class::STREAM, async move {
        let Instance { store, exports: Exports::WasiHttp(proxy), .. } = &mut instance else {
            return;
        };
        match proxy.wasi_http_incoming_handler().call_handle(store, incoming, out).await {
            // The place for the answer is gone when there was one. Else it goes with the instance.
            Ok(()) if instance.store.data().table.get(&place).is_err() => done(Ok(instance)),
            Ok(()) => drop(instance),
            Err(error) => {
                let failure = instance.failure(error);
                let is_unfinished =
                    instance.store.data_mut().table.iter_mut().any(|each| each.is::<HostOutgoingBody>());
                // Before the instance is gone, for the body ends with it.
                ends.store(is_unfinished, Ordering::Relaxed);
                drop(instance);
                // Nobody waits any more when the head was sent: then the body breaks off.
                if let Err(failure) = fail.send(failure) {
                    done(Err(failure));
                }
            }
        }
    }));
    match answered.await {
        Ok(Ok(response)) => Ok(response.map(|body| GuestBody {
            body,
            left: limits.max_response_bytes,
            timeout: ms(limits.request_timeout_ms),
            waiting: None,
            cut_off,
            stalled: Some(Box::new(stalled)),
            _guest: guest,
        })),
        Ok(Err(code)) => {
            Err(Failure::Trap(wasmtime::format_err!("the component answered with an error: {code:?}"), None))
        }
        Err(_) => Err(match failed.await {
            Ok(failure) => failure,
            Err(_) => Failure::Unanswered,
        }),
    }
}
