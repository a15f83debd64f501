//! Sidecars in this process, by the addresses under which runtimes of this process are given them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use http_body_util::BodyExt;
use tenon_services::InProcessSidecar;
use tenon_transport::{Address, AddressError, InProcess};

static SIDECARS: Mutex<Option<HashMap<String, InProcess>>> = Mutex::new(None);

/// A sidecar that runtimes are given, until it is dropped. Those that were given it keep it.
pub(crate) struct Offered {
    pub(crate) address: String,
    pub(crate) sidecar: InProcessSidecar,
}

impl Offered {
    pub(crate) fn new(sidecar: InProcessSidecar) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let address = format!("process:{}", LAST.fetch_add(1, Ordering::Relaxed));
        let given = sidecar.clone();
        let answer = move |request| {
            let answering = given.clone().answer(request);
            async move { answering.await.map(|body| body.map_err(Into::into).boxed_unsync()) }
        };
        sidecars().get_or_insert_default().insert(address.clone(), InProcess::new(answer));
        Self { address, sidecar }
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        if let Some(sidecars) = &mut *sidecars() {
            sidecars.remove(&self.address);
        }
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
