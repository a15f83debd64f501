//! What an instance finds outside itself: the state in its store, and its way out.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt;
use tenon_transport::{SendError, Transport};
use wasmtime::component::ResourceTable;
use wasmtime::{StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, Result, WasiBody, WasiHttpCtx,
    WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use crate::guest_log::GuestLog;

/// The part of a store's state that all instances of a runtime share.
pub(crate) struct Surroundings {
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) transport: Transport<WasiBody>,
    pub(crate) memory_limit_bytes: usize,
}

/// The state of one store, made for one request and dropped with it.
pub(crate) struct Host {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    egress: Egress,
    table: ResourceTable,
    pub(crate) limits: StoreLimits,
}

impl Host {
    /// No files, no sockets, no arguments: the environment that was configured, and log lines that lead to `module` and
    /// `request_id`.
    pub(crate) fn new(surroundings: &Arc<Surroundings>, module: &Arc<str>, request_id: &Arc<str>) -> Self {
        let log = GuestLog::new(Arc::clone(module), Arc::clone(request_id));
        let wasi = WasiCtx::builder().envs(&surroundings.environment).stdout(log.clone()).stderr(log).build();
        Self {
            wasi,
            http: WasiHttpCtx::new(),
            egress: Egress { surroundings: Arc::clone(surroundings), module: Arc::clone(module) },
            table: ResourceTable::new(),
            limits: StoreLimitsBuilder::new().memory_size(surroundings.memory_limit_bytes).build(),
        }
    }
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Host {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.egress }
    }
}

/// Whether HTTP, or this host, keeps a header to itself (RFC 9110, section 7.6.1): hop-by-hop ones and `host`.
pub(crate) fn is_forbidden(name: &http::HeaderName) -> bool {
    DEFAULT_FORBIDDEN_HEADERS.contains(name)
}

/// An instance's outbound HTTP: sidecars, and a refusal for everything else.
struct Egress {
    surroundings: Arc<Surroundings>,
    module: Arc<str>,
}

impl WasiHttpHooks for Egress {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<()>> + Send>,
    ) -> Box<dyn Future<Output = Result<Answer>> + Send> {
        let transport = self.surroundings.transport.clone();
        let module = Arc::clone(&self.module);
        Box::new(async move {
            let timeout = options.and_then(|options| options.first_byte_timeout);
            let sent = transport.send(request);
            let response = match timeout {
                Some(timeout) => tokio::time::timeout(timeout, sent).await.map_err(|_| Error::ConnectionReadTimeout)?,
                None => sent.await,
            };
            let response = response.map_err(|error| {
                tracing::warn!(module = &*module, "outbound request failed: {error}");
                match error {
                    SendError::Refused { .. } => Error::HttpRequestDenied,
                    SendError::Connect(_) => Error::ConnectionRefused,
                    _ => Error::ConnectionTerminated,
                }
            })?;
            let done: Box<dyn Future<Output = Result<()>> + Send> = Box::new(async { Ok(()) });
            Ok((response.map(|body| body.map_err(Error::from).boxed_unsync()), done))
        })
    }
}

/// A response, and a future that ends when its connection has nothing more to say.
type Answer = (http::Response<WasiBody>, Box<dyn Future<Output = Result<()>> + Send>);

/// A whole body in the form that `wasi:http` takes.
pub(crate) fn whole(bytes: Bytes) -> WasiBody {
    http_body_util::Full::new(bytes).map_err(Error::from).boxed_unsync()
}
