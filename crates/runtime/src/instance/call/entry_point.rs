//! The interface by which a component is called, once it is linked.

use wasmtime::Engine;
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p3::bindings::ServicePre;

use super::direct_entry::DirectEntry;
use crate::instance::host::Host;

/// How a component is called.
pub(crate) enum EntryPoint {
    /// It exports `sdk:core/handler`, alone or composed by Tenon: no bridge in between, no streams.
    Direct(DirectEntry),
    /// It exports `wasi:http/incoming-handler` only: composed or made by somebody else's tools.
    WasiHttp(ProxyPre<Host>),
    /// It exports `wasi:http/handler` of WASI 0.3.
    Service(ServicePre<Host>),
}

impl EntryPoint {
    pub(crate) fn engine(&self) -> &Engine {
        match self {
            Self::Direct(pre) => pre.engine(),
            Self::WasiHttp(pre) => pre.engine(),
            Self::Service(pre) => pre.engine(),
        }
    }

    #[cfg(test)]
    pub(crate) fn component(&self) -> &wasmtime::component::Component {
        match self {
            Self::Direct(entry) => entry.component(),
            Self::WasiHttp(pre) => pre.instance_pre().component(),
            Self::Service(pre) => pre.instance_pre().component(),
        }
    }
}
