//! The types of both interfaces, generated from the WIT.

#[allow(missing_docs, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        inline: "package tenon:runtime; world calls { import sdk:core/calls@0.1.0; import sdk:core/log@0.1.0; }",
        path: "../../wit",
        world: "tenon:runtime/calls",
    });
}

pub(super) use bindings::sdk::core::calls::{Bodies, Failure, Header, Piece, Reason, Request, Response};
pub(super) use bindings::sdk::core::log::Output;

pub(super) type Outcome = Result<Response, Failure>;

pub(super) fn failure(reason: Reason, detail: impl Into<String>) -> Failure {
    Failure { reason, detail: detail.into() }
}
