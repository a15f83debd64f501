//! Deltas of components, from `tenon-rewrite`, for Node.

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_rewrite::delta;

use crate::failure::{Failure, compute, promise};

/// Compresses a component, with matches in `base`; an empty base has none. The same arguments give the same bytes. Rejects with
/// `DELTA`.
#[napi]
pub fn compress_delta<'env>(env: &'env Env, component: Buffer, base: Buffer) -> Result<PromiseRaw<'env, Buffer>> {
    let delta = compute(move || delta::compress(&component, &base).map_err(Failure::from));
    promise(env, delta, Buffer::from)
}

/// Expands the result of `compressDelta` with the same base, to `limit` bytes at most. Another base may give other bytes
/// without an error. Rejects with `DELTA`.
#[napi]
pub fn expand_delta<'env>(env: &'env Env, delta: Buffer, base: Buffer, limit: u32) -> Result<PromiseRaw<'env, Buffer>> {
    let limit = limit as usize;
    let component = compute(move || delta::expand(&delta, &base, limit).map_err(Failure::from));
    promise(env, component, Buffer::from)
}

/// The engine's code and everything else that all components of one engine have in common; null for a component without code.
/// Rejects with `DELTA` when it is damaged.
#[napi]
pub fn engine_of<'env>(env: &'env Env, component: Buffer) -> Result<PromiseRaw<'env, Option<Buffer>>> {
    let engine = compute(move || delta::engine_of(&component).map_err(Failure::from));
    promise(env, engine, |engine| engine.map(Buffer::from))
}
