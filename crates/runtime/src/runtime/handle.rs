//! The answer to each request, whatever becomes of it.

use bytes::Bytes;
use http::header::HeaderValue;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tenon_http_server::discard;

use super::Runtime;
use crate::config::ms;
use crate::request::client::Client;
use crate::request::origin::Peer;
use crate::request::problem::Problem;
use crate::request::request_id;
use crate::request::route::Route;
use crate::response::ResponseBody;
use crate::telemetry::exchange::Exchange;

impl Runtime {
    /// Answers one request, whatever becomes of it: failures are responses too. Each answer carries `X-Request-Id`.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.handle_for(&self.shared.program, request).await
    }

    /// Answers one request that reached the program on a connection of its own, as [`Self::handle`] does.
    pub async fn handle_from<B>(&self, peer: Peer, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.handle_for(&self.shared.program.on_behalf_of(Some(peer)), request).await
    }

    /// Reports whether a request is for a module, whatever its state is, and not for the runtime itself or for nobody.
    #[must_use]
    pub fn is_for_module(&self, peer: Option<Peer>, parts: &Parts) -> bool {
        match Route::of(&parts.uri) {
            Route::Module { name, .. } => self.shared.registry.get(name).is_some() || self.shared.pages.is_broken(name),
            Route::None => {
                let origin = self.shared.program.on_behalf_of(peer).origin(parts, &self.shared.trusted_proxies);
                self.shared.registry.mounted(origin.host(), parts.uri.path()).is_some()
            }
            _ => false,
        }
    }

    /// Answers one request of a client.
    pub(crate) async fn handle_for<B>(&self, client: &Client, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut exchange = Exchange::begin(&self.shared.telemetry, &request);
        let (parts, body) = request.into_parts();
        let mut is_gone = false;
        let mut response = match client.request(&parts) {
            Ok(mut room) => {
                let answered = self.answer(client, parts, body, &mut exchange, &mut room).await;
                is_gone = matches!(answered, Err(Problem::ClientGone));
                let mut response = answered.unwrap_or_else(|problem| {
                    room.clear();
                    explain(&problem, &exchange.id)
                });
                response.body_mut().set_room(room);
                response
            }
            Err(problem) if Client::must_send_all(parts.version) => {
                discard(&parts.headers, body, ms(self.shared.limits.body_timeout_ms)).await;
                explain(&problem, &exchange.id)
            }
            // A stream that waits for its client would take memory, and there is none for it.
            Err(problem) => explain(&problem, &exchange.id).map(|_| ResponseBody::from(Bytes::new())),
        };
        if let Ok(value) = HeaderValue::from_str(&exchange.id) {
            response.headers_mut().insert(request_id::HEADER, value);
        }
        if let Some(transcript) = &exchange.transcript {
            transcript.answer(&response);
            response.body_mut().record(transcript);
        }
        if is_gone {
            // One that went away in its upload is noted as all others that did.
            drop(exchange);
        } else {
            let status = response.status();
            response.body_mut().finish(exchange, status);
        }
        response
    }
}

fn explain(problem: &Problem, request_id: &str) -> Response<ResponseBody> {
    problem.log(request_id);
    problem.response(request_id).map(ResponseBody::from)
}
