//! Calling `wasi:http/handler` of WASI 0.3: the response's head when the guest returns it, its body while the guest writes it.
//!
//! The call is a task of the guest, which goes on after its result: it writes the body, and may work for a while when the client
//! has all of that. A call runs alone in its instance. The instance's event loop runs within the task of [`call`], so that no
//! deadline is waited for inside it: a function of the host that blocks the instance would block the deadline, too.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::HOST;
use http::uri::{Authority, Scheme};
use http::{Method, Request, Response, StatusCode};
use tokio::sync::oneshot;
use wasmtime_wasi::runtime::spawn;
use wasmtime_wasi_http::p3;
use wasmtime_wasi_http::{Error, FieldMap, WasiBody, WasiHttpView};

use super::failure::{Failure, lift_status};
use super::guest_body::GuestBody;
use super::instance::{Exports, Instance};
use crate::config::Limits;
use crate::executor::compute::{Class, Share};
use crate::metering::meter::counted;

/// The head of a response, and the body that the guest writes.
type Head = oneshot::Sender<Response<WasiBody>>;

/// Calls an instance. `done` and `stalled` are called as by [`wasi_http::call`](super::wasi_http::call).
pub(crate) async fn call(
    mut instance: Instance,
    request: Request<WasiBody>,
    (compute, limits): (&Arc<Share>, &Limits),
    done: impl FnOnce(Result<Instance, Failure>) + Send + 'static,
    stalled: impl FnOnce() + Send + Sync + 'static,
) -> Result<Response<GuestBody>, Failure> {
    let is_head = request.method() == Method::HEAD;
    let (head, answered) = oneshot::channel();
    let (taken, is_taken) = oneshot::channel();
    let (fail, failed) = oneshot::channel();
    let cut_off = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&cut_off);
    let meter = instance.meter().cloned();
    let guest = async move {
        let mut head = Some(head);
        match serve(&mut instance, request, &mut head, is_taken).await {
            Ok(()) => done(Ok(instance)),
            Err(failure) => {
                // Before the instance is gone, for the body ends with it as if it were whole.
                ends.store(true, Ordering::Relaxed);
                drop(instance);
                match head {
                    // Dropped first, so that the caller asks for the reason.
                    Some(head) => {
                        drop(head);
                        let _ = fail.send(failure);
                    }
                    None => done(Err(failure)),
                }
            }
        }
    };
    let guest = spawn(compute.run(Class::STREAM, async move { counted(meter.as_ref(), guest).await }));
    let Ok(response) = answered.await else { return Err(failed.await.unwrap_or(Failure::Unanswered)) };
    let status = lift_status(response.status().as_u16())?;
    let is_bodyless = is_head || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    Ok(response.map(|body| GuestBody::new(body, limits, cut_off, stalled, guest).going_on(taken, is_bodyless)))
}

/// Runs the guest until its tasks have ended. `head` is taken when the guest has answered; `taken` is received when nothing more
/// of its answer is wanted.
async fn serve(
    instance: &mut Instance,
    request: Request<WasiBody>,
    head: &mut Option<Head>,
    taken: oneshot::Receiver<()>,
) -> Result<(), Failure> {
    let request = lower(instance, request);
    let Instance { store, exports: Exports::Service(service), .. } = instance else {
        return Err(Failure::InvalidResponse("the module is called by another interface than it exports"));
    };
    let (sent, is_sent) = oneshot::channel();
    let transmitted = async { is_sent.await.map_err(|_| Error::ConnectionTerminated) };
    let ran = store.run_concurrent(async |accessor| {
        let response = service.handle(accessor, request).await?.map_err(refusal)?;
        let response = accessor.with(|store| response.into_http(store, transmitted))?;
        let Some(head) = head.take() else { return Ok(()) };
        if head.send(response).is_err() {
            // Nobody waits for the answer any more.
            return Ok(());
        }
        if taken.await.is_ok() {
            let _ = sent.send(());
            poll_fn(|cx| accessor.poll_no_interesting_tasks(cx)).await;
        }
        Ok(())
    });
    match ran.await.flatten() {
        Ok(()) => Ok(()),
        Err(error) => Err(instance.failure(error)),
    }
}

/// The error of a guest that answers with an error code.
fn refusal(code: p3::bindings::http::types::ErrorCode) -> wasmtime::Error {
    wasmtime::format_err!("the component answered with an error: {code:?}")
}

/// The request as a resource of the guest.
fn lower(instance: &mut Instance, request: Request<WasiBody>) -> p3::Request {
    let host = instance.store.data_mut();
    let scheme = if host.is_secure() { Scheme::HTTPS } else { Scheme::HTTP };
    let (parts, body) = request.into_parts();
    let named = || Authority::try_from(parts.headers.get(HOST)?.as_bytes()).ok();
    let authority = parts.uri.authority().cloned().or_else(named);
    let path = parts.uri.path_and_query().cloned();
    let headers = FieldMap::new_immutable(host.http().hooks, parts.headers);
    // The guest's report of how it has taken the body concerns nobody.
    let (request, _) = p3::Request::new(parts.method, Some(scheme), authority, path, headers, None, body);
    request
}
