//! The way of a request to a module, and of its failures to a response.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, Response};
use http_body::Body;

use super::Runtime;
use crate::admission::Place;
use crate::body::{self, ResponseBody};
use crate::call::{self, Failure, Instance};
use crate::config::{ms, size};
use crate::exchange::Exchange;
use crate::host::Caller;
use crate::metrics::{self, Count};
use crate::module::{Entry, Module, ModuleInfo, Reuse};
use crate::problem::Problem;
use crate::registry::{Slot, State};
use crate::route::{Route, with_path};
use crate::{health, here, limits};

impl Runtime {
    pub(super) async fn answer<B>(
        &self,
        request: Request<B>,
        exchange: &mut Exchange<'_>,
    ) -> Result<Response<ResponseBody>, Problem>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        if let Some((page, listed)) = self.shared.pages.page(parts.uri.path()) {
            exchange.listed = listed;
            return Ok(page.map(ResponseBody::from));
        }
        limits::check_head(&parts, &self.shared.limits)?;
        let (slot, rest) = match Route::of(&parts.uri) {
            Route::Module { name, rest } => {
                if let Some(page) = self.shared.pages.build_error(name, &parts.headers) {
                    return Ok(page.map(ResponseBody::from));
                }
                (self.slot(name)?, rest)
            }
            Route::None => return Err(Problem::NotFound),
            _ if parts.method != Method::GET && parts.method != Method::HEAD => return Err(Problem::MethodNotAllowed),
            Route::Health => return Ok(self.health().await.map(ResponseBody::from)),
            Route::Metrics => return Ok(self.metrics_page()),
        };
        let State::Ready(module) = &slot.state else { return Err(Problem::NotLoaded) };
        exchange.module = Some(Arc::clone(module));
        if !names_one_host(&parts) {
            return Err(Problem::NoHost);
        }
        let body = body::read(&parts.headers, body, &self.shared.limits).await?;
        parts.uri = with_path(parts.uri, rest);
        let place = match self.shared.admission.admit(&slot.places).await {
            Ok(place) => place,
            Err(problem) => {
                module.info.metrics.count(Count::Overloaded);
                return Err(problem);
            }
        };
        let caller = Caller { request_id: Arc::clone(&exchange.id), traceparent: exchange.traceparent.clone() };
        self.call_in_time(module, caller, Request::from_parts(parts, body), place).await
    }

    fn slot(&self, name: &str) -> Result<Arc<Slot>, Problem> {
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
        place: Place,
    ) -> Result<Response<ResponseBody>, Problem> {
        let limit = self.shared.limits.request_timeout_ms;
        let request_id = Arc::clone(&caller.request_id);
        let called = self.call(module, caller, request, place);
        let failure = match tokio::time::timeout(ms(limit), called).await {
            Ok(Ok(response)) => return Ok(response),
            Ok(Err(failure)) => failure,
            Err(_) => {
                let problem = Problem::TimedOut(limit);
                tracing::error!(module = &*module.info.name, request_id = &*request_id, "{problem}");
                module.info.metrics.count(Count::Timeout);
                return Err(problem);
            }
        };
        report(&module.info, &request_id, &failure);
        Err(match failure {
            Failure::InvalidResponse(what) => Problem::InvalidResponse(what),
            Failure::Trap(..) => Problem::Crashed,
            Failure::NoRoom => Problem::Overloaded,
        })
    }

    async fn call(
        &self,
        module: &Arc<Module>,
        caller: Caller,
        request: Request<Bytes>,
        place: Place,
    ) -> Result<Response<ResponseBody>, Failure> {
        let limit = self.shared.limits.max_response_bytes;
        let request_id = Arc::clone(&caller.request_id);
        let mut instance = module.instance(&self.shared.engine, &self.shared.surroundings, caller).await?;
        let module = Arc::clone(module);
        if let Entry::Direct(_) = &module.entry {
            let response = call::direct::call(&mut instance, request, size(limit)).await?;
            let at_once = matches!(module.reuse, Reuse::Shared(_)) || here::is_beginning();
            let take_back = async move {
                module.take_back(instance).await;
                drop(place);
            };
            if at_once {
                // To wake another thread for it, which fetches the memory from this one's caches, takes longer.
                take_back.await;
            } else {
                // Resetting an instance's memory takes a while, and the client need not wait for it.
                tokio::spawn(take_back);
            }
            return Ok(response.map(ResponseBody::from));
        }
        let done = move |ended: Result<Instance, Failure>| match ended {
            Ok(instance) => {
                module.keep(instance);
                drop(place);
            }
            Err(failure) => {
                tracing::error!(
                    module = &*module.info.name,
                    request_id = &*request_id,
                    "what follows came after the answer"
                );
                report(&module.info, &request_id, &failure);
            }
        };
        let response = call::wasi_http::call(instance, request, limit, done).await?;
        Ok(response.map(ResponseBody::from))
    }

    async fn health(&self) -> Response<Bytes> {
        let sidecars = self.shared.surroundings.transport.health().await;
        health::response(self.shared.started.elapsed(), &self.shared.registry.states(), &sidecars)
    }

    fn metrics_page(&self) -> Response<ResponseBody> {
        let mut response = Response::new(ResponseBody::from(Bytes::from(self.metrics())));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
        response
    }
}

/// Logs and counts a failure of a module.
fn report(module: &ModuleInfo, request_id: &str, failure: &Failure) {
    let (name, event) = (
        &*module.name,
        match failure {
            Failure::InvalidResponse(_) => Count::InvalidResponse,
            Failure::Trap(..) => Count::Trap,
            Failure::NoRoom => Count::Overloaded,
        },
    );
    match failure {
        Failure::InvalidResponse(what) => tracing::error!(module = name, request_id, "{what}"),
        Failure::Trap(error, None) => tracing::error!(module = name, request_id, "the module failed: {error:?}"),
        Failure::Trap(error, Some(limit)) => {
            tracing::error!(module = name, request_id, "the module failed after it ran into {limit}: {error:?}");
        }
        Failure::NoRoom => tracing::error!(module = name, request_id, "the pool has no room for another instance"),
    }
    module.metrics.count(event);
}

/// Whether a request says for whom it is, and only once (RFC 9112, section 3.2).
fn names_one_host(parts: &http::request::Parts) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let first = hosts.next();
    hosts.next().is_none() && (first.is_some() || parts.uri.authority().is_some())
}
