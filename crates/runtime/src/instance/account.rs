//! The one sum of the bytes that the host holds for a request (`max_held_bytes`).
//!
//! Everything outside of the resource table has a [`Charge`], taken before the bytes are held and given back when it is
//! dropped. The table has one charge for all of its resources ([`TableCharge`]). Growth is added to that at once. Resources that a
//! guest lets go are found by measuring the table anew, at the latest when the sum would pass its limit.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::component::ResourceTable;
use wasmtime_wasi_http::p2::types::{HostIncomingResponse, HostOutgoingRequest, HostOutgoingResponse};
use wasmtime_wasi_http::{FieldMap, p2, p3};

/// Bytes of a resource besides its contents: its entries in the tables of the host and the guest, and its state.
pub(crate) const RESOURCE_BYTES: usize = 512;

/// Bytes of a header besides its name and its value: its place in a map, which grows by doubling.
pub(crate) const FIELD_BYTES: usize = 256;

/// Bytes of an outbound call besides its headers and bodies: its task, and the buffers of its connection.
pub(crate) const CALL_BYTES: usize = 16 * 1024;

/// Bytes of a task, stream or future of a service of WASI 0.3.
pub(crate) const TASK_BYTES: usize = 4 * 1024;

/// The largest piece of a guest's body that the host holds until the other side takes it, in bytes. A body that can be
/// written counts as many.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

/// The name of the limit.
pub(crate) const LIMIT: &str = "max_held_bytes";

/// The table is measured anew after growth of this part of the limit.
const MEASURED_AFTER: usize = 8;

/// The bytes that are held for one request. Clones share them.
#[derive(Clone)]
pub(crate) struct Account(Arc<Sum>);

struct Sum {
    most: usize,
    held: AtomicUsize,
    /// The most that were held at once, by any request that notes it here.
    #[cfg(test)]
    peak: Arc<AtomicUsize>,
}

impl Account {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Sum {
            most,
            held: AtomicUsize::new(0),
            #[cfg(test)]
            peak: Arc::default(),
        }))
    }

    /// The same, which notes the most that it has held.
    #[cfg(test)]
    pub(crate) fn noting(most: usize, peak: &Arc<AtomicUsize>) -> Self {
        Self(Arc::new(Sum { most, held: AtomicUsize::new(0), peak: Arc::clone(peak) }))
    }

    /// The limit.
    pub(crate) fn most(&self) -> usize {
        self.0.most
    }

    /// A charge of nothing, which can grow.
    pub(crate) fn charge(&self) -> Charge {
        Charge { account: self.clone(), bytes: 0 }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let Sum { most, held, .. } = &*self.0;
        let more = |held: usize| held.checked_add(bytes).filter(|all| all <= most);
        let taken = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        #[cfg(test)]
        if let Ok(before) = taken {
            self.0.peak.fetch_max(before + bytes, Ordering::Relaxed);
        }
        taken.is_ok()
    }
}

/// Bytes that are held. They are given back when it is dropped.
pub(crate) struct Charge {
    account: Account,
    bytes: usize,
}

impl Charge {
    /// Holds more. False when the sum would pass the limit; then nothing is added.
    #[must_use]
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let taken = self.account.take(bytes);
        if taken {
            self.bytes += bytes;
        }
        taken
    }

    /// Holds less.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.account.0.held.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The limit of the sum.
    pub(crate) fn most(&self) -> usize {
        self.account.most()
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

/// The charge of all resources of one table.
pub(crate) struct TableCharge {
    charge: Charge,
    /// Bytes that have been added since the table was measured.
    added: usize,
}

impl TableCharge {
    pub(crate) fn new(account: &Account) -> Self {
        Self { charge: account.charge(), added: 0 }
    }

    /// Charges growth of the table that is about to happen. False when the sum would pass the limit.
    #[must_use]
    pub(crate) fn grow(&mut self, bytes: usize, table: &mut ResourceTable) -> bool {
        self.added = self.added.saturating_add(bytes);
        let is_due = self.added > self.charge.account.most() / MEASURED_AFTER;
        if !is_due && self.charge.grow(bytes) {
            return true;
        }
        self.measure(table) && self.charge.grow(bytes)
    }

    /// Measures the table anew. False when it alone has passed the limit.
    pub(crate) fn measure(&mut self, table: &mut ResourceTable) -> bool {
        self.added = 0;
        let held = table.iter_mut().fold(0, |sum: usize, resource| sum.saturating_add(weight(resource)));
        let before = self.charge.bytes();
        if held <= before {
            self.charge.shrink(before - held);
            return true;
        }
        self.charge.grow(held - before)
    }
}

/// The bytes of a resource.
fn weight(resource: &(dyn Any + Send)) -> usize {
    let resource: &dyn Any = resource;
    let contents = if let Some(fields) = resource.downcast_ref::<FieldMap>() {
        fields_weight(fields)
    } else if let Some(request) = resource.downcast_ref::<HostOutgoingRequest>() {
        let texts = [&request.authority, &request.path_with_query];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        let method = match &request.method {
            p2::bindings::http::types::Method::Other(name) => name.len(),
            _ => 0,
        };
        let scheme = match &request.scheme {
            Some(p2::bindings::http::types::Scheme::Other(name)) => name.len(),
            _ => 0,
        };
        fields_weight(&request.headers) + texts + method + scheme + body_weight(request.body.is_some())
    } else if let Some(response) = resource.downcast_ref::<HostOutgoingResponse>() {
        fields_weight(&response.headers) + body_weight(response.body.is_some())
    } else if let Some(response) = resource.downcast_ref::<HostIncomingResponse>() {
        fields_weight(&response.headers)
    } else if let Some(request) = resource.downcast_ref::<p3::Request>() {
        let path = request.path_with_query.as_ref().map_or(0, |path| path.as_str().len());
        let authority = request.authority.as_ref().map_or(0, |authority| authority.as_str().len());
        let scheme = request.scheme.as_ref().map_or(0, |scheme| scheme.as_str().len());
        fields_weight(&request.headers) + path + authority + scheme + request.method.as_str().len()
    } else if let Some(response) = resource.downcast_ref::<p3::Response>() {
        fields_weight(&response.headers)
    } else {
        0
    };
    RESOURCE_BYTES + contents
}

fn body_weight(has_body: bool) -> usize {
    if has_body { PIECE_BYTES } else { 0 }
}

/// The bytes of headers. Copies of one map count each, because each may be changed.
pub(crate) fn fields_weight(fields: &http::HeaderMap) -> usize {
    fields.iter().map(|(name, value)| field_weight(name.as_str().len(), value.len())).sum()
}

/// The bytes of one header.
pub(crate) fn field_weight(name: usize, value: usize) -> usize {
    name.saturating_add(value).saturating_add(FIELD_BYTES)
}

/// The error of a guest for which the host would hold too much.
pub(crate) fn beyond(most: usize) -> wasmtime::Error {
    wasmtime::format_err!("the host would hold more than {most} bytes for this request ({LIMIT})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_of_one_account_have_one_limit_and_are_given_back() {
        let account = Account::new(100);
        let (mut one, mut other) = (account.charge(), account.charge());
        assert!(one.grow(60) && other.grow(40) && !one.grow(1) && !other.grow(usize::MAX));
        drop(one);
        assert!(other.grow(60));
        other.shrink(1_000);
        assert_eq!((account.held(), account.peak()), (0, 100));
    }

    #[test]
    fn a_table_is_charged_for_its_resources_and_for_their_contents() {
        let account = Account::new(10 * RESOURCE_BYTES);
        let mut charge = TableCharge::new(&account);
        let mut table = ResourceTable::new();
        let mut kept = Vec::new();
        for _ in 0..20 {
            if charge.grow(RESOURCE_BYTES, &mut table) {
                kept.push(table.push(()).unwrap());
            }
        }
        assert_eq!(kept.len(), 10);
        for resource in kept.drain(1..) {
            table.delete(resource).unwrap();
        }
        let mut fields = FieldMap::new_mutable(1 << 20);
        assert!(charge.grow(field_weight(1, 1_000) + RESOURCE_BYTES, &mut table), "what was let go is found");
        fields.append_raw("a".parse().unwrap(), "b".repeat(1_000).parse().unwrap()).unwrap();
        table.push(fields).unwrap();
        assert!(charge.measure(&mut table));
        assert_eq!(account.held(), 2 * RESOURCE_BYTES + field_weight(1, 1_000));
    }
}
