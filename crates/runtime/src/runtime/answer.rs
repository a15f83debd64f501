//! The way of a request to a module, and of its failures to a response.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use tokio::time::{Instant, timeout_at};

use super::Runtime;
use super::report::{ended, log, report, report_cut, stalled};
use crate::admission::Permit;
use crate::body;
use crate::body::arriving::{self, Arriving};
use crate::body::reserved::reserved;
use crate::config::{ms, size};
use crate::executor::compute::Class;
use crate::executor::inline_poll;
use crate::instance::call::direct::{Called, TOO_LARGE};
use crate::instance::call::pieces;
use crate::instance::call::{self, EntryPoint, Failure, Instance};
use crate::instance::caller::Caller;
use crate::instance::log_budget::LogBudget;
use crate::instance::meter::{Meter, MeterLimit, counted, metered};
use crate::instance::metering::Metering;
use crate::instance::whole_body::whole;
use crate::module::registry::{ModuleSlot, State};
use crate::module::sidecars;
use crate::module::{Module, Reuse};
use crate::request::client::{Client, Room, Serves};
use crate::request::health;
use crate::request::limits;
use crate::request::origin::Origin;
use crate::request::problem::Problem;
use crate::request::route::{Route, below_prefix, with_path};
use crate::request::target::{Target, name_host};
use crate::response::ResponseBody;
use crate::tape::Seam;
use crate::telemetry::exchange::Exchange;
use crate::telemetry::metrics::{Count, Format};
use tenon_http_server::discard;
use wasmtime_wasi_http::WasiBody;

/// The target of a request.
enum Found {
    Module(Arc<ModuleSlot>, Arc<Module>),
    /// An answer of the runtime itself.
    Page(Box<Response<ResponseBody>>),
}

impl Runtime {
    pub(super) async fn answer<B>(
        &self,
        client: &Client,
        mut parts: Parts,
        body: B,
        exchange: &mut Exchange,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Problem>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut origin = client.origin(&parts, &self.shared.trusted_proxies);
        let found = match limits::check_length(&parts) {
            Ok(()) if !client.may_name(&parts) => Err(Problem::OtherHost),
            Ok(()) => self.find(&mut parts, &mut origin, exchange, client.serves()),
            Err(problem) => Err(problem),
        };
        // The less frequent ways are boxed, so that the others do not move the space for their futures.
        let discard = |headers, body| Box::pin(discard(headers, body, ms(self.shared.limits.body_timeout_ms)));
        let (slot, module) = match found {
            Ok(Found::Module(slot, module)) => (slot, module),
            Ok(Found::Page(page)) => {
                discard(&parts.headers, body).await;
                room.hold(page.body().whole().unwrap_or(0)).await?;
                return Ok(*page);
            }
            Err(problem) if problem.ends_connection() => return Err(problem),
            Err(problem) => {
                discard(&parts.headers, body).await;
                return Err(problem);
            }
        };
        let module = &module;
        if let Some(sink) = &self.shared.sink {
            exchange.recorder = sink.begin(module, &exchange.id, &parts, client.may_ask(&self.shared.trusted_proxies));
        }
        if let Err(problem) = within_budget(&slot, module) {
            discard(&parts.headers, body).await;
            return Err(problem);
        }
        if arriving::may_be_long(&parts, &body) {
            match Box::pin(self.takes_pieces(&slot, module, exchange)).await {
                Ok(true) => {
                    let answered = self.answer_upload(client, (parts, body), (&slot, module), origin, exchange, room);
                    return Box::pin(answered).await;
                }
                Ok(false) => {}
                Err(problem) => {
                    discard(&parts.headers, body).await;
                    return Err(problem);
                }
            }
        }
        let body = body::whole::read(&parts, body, &module.shared_state.limits, client, room).await?;
        if let Some(recording) = &exchange.recording {
            recording.request_body(&body);
        }
        let mut permit = admitted(module, self.shared.admission.admit(&slot.permits)).await?;
        // The requests before it in the queue may have spent the rest.
        within_budget(&slot, module)?;
        let meter =
            parts.extensions.get::<Meter>().cloned().or_else(|| self.meter(&mut permit, &slot, module, exchange));
        if let Some(meter) = &meter {
            meter.note_in(body.len());
        }
        let caller = Caller { meter, ..caller_of(module, exchange, origin) };
        let class = Class::of(&parts.method, parts.uri.path());
        let request = Request::from_parts(parts, body);
        let (runtime, its_module) = (self.clone(), Arc::clone(module));
        let call = |mut room| async move {
            let answered = runtime.call_in_time(&its_module, caller, request, permit, &mut room).await;
            (answered, room)
        };
        compute(module, class, room, call).await
    }

    /// Meters a request until its permit is dropped, if somebody needs that.
    pub(super) fn meter(
        &self,
        permit: &mut Permit,
        slot: &ModuleSlot,
        module: &Module,
        exchange: &Exchange,
    ) -> Option<Meter> {
        let metering = Metering::begin(&self.shared.usage, &slot.budget, &module.info, &exchange.id)?;
        let meter = metering.meter.clone();
        permit.metered_by(metering);
        Some(meter)
    }

    /// Finds the target of a request by its head. From here on, the path of a module's request is the one that the
    /// module sees.
    fn find(
        &self,
        parts: &mut Parts,
        origin: &mut Origin,
        exchange: &mut Exchange,
        serves: Serves,
    ) -> Result<Found, Problem> {
        if serves != Serves::Operations
            && let Some((page, listed)) = self.shared.pages.page(parts.uri.path())
        {
            exchange.listed = listed;
            return Ok(Found::Page(Box::new(page.map(ResponseBody::from))));
        }
        limits::check_head(parts, &self.shared.limits)?;
        name_host(parts)?;
        if Target::of(parts)? == Target::Server {
            return Ok(Found::Page(Box::new(no_content())));
        }
        let (slot, rest) = match Route::of(&parts.uri) {
            Route::Module { .. } | Route::None if serves == Serves::Operations => return Err(Problem::NotServedHere),
            Route::Metrics if serves == Serves::Modules => return Err(Problem::NotServedHere),
            Route::Module { name, rest } => {
                if let Some(page) = self.shared.pages.build_error(name, &parts.headers) {
                    return Ok(Found::Page(Box::new(page.map(ResponseBody::from))));
                }
                (self.slot(name)?, rest)
            }
            Route::None => {
                let (slot, rest) = self.mounted(parts, origin)?;
                if let Some(page) = self.shared.pages.build_error(&slot.source.name, &parts.headers) {
                    return Ok(Found::Page(Box::new(page.map(ResponseBody::from))));
                }
                (slot, rest)
            }
            _ if parts.method != Method::GET && parts.method != Method::HEAD => return Err(Problem::MethodNotAllowed),
            Route::Health => return Ok(Found::Page(Box::new(self.health().map(ResponseBody::from)))),
            Route::Ready => return Ok(Found::Page(Box::new(self.readiness().map(ResponseBody::from)))),
            Route::Metrics => return Ok(Found::Page(Box::new(self.metrics_page(Format::accepted(&parts.headers))))),
        };
        let module = match &slot.state {
            State::Ready(module) => module,
            State::Loading => return Err(Problem::Loading),
            State::Failed => return Err(Problem::NotLoaded),
        };
        let module = Arc::clone(module);
        exchange.module = Some(Arc::clone(&module.info));
        parts.uri = with_path(std::mem::take(&mut parts.uri), rest);
        Ok(Found::Module(slot, module))
    }

    /// The module that is mounted where a request goes, and the path and query that the module sees.
    fn mounted(&self, parts: &Parts, origin: &mut Origin) -> Result<(Arc<ModuleSlot>, PathAndQuery), Problem> {
        // Before HTTP/1.1 a request may name none, and has got one since.
        let host = origin.host().or_else(|| parts.headers.get(HOST)?.to_str().ok());
        let path = parts.uri.path();
        let (slot, mount) = self.shared.registry.mounted(host, path).ok_or(Problem::NotFound)?;
        let rest = path.get(mount.len()..).and_then(|rest| below_prefix(&parts.uri, rest)).ok_or(Problem::NotFound)?;
        origin.mounted(mount);
        Ok((slot, rest))
    }

    fn slot(&self, name: &str) -> Result<Arc<ModuleSlot>, Problem> {
        match self.shared.registry.get(name) {
            Some(slot) => Ok(slot),
            None if self.shared.pages.is_broken(name) => Err(Problem::NotBuilt),
            None => Err(Problem::UnknownModule(name.to_string())),
        }
    }

    async fn call_in_time(
        &self,
        module: &Arc<Module>,
        caller: Caller,
        request: Request<Bytes>,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Problem> {
        // Pinned here, so that `in_time` does not move its space.
        let called = pin!(metered(caller.meter.as_ref(), self.call(module, &caller, request, permit, room)));
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
        Ok(called.await?.map(|body| ResponseBody::from(body.metered(metering))))
    }

    pub(super) async fn instance(&self, module: &Module, caller: Caller) -> Result<Instance, Failure> {
        module.instance(&self.shared.engine, caller).await
    }

    fn health(&self) -> Response<Bytes> {
        let sidecars = sidecars::health(&self.shared.transport, &self.shared.registry.all());
        let is_outdated = self.shared.is_outdated.load(Ordering::Relaxed);
        health::response(self.shared.started.elapsed(), &self.shared.registry.states(), &sidecars, is_outdated)
    }

    /// Requests should come here while a module is loaded that has all its sidecars, and the server is not about to close. A
    /// sidecar that all modules have counts in any case.
    fn readiness(&self) -> Response<Bytes> {
        let modules = self.shared.registry.all();
        let down = sidecars::health(&self.shared.transport, &modules).into_iter().filter(|(_, up)| !up);
        let down: Vec<String> = down.map(|(name, _)| name).collect();
        let has_all = |name: &str| !down.iter().any(|down| down.starts_with(&format!("{name}/")));
        let serves = |(name, slot): &(String, Arc<ModuleSlot>)| matches!(slot.state, State::Ready(_)) && has_all(name);
        let mut reasons = Vec::new();
        if self.is_draining() {
            reasons.push("the server is about to close".to_string());
        }
        if !modules.iter().any(serves) {
            reasons.push("no module is ready".to_string());
        }
        let is_down = |name: &&String| !name.contains('/') || !reasons.is_empty();
        let down: Vec<_> = down.iter().filter(is_down).map(|name| format!("the sidecar {name} is down")).collect();
        reasons.extend(down);
        health::readiness(&reasons)
    }

    fn metrics_page(&self, format: Format) -> Response<ResponseBody> {
        let mut response = Response::new(ResponseBody::from(Bytes::from(self.metrics_as(format))));
        response.headers_mut().insert(CONTENT_TYPE, format.content_type());
        response
    }
}

/// The exchange as the module's host knows it.
pub(super) fn caller_of(module: &Module, exchange: &Exchange, origin: Origin) -> Caller {
    Caller {
        request_id: Arc::clone(&exchange.id),
        traceparent: exchange.traceparent.clone(),
        origin,
        recording: exchange.recording.clone(),
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

/// Waits for a call of a module within `request_timeout_ms`, and reports its failure.
pub(super) async fn in_time<T>(
    module: &Module,
    caller: &Caller,
    called: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Problem> {
    let ends = Instant::now() + ms(module.shared_state.limits.request_timeout_ms);
    in_time_until(module, caller, ends, called).await
}

/// Waits for a call of a module until its time ends, and reports its failure.
pub(super) async fn in_time_until<T>(
    module: &Module,
    caller: &Caller,
    ends: Instant,
    called: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Problem> {
    match timeout_at(ends, called).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(failure)) => Err(failed(module, caller, failure)),
        Err(_) => Err(timed_out(module, caller)),
    }
}

/// Reports that a module has not answered within `request_timeout_ms`.
pub(super) fn timed_out(module: &Module, caller: &Caller) -> Problem {
    let problem = Problem::TimedOut(module.shared_state.limits.request_timeout_ms);
    if let Some(meter) = caller.bounded() {
        meter.reach(MeterLimit::Wall);
        return problem;
    }
    log(&module.info, caller, &problem);
    module.info.metrics.count(Count::Timeout);
    problem
}

/// Reports the failure of a call.
pub(super) fn failed(module: &Module, caller: &Caller, failure: Failure) -> Problem {
    if let Some(meter) = caller.bounded() {
        // The program learns it from the meter.
        match &failure {
            Failure::InvalidResponse(TOO_LARGE) => meter.reach(MeterLimit::Output),
            Failure::Trap(_, Some(_)) => meter.reach(MeterLimit::Host),
            _ => {}
        }
        if meter.reached().is_some() {
            return failure.into();
        }
    }
    report(&module.info, caller, &failure);
    #[cfg(test)]
    if let Some(problem) = crate::crossing::problem(&module.shared_state, &failure) {
        return problem;
    }
    failure.into()
}

/// The answer to `OPTIONS *`, which asks whether there is a server.
fn no_content() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
