//! `tenon-compose` for Node.

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;

use crate::failure::{Failure, compute, promise};

/// Composes a handler component with the bridge (or with `bridge`, when given) into a component that every `wasi:http`
/// server can run. Rejects with a code: `NOT_A_COMPONENT`, `ALREADY_COMPOSED`, `MISSING_INTERFACE`,
/// `DIFFERENT_INTERFACE`, `NOT_A_BRIDGE` or `WIRING`.
#[napi]
pub fn compose<'env>(env: &'env Env, handler: Buffer, bridge: Option<Buffer>) -> Result<PromiseRaw<'env, Buffer>> {
    let composed = compute(move || {
        let bridge: &[u8] = bridge.as_ref().map_or(tenon_compose::BRIDGE, |bridge| bridge);
        tenon_compose::compose(&handler, bridge).map_err(Failure::from)
    });
    promise(env, composed, Buffer::from)
}

/// The bridge that `compose` uses: a component for a manual `wac plug bridge.wasm --plug handler.wasm`.
#[napi]
pub fn bridge() -> Buffer {
    Buffer::from(tenon_compose::BRIDGE)
}

/// The names of a component's imports and exports.
#[napi(object, object_from_js = false)]
pub struct ComponentInterfaces {
    pub imports: Vec<String>,
    pub exports: Vec<String>,
}

/// Reads the names of a component's imports and exports. Rejects with `NOT_A_COMPONENT`.
#[napi]
pub fn interfaces_of<'env>(env: &'env Env, component: Buffer) -> Result<PromiseRaw<'env, ComponentInterfaces>> {
    let interfaces = compute(move || tenon_compose::interfaces(&component).map_err(Failure::from));
    promise(env, interfaces, |found| ComponentInterfaces { imports: found.imports, exports: found.exports })
}
