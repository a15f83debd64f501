//! Sidecars in this process, by the addresses under which runtimes of this process are given them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use http::{Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use tenon_services::InProcessSidecar;
use tenon_transport::{Address, AddressError, InProcess, InProcessBody};

static SIDECARS: Mutex<Option<HashMap<String, InProcess>>> = Mutex::new(None);

/// A sidecar that runtimes are given, until it is dropped. Those that were given it keep it until it is closed.
pub(crate) struct Offered {
    pub(crate) address: String,
    sidecar: Arc<RwLock<Option<InProcessSidecar>>>,
}

impl Offered {
    pub(crate) fn new(sidecar: InProcessSidecar) -> Self {
        let sidecar = Arc::new(RwLock::new(Some(sidecar)));
        let given = Arc::clone(&sidecar);
        let answer = move |request| {
            let sidecar = current(&given);
            async move {
                match sidecar {
                    Some(sidecar) => sidecar.answer(request).await.map(|body| body.map_err(Into::into).boxed_unsync()),
                    None => closed(),
                }
            }
        };
        Self { address: offer(InProcess::new(answer)), sidecar }
    }

    /// The sidecar, unless it is closed.
    pub(crate) fn sidecar(&self) -> Option<InProcessSidecar> {
        current(&self.sidecar)
    }

    /// Leaves the store as soon as the requests that run have ended. Later ones are answered 503.
    pub(crate) fn close(self) {
        *self.sidecar.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn current(sidecar: &RwLock<Option<InProcessSidecar>>) -> Option<InProcessSidecar> {
    sidecar.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn closed() -> Response<InProcessBody> {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

impl Drop for Offered {
    fn drop(&mut self) {
        withdraw(&self.address);
    }
}

/// A function that runtimes are given as a sidecar, until it is dropped.
pub(crate) struct OfferedFunction {
    pub(crate) address: String,
}

impl OfferedFunction {
    pub(crate) fn new(function: InProcess) -> Self {
        Self { address: offer(function) }
    }
}

impl Drop for OfferedFunction {
    fn drop(&mut self) {
        withdraw(&self.address);
    }
}

/// Registers a sidecar, and returns its address.
fn offer(sidecar: InProcess) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let address = format!("process:{}", LAST.fetch_add(1, Ordering::Relaxed));
    sidecars().get_or_insert_default().insert(address.clone(), sidecar);
    address
}

fn withdraw(address: &str) {
    if let Some(sidecars) = &mut *sidecars() {
        sidecars.remove(address);
    }
}

/// The address of a sidecar, here or elsewhere.
pub(crate) fn address(text: &str) -> Result<Address, AddressError> {
    match sidecars().as_ref().and_then(|sidecars| sidecars.get(text)) {
        Some(sidecar) => Ok(Address::InProcess(sidecar.clone())),
        None => Address::parse(text),
    }
}

fn sidecars() -> MutexGuard<'static, Option<HashMap<String, InProcess>>> {
    SIDECARS.lock().unwrap_or_else(PoisonError::into_inner)
}
