//! The labels of metrics. Values are bounded: names of modules and sidecars, known methods, statuses.

use http::Method;
use prometheus_client::encoding::EncodeLabelSet;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ModuleLabel {
    pub(super) module: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct RequestLabels {
    module: String,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct SidecarLabels {
    pub(super) module: String,
    pub(super) sidecar: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct CallLabels {
    pub(super) module: String,
    pub(super) sidecar: String,
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct NotRecordedLabels {
    pub(super) module: String,
    pub(super) reason: &'static str,
}

impl RequestLabels {
    pub(super) fn new(module: &str, method: &Method, status: u16) -> Self {
        Self { module: module.to_string(), method: known(method), status }
    }
}

/// A method that clients cannot make up new ones of, each of which would be counted apart.
pub(super) fn known(method: &Method) -> &'static str {
    const KNOWN: [(&Method, &str); 7] = [
        (&Method::GET, "GET"),
        (&Method::POST, "POST"),
        (&Method::PUT, "PUT"),
        (&Method::DELETE, "DELETE"),
        (&Method::PATCH, "PATCH"),
        (&Method::HEAD, "HEAD"),
        (&Method::OPTIONS, "OPTIONS"),
    ];
    KNOWN.iter().find(|(each, _)| *each == method).map_or("other", |(_, name)| name)
}
