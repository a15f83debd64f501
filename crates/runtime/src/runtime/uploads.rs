//! Requests whose bodies a module takes piece by piece, while they arrive.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use tenon_http_server::discard;
use tokio::time::{Instant, timeout};

use super::Runtime;
use super::call::{admitted, caller_of, compute};
use super::in_time::{failed, in_time, in_time_until, timed_out};
use crate::admission::Permit;
use crate::body::arriving::{Arriving, Given};
use crate::body::reading::Reading;
use crate::config::ms;
use crate::executor::compute::Class;
use crate::instance::call::EntryPoint;
use crate::instance::call::direct::{self, Called};
use crate::instance::call::guest_time::GuestTime;
use crate::instance::call::pieces::WIND_UP;
use crate::instance::caller::Caller;
use crate::metering::meter::counted;
use crate::module::Module;
use crate::module::registry::ModuleSlot;
use crate::request::client::{Client, Room};
use crate::request::origin::Origin;
use crate::request::problem::Problem;
use crate::response::ResponseBody;
use crate::tape::Seam;
use crate::telemetry::exchange::Exchange;

impl Runtime {
    /// Asks a module once whether it takes the bodies of requests piece by piece.
    pub(super) async fn takes_pieces(
        &self,
        slot: &Arc<ModuleSlot>,
        module: &Arc<Module>,
        exchange: &Exchange,
    ) -> Result<bool, Problem> {
        let entry = match &module.entry {
            EntryPoint::Direct(entry) => entry,
            EntryPoint::WasiHttp(_) => return Ok(false),
            EntryPoint::Service(_) => return Ok(true),
        };
        if let Some(takes) = entry.takes_pieces() {
            return Ok(takes);
        }
        let permit = admitted(module, self.shared.admission.admit(&slot.permits, None)).await?;
        // No part of the request.
        let caller = Caller { seam: Seam::Live, ..caller_of(module, exchange, Origin::default()) };
        let (runtime, its_module) = (self.clone(), Arc::clone(module));
        let asking = async move {
            let asked = async {
                let mut instance = runtime.instance(&its_module, caller.clone()).await?;
                Ok((direct::takes_pieces(&mut instance).await?, instance))
            };
            let (takes, instance) = in_time(&its_module, &caller, asked).await?;
            its_module.take_back(instance).await;
            drop(permit);
            Ok::<_, Problem>(takes)
        };
        let takes = module.compute.run(Class::STREAM, asking).await?;
        entry.note_takes_pieces(takes);
        Ok(takes)
    }

    /// Answers a request whose body the module takes piece by piece.
    pub(super) async fn answer_upload<B>(
        &self,
        client: &Client,
        (parts, body): (Parts, B),
        (slot, module): (&Arc<ModuleSlot>, &Arc<Module>),
        origin: Origin,
        exchange: &Exchange,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Problem>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let limits = &module.shared_state.limits;
        let transcript = exchange.transcript.clone();
        let mut arriving = match Arriving::begin(&parts, body, limits, client, room.another(), transcript) {
            Ok(arriving) => arriving,
            Err((body, problem)) => {
                discard(&parts.headers, body, ms(limits.body_timeout_ms)).await;
                return Err(problem);
            }
        };
        let admitting = self.shared.admission.admit_upload(&slot.permits, origin.network(&self.shared.trusted_proxies));
        let mut permit = match admitted(module, admitting).await {
            Ok(permit) => permit,
            Err(problem) => {
                arriving.leave().await;
                return Err(problem);
            }
        };
        let meter = self.meter(&mut permit, slot, module, exchange);
        arriving.metered_by(meter.clone());
        let caller = Caller { meter: meter.clone(), ..caller_of(module, exchange, origin) };
        let request = Request::from_parts(parts, ());
        let (runtime, its_module) = (self.clone(), Arc::clone(module));
        let call = |mut room| async move {
            let called = async {
                match its_module.entry {
                    EntryPoint::Service(_) => {
                        runtime.call_service_upload(&its_module, &caller, request, arriving, permit).await
                    }
                    _ => runtime.call_upload(&its_module, &caller, request, arriving, permit, &mut room).await,
                }
            };
            let called = counted(meter.as_ref(), called).await;
            (called, room)
        };
        compute(module, Class::STREAM, room, call).await
    }

    /// Calls a service that reads the request's body while it arrives. The time limit holds for the time in which the service
    /// does not wait for its client.
    async fn call_service_upload(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        request: Request<()>,
        arriving: Arriving,
        permit: Permit,
    ) -> Result<Response<ResponseBody>, Problem> {
        let limit = ms(module.shared_state.limits.request_timeout_ms);
        let (body, progress) = Reading::new(arriving);
        let request = request.map(|()| body.boxed_unsync());
        tokio::select! {
            // The problem is the answer, and the guest ends with its call.
            biased;
            ended = progress.ends(limit) => Err(ended.unwrap_or_else(|| timed_out(module, caller))),
            called = self.call_service(module, caller, request, permit) => {
                called.map_err(|failure| failed(module, caller, failure))
            }
        }
    }

    /// Calls a module, and again with each part of the body that it waits for, until its response or the start of that is
    /// there. The time limit holds for all of these calls together ([`GuestTime`]).
    async fn call_upload(
        &self,
        module: &Arc<Module>,
        caller: &Caller,
        request: Request<()>,
        mut arriving: Arriving,
        permit: Permit,
        room: &mut Room,
    ) -> Result<Response<ResponseBody>, Problem> {
        let limits = &module.shared_state.limits;
        let head = request.method() == Method::HEAD;
        let mut time = GuestTime::new(ms(limits.request_timeout_ms));
        let begun = async {
            let mut instance = self.instance(module, caller.clone()).await?;
            Ok((direct::begin(&mut instance, request, limits).await?, instance))
        };
        let (mut called, mut instance) = in_time_until(module, caller, time.ends(), begun).await?;
        loop {
            let wanted = match called {
                Called::Waits(wanted) => wanted,
                Called::Streamed(start) => {
                    return Ok(self.stream(module, caller, start, head, (instance, permit, Some(arriving))));
                }
                Called::Whole(response) => {
                    let finished = Self::finish_whole(module, response, instance, permit, room);
                    let response = in_time(module, caller, finished).await;
                    arriving.leave().await;
                    return response;
                }
            };
            let waits_since = Instant::now();
            let given = match arriving.give(wanted).await {
                Ok(given) => given,
                Err(problem) => {
                    // The module cleans up, and the client gets the problem in place of its response.
                    let broken = direct::give(&mut instance, Given::Broken, head, limits);
                    if let Ok(Ok(Called::Whole(_))) = timeout(WIND_UP, broken).await {
                        module.take_back(instance).await;
                    } else {
                        drop(instance);
                    }
                    // After the instance, so that whoever has the permit next finds a slot.
                    drop(permit);
                    arriving.leave().await;
                    return Err(problem);
                }
            };
            time.waited(waits_since, &given);
            if time.is_over() {
                return Err(timed_out(module, caller));
            }
            let giving = direct::give(&mut instance, given, head, limits);
            called = in_time_until(module, caller, time.ends(), giving).await?;
            arriving.taken();
            // A guest that asks again at once must not keep others from running.
            tokio::task::yield_now().await;
        }
    }
}
