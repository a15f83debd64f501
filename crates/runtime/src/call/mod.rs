//! Calling a module: one way for each interface that it may export. Both give a response, or a [`Failure`] that says
//! what became of the call.

pub(crate) mod direct;
pub(crate) mod wasi_http;

use std::sync::Arc;

use wasmtime::{Engine, Store};

use crate::host::{Host, Surroundings};

/// Why a call gave no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The guest trapped, or ended without an answer.
    Trap(wasmtime::Error),
    /// The guest's answer is none that HTTP allows.
    InvalidResponse(&'static str),
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error)
    }
}

/// A store for one request. A guest that computes yields once an epoch, so that it starves nobody and so that dropping
/// the call's future ends it.
fn store(engine: &Engine, surroundings: &Arc<Surroundings>, module: &Arc<str>, request_id: &Arc<str>) -> Store<Host> {
    let mut store = Store::new(engine, Host::new(surroundings, module, request_id));
    store.limiter(|host| &mut host.limits);
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    store
}
