//! The way of a request to a module.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tenon_http_server::discard;

use super::Runtime;
use super::call::{admitted, caller_of, compute, within_budget};
use super::find::Found;
use crate::body;
use crate::body::arriving;
use crate::config::ms;
use crate::executor::compute::Class;
use crate::instance::caller::Caller;
use crate::metering::meter::Meter;
use crate::request::client::{Client, Room};
use crate::request::limits;
use crate::request::problem::Problem;
use crate::response::ResponseBody;
use crate::telemetry::exchange::Exchange;

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
        if let Some(transcript) = &exchange.transcript {
            transcript.request_body(&body);
        }
        let network = origin.network(&self.shared.trusted_proxies);
        let mut permit = admitted(module, self.shared.admission.admit(&slot.permits, network)).await?;
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
}
