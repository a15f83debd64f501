//! The target of a request: a module, or an answer of the runtime itself.

use std::sync::Arc;

use bytes::Bytes;
use http::header::HOST;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{Method, Response, StatusCode};

use super::Runtime;
use crate::module::Module;
use crate::module::registry::{ModuleSlot, State};
use crate::request::client::Serves;
use crate::request::limits;
use crate::request::origin::Origin;
use crate::request::problem::Problem;
use crate::request::route::{Route, below_prefix, with_path};
use crate::request::target::{Target, name_host};
use crate::response::ResponseBody;
use crate::telemetry::exchange::Exchange;
use crate::telemetry::metrics::Format;

/// The target of a request.
pub(super) enum Found {
    Module(Arc<ModuleSlot>, Arc<Module>),
    /// An answer of the runtime itself.
    Page(Box<Response<ResponseBody>>),
}

impl Runtime {
    /// Finds the target of a request by its head. From here on, the path of a module's request is the one that the
    /// module sees.
    pub(super) fn find(
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
}

/// The answer to `OPTIONS *`, which asks whether there is a server.
fn no_content() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
