//! Calling `wasi:http/incoming-handler`: the response's head when the guest sets it, its body while the guest writes it.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::oneshot;
use wasmtime_wasi::runtime::{AbortOnDropJoinHandle, spawn};
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::{Error, WasiBody, WasiHttpView};

use super::{Failure, store};
use crate::host::{Host, Surroundings, whole};

/// A body that keeps its guest running until it is read to its end or dropped.
pub(crate) struct GuestBody {
    body: WasiBody,
    _guest: AbortOnDropJoinHandle<()>,
}

impl http_body::Body for GuestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// Calls a fresh instance. `permit` is held for as long as the guest runs, which may be longer than this call.
pub(crate) async fn call(
    pre: &ProxyPre<Host>,
    surroundings: &Arc<Surroundings>,
    module: &Arc<str>,
    request_id: &Arc<str>,
    request: Request<Bytes>,
    permit: impl Send + 'static,
) -> Result<Response<GuestBody>, Failure> {
    let mut store = store(pre.engine(), surroundings, module, request_id);
    let (answer, answered) = oneshot::channel();
    let incoming = store.data_mut().http().new_incoming_request(Scheme::Http, request.map(whole))?;
    let out = store.data_mut().http().new_response_outparam(answer)?;
    let (fail, failed) = oneshot::channel();
    let (pre, module, request_id) = (pre.clone(), Arc::clone(module), Arc::clone(request_id));
    let guest = spawn(async move {
        let _permit = permit;
        let run = async {
            let proxy = pre.instantiate_async(&mut store).await?;
            proxy.wasi_http_incoming_handler().call_handle(&mut store, incoming, out).await
        };
        if let Err(error) = run.await {
            // Nobody waits any more when the head was sent: then the body breaks off, and the log has to tell.
            drop(store);
            if let Err(error) = fail.send(error) {
                tracing::error!(
                    module = &*module,
                    request_id = &*request_id,
                    "the guest failed after its answer: {error:?}"
                );
            }
        }
    });
    match answered.await {
        Ok(Ok(response)) => Ok(response.map(|body| GuestBody { body, _guest: guest })),
        Ok(Err(code)) => Err(Failure::Trap(wasmtime::format_err!("the component answered with an error: {code:?}"))),
        Err(_) => Err(Failure::Trap(match failed.await {
            Ok(error) => error,
            Err(_) => wasmtime::format_err!("the component ended without an answer"),
        })),
    }
}
