//! What an instance finds outside itself: the state in its store.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use http_body_util::BodyExt;
use tenon_transport::Transport;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{Error, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::bounds::Bounds;
use crate::config::{Limits, size};
use crate::egress::Egress;
use crate::guest_log::GuestLog;
use crate::metrics::Metrics;
use crate::module::ModuleInfo;

/// The part of a store's state that all instances of a runtime share.
pub(crate) struct Surroundings {
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) transport: Transport<WasiBody>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Arc<Metrics>,
}

/// The request on whose behalf an instance runs.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) request_id: Arc<str>,
    /// Its place in a trace (W3C Trace Context), passed on to whoever is called for it.
    pub(crate) traceparent: Option<HeaderValue>,
}

/// The state of one store.
pub(crate) struct Host {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    egress: Egress,
    log: GuestLog,
    table: ResourceTable,
    pub(crate) bounds: Bounds,
}

impl Host {
    /// No files, no sockets, no arguments: the environment that was configured, and log lines that lead to the module and
    /// the request.
    pub(crate) fn new(surroundings: &Arc<Surroundings>, module: &Arc<ModuleInfo>, caller: Caller) -> Self {
        let limits = &surroundings.limits;
        let log = GuestLog::new(Arc::clone(module), Arc::clone(&caller.request_id), size(limits.max_log_bytes));
        let wasi = WasiCtx::builder().envs(&surroundings.environment).stdout(log.clone()).stderr(log.clone()).build();
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(size(limits.max_fields_bytes));
        let mut table = ResourceTable::new();
        table.set_max_capacity(size(limits.max_resources));
        let egress = Egress::new(surroundings, module, caller);
        Self { wasi, http, egress, log, table, bounds: Bounds::new(limits) }
    }

    /// The instance goes on with another request.
    pub(crate) fn begin(&mut self, caller: Caller) {
        self.log.begin(Arc::clone(&caller.request_id));
        self.egress.begin(caller);
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

/// A whole body in the form that `wasi:http` takes.
pub(crate) fn whole(bytes: Bytes) -> WasiBody {
    http_body_util::Full::new(bytes).map_err(Error::from).boxed_unsync()
}
