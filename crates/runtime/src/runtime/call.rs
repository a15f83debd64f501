//! The call of a module: its permit, its caller, and its response.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use wasmtime_wasi_http::WasiBody;

use super::Runtime;
use super::in_time::in_time;
use super::report::{ended, report_cut, stalled};
use crate::admission::Permit;
use crate::body::arriving::Arriving;
use crate::body::reserved::reserved;
use crate::config::size;
use crate::executor::compute::Class;
use crate::executor::inline_poll;
use crate::instance::call::direct::Called;
use crate::instance::call::pieces;
use crate::instance::call::{self, EntryPoint, Failure, Instance};
use crate::instance::caller::Caller;
use crate::instance::log_budget::LogBudget;
use crate::instance::whole_body::whole;
use crate::metering::Metering;
use crate::metering::connection;
use crate::metering::meter::{Meter, counted, metered};
use crate::module::registry::ModuleSlot;
use crate::module::{Module, Reuse};
use crate::request::client::Room;
use crate::request::origin::Origin;
use crate::request::problem::Problem;
use crate::response::ResponseBody;
use crate::tape::Seam;
use crate::telemetry::exchange::Exchange;
use crate::telemetry::metrics::Count;

impl Runtime {
    /// Meters a request until its permit is dropped, if somebody needs that.
    pub(super) fn meter(
        &self,
        permit: &mut Permit,
        slot: &ModuleSlot,
        module: &Module,
        exchange: &Exchange,
    ) -> Option<Meter> {
        let metering = Arc::new(Metering::begin(&self.shared.usage, &slot.budget, &module.info, &exchange.id)?);
        let meter = metering.meter.clone();
        connection::adopt(&metering);
        permit.metered_by(metering);
        Some(meter)
    }

    /// Calls a module with a whole request, within its time.
    pub(super) async fn call_in_time(
        &self,
        module: &Arc<Module>,
        caller: Caller,
        request: Request<Bytes>,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Problem> {
        // Pinned here, so that `in_time` does not move its space.
        let called = self.call(module, &caller, request, permit, room);
        let called = pin!(metered(caller.meter.as_ref(), |trap| Failure::Trap(trap, None), called));
        in_time(module, &caller, called).await
    }

    async fn call(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        request: Request<Bytes>,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Failure> {
        match &module.entry {
            EntryPoint::Direct(_) => self.call_directly(module, caller, request, permit, room).await,
            // These are boxed, so that direct calls do not move the space for their futures.
            EntryPoint::WasiHttp(_) => Box::pin(self.call_by_http(module, caller, request, permit, room)).await,
            EntryPoint::Service(_) => {
                let request = request.map(|body| whole(reserved(body, room.body())));
                Box::pin(self.call_service(module, caller, request, permit)).await
            }
        }
    }

    async fn call_directly(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        request: Request<Bytes>,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Failure> {
        let head = request.method() == Method::HEAD;
        let mut instance = self.instance(module, caller.clone()).await?;
        let response = match call::direct::call(&mut instance, request, &module.shared_state.limits).await? {
            Called::Whole(response) => response,
            Called::Streamed(start) => {
                // The request's body is the guest's now, and each piece of the response gets room of its own.
                room.clear();
                return Ok(self.stream(module, caller, start, head, (instance, permit, None)));
            }
            Called::Waits(_) => {
                return Err(Failure::InvalidResponse(
                    "the handler waits for the body of a request that it has as a whole",
                ));
            }
        };
        Self::finish_whole(module, response, instance, permit, room).await
    }

    /// Takes the instance back that has given a whole response, and keeps room for that.
    pub(super) async fn finish_whole(
        module: &Arc<Module>,
        response: Response<Bytes>,
        instance: Instance,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Failure> {
        // Reserved before the permit is free, so that bytes for slow clients are within the budget, and running
        // requests within the permits.
        let meter = instance.meter().cloned();
        if let Some(meter) = &meter {
            meter.note_out(response.body().len());
        }
        let held = room.hold(response.body().len()).await;
        // A bounded one is read with the answer, and has to have the time of restoring by then.
        let is_bounded = meter.as_ref().is_some_and(Meter::is_bounded);
        let at_once = is_bounded || matches!(module.reuse, Reuse::Shared(_)) || inline_poll::is_beginning();
        let module = Arc::clone(module);
        let take_back = async move {
            counted(meter.as_ref(), module.take_back(instance)).await;
            drop(permit);
        };
        if at_once {
            // To wake another thread for it, which fetches the memory from this one's caches, takes longer.
            take_back.await;
        } else {
            // Resetting an instance's memory takes a while, and the client need not wait for it.
            tokio::spawn(take_back);
        }
        held.map_err(|_| Failure::NoRoom)?;
        Ok(response.map(ResponseBody::from))
    }

    /// Goes on with a streamed response. A task has the instance, the permit, and the rest of the request's body until its end.
    pub(super) fn stream(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        start: Response<Bytes>,
        head: bool,
        (instance, permit, arriving): (Instance, Permit, Option<Arriving>),
    ) -> Response<ResponseBody> {
        let (parts, first) = start.into_parts();
        permit.answered();
        if let Some(meter) = &caller.meter {
            meter.note_out(first.len());
        }
        let (pieces, maker) = pieces::streamed(first, arriving, &module.shared_state.limits, &self.shared.streams);
        let (module, caller, compute) = (Arc::clone(module), caller.clone(), Arc::clone(&module.compute));
        let meter = caller.meter.clone();
        let run = async move {
            let instance = maker.run(instance, |cut| report_cut(&module.info, &caller, cut)).await;
            if let Some(instance) = instance {
                module.take_back(instance).await;
            }
            drop(permit);
        };
        tokio::spawn(compute.run(Class::STREAM, async move { counted(meter.as_ref(), run).await }));
        // Where there can be no content (RFC 9110, section 6.4.1), the response is cancelled at once.
        let bodyless = head || matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let body = if bodyless { ResponseBody::from(Bytes::new()) } else { ResponseBody::from(pieces) };
        Response::from_parts(parts, body)
    }

    async fn call_by_http(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        request: Request<Bytes>,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Failure> {
        let request = request.map(|body| reserved(body, room.body()));
        let limits = &module.shared_state.limits;
        let metering = permit.metering();
        let permit = Arc::new(permit);
        let done = || ended(module, caller, &permit);
        let stalled = || stalled(module, caller, limits.request_timeout_ms);
        let instance = self.instance(module, caller.clone()).await?;
        let again = (instance.uses() > 0).then(|| request.clone());
        let computes = (&module.compute, limits);
        let answered = call::wasi_http::call(instance, request, computes, done(), stalled()).await;
        let response = match (answered, again, &module.reuse) {
            (Err(Failure::Unanswered), Some(request), Reuse::Shared(warm)) => {
                // Some serve one request only, as those do whose `fetch` event comes once.
                tracing::warn!(
                    module = &*module.info.name,
                    "its instances serve one request each: they can't be shared"
                );
                warm.close();
                let instance = self.instance(module, caller.clone()).await?;
                call::wasi_http::call(instance, request, computes, done(), stalled()).await?
            }
            (answered, ..) => answered?,
        };
        permit.answered();
        Ok(response.map(|body| ResponseBody::from(body.metered(metering))))
    }

    /// Calls a service in an instance of its own.
    pub(super) async fn call_service(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        request: Request<WasiBody>,
        permit: Permit,
    ) -> Result<Response<ResponseBody>, Failure> {
        let metering = permit.metering();
        let permit = Arc::new(permit);
        let limits = &module.shared_state.limits;
        let (done, stalled) = (ended(module, caller, &permit), stalled(module, caller, limits.request_timeout_ms));
        let instance = self.instance(module, caller.clone()).await?;
        let called = call::service::call(instance, request, (&module.compute, limits), done, stalled);
        let response = called.await?;
        permit.answered();
        Ok(response.map(|body| ResponseBody::from(body.metered(metering))))
    }

    pub(super) async fn instance(&self, module: &Module, caller: Caller) -> Result<Instance, Failure> {
        module.instance(&self.shared.engine, caller).await
    }
}

/// The exchange as the module's host knows it.
pub(super) fn caller_of(module: &Module, exchange: &Exchange, origin: Origin) -> Caller {
    Caller {
        request_id: Arc::clone(&exchange.id),
        traceparent: exchange.traceparent.clone(),
        origin,
        transcript: exchange.transcript.clone(),
        log: LogBudget::new(size(module.shared_state.limits.max_log_bytes)),
        seam: exchange.recorder.clone().map_or(Seam::Live, Seam::Recorded),
        meter: None,
    }
}

/// Refuses a request while the budget of its module is spent.
pub(super) fn within_budget(slot: &ModuleSlot, module: &Module) -> Result<(), Problem> {
    let Some(spent) = slot.budget.spent() else { return Ok(()) };
    module.info.metrics.count(Count::Spent);
    // A client that comes back at the second must not be early.
    let seconds = spent.after.as_secs() + 1;
    Err(Problem::Spent(spent.status, seconds))
}

/// Waits for a permit, and counts a refusal.
pub(super) async fn admitted(
    module: &Module,
    permit: impl Future<Output = Result<Permit, Problem>>,
) -> Result<Permit, Problem> {
    permit.await.inspect_err(|_| module.info.metrics.count(Count::Overloaded))
}

/// Runs a call on the thread that computes for its module. The call has the room for as long as it lasts.
pub(super) async fn compute<T, F>(module: &Module, class: Class, room: &mut Room, call: impl FnOnce(Room) -> F) -> T
where
    T: Send + 'static,
    F: Future<Output = (T, Room)> + Send + 'static,
{
    let none = room.another();
    let (output, its_room) = module.compute.run(class, call(std::mem::replace(room, none))).await;
    *room = its_room;
    output
}
