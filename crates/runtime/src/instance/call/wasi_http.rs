//! Calling `wasi:http/incoming-handler`: the response's head when the guest sets it, its body while the guest writes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::oneshot;
use wasmtime::component::Resource;
use wasmtime_wasi::runtime::spawn;
use wasmtime_wasi_http::WasiHttpView;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::body::HostOutgoingBody;
use wasmtime_wasi_http::p2::types::HostResponseOutparam;

use super::failure::{Failure, lift_status};
use super::guest_body::GuestBody;
use super::instance::{Exports, Instance};
use crate::config::Limits;
use crate::executor::compute::{Class, Share};
use crate::instance::whole_body::whole;
use crate::metering::meter::counted;

/// Calls an instance. `done` is called when the guest has ended, which may be later than this call: with the instance
/// after a good end, or with the error when no caller awaits the answer any more. It is dropped, called or not, no
/// earlier than the guest ends. `stalled` is called when its body is cut off because nothing more of it comes.
pub(crate) async fn call(
    mut instance: Instance,
    request: Request<Bytes>,
    (compute, limits): (&Arc<Share>, &Limits),
    done: impl FnOnce(Result<Instance, Failure>) + Send + 'static,
    stalled: impl FnOnce() + Send + Sync + 'static,
) -> Result<Response<GuestBody>, Failure> {
    let (answer, answered) = oneshot::channel();
    let http = instance.store.data_mut();
    let scheme = if http.is_secure() { Scheme::Https } else { Scheme::Http };
    let incoming = http.http().new_incoming_request(scheme, request.map(whole))?;
    let out = http.http().new_response_outparam(answer)?;
    let outparam: Resource<HostResponseOutparam> = Resource::new_borrow(out.rep());
    let (fail, failed) = oneshot::channel();
    let cut_off = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&cut_off);
    let meter = instance.meter().cloned();
    let guest = async move {
        let Instance { store, exports: Exports::WasiHttp(proxy), .. } = &mut instance else {
            return;
        };
        match proxy.wasi_http_incoming_handler().call_handle(store, incoming, out).await {
            // The out-parameter is gone once there is a response. Else it goes with the instance.
            Ok(()) if instance.store.data().table.get(&outparam).is_err() => done(Ok(instance)),
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
    };
    let guest = spawn(compute.run(Class::STREAM, async move { counted(meter.as_ref(), guest).await }));
    match answered.await {
        Ok(Ok(response)) => {
            lift_status(response.status().as_u16())?;
            Ok(response.map(|body| GuestBody::new(body, limits, cut_off, stalled, guest)))
        }
        Ok(Err(code)) => {
            Err(Failure::Trap(wasmtime::format_err!("the component answered with an error: {code:?}"), None))
        }
        Err(_) => Err(match failed.await {
            Ok(failure) => failure,
            Err(_) => Failure::Unanswered,
        }),
    }
}
