//! Transactions of sidecars that a request has begun. Those that are still open when its instance ends are rolled back.
//!
//! A sidecar of SQL names a transaction in a header when it begins and when it ends (`crates/services/sql/src/transactions.rs`).
//! The instance may end in any way: with its answer, by a trap, in time, or because its client has gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use tenon_transport::Transport;
use tokio::runtime::Handle;
use wasmtime_wasi_http::WasiBody;

use crate::instance::whole_body::whole;

/// The path at which a transaction begins, and is rolled back.
const PATH: &str = "/sql/transaction";

const TRANSACTION: HeaderName = HeaderName::from_static(tenon_abi::TRANSACTION);

const ENDED: HeaderName = HeaderName::from_static("tenon-transaction-ended");

/// Transactions of one request that are remembered; sidecars roll others back by themselves after a while.
const MOST: usize = 16;

/// The transactions of one request. Dropping it rolls back those that are open.
#[derive(Default)]
pub(crate) struct Transactions(Option<Arc<Shared>>);

#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    open: Vec<Open>,
    /// The instance has ended: a new transaction is rolled back at once.
    has_ended: bool,
}

struct Open {
    id: HeaderValue,
    uri: Uri,
    authorization: Option<HeaderValue>,
    transport: Transport<WasiBody>,
    handle: Handle,
}

/// A call that may begin or end a transaction.
pub(crate) struct Call {
    shared: Arc<Shared>,
    /// Where it begins one.
    begins: Option<(Uri, Option<HeaderValue>)>,
}

impl Transactions {
    /// Looks at a call before it is sent. None when it has nothing to do with transactions, as most have.
    pub(crate) fn call<B>(&mut self, request: &mut Request<B>) -> Option<Call> {
        let begins = request.method() == Method::POST && request.uri().path() == PATH;
        let shared = if begins { self.0.get_or_insert_default() } else { self.0.as_ref()? };
        let begins = begins.then(|| {
            // A request has one at a time.
            if let Some(outer) = shared.state().open.iter().find(|open| is_beside(&open.uri, request.uri())) {
                request.headers_mut().insert(TRANSACTION, outer.id.clone());
            }
            (request.uri().clone(), request.headers().get(AUTHORIZATION).cloned())
        });
        Some(Call { shared: Arc::clone(shared), begins })
    }

    /// Reports whether the request has begun one.
    #[cfg(test)]
    pub(crate) fn has_any(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Transactions {
    fn drop(&mut self) {
        let Some(shared) = self.0.take() else { return };
        let mut state = shared.state();
        state.has_ended = true;
        state.open.drain(..).for_each(Open::roll_back);
    }
}

impl Call {
    /// Looks at the answer of a call.
    pub(crate) fn answered(self, status: StatusCode, headers: &HeaderMap, transport: &Transport<WasiBody>) {
        let mut state = self.shared.state();
        if let Some(ended) = headers.get(ENDED) {
            state.open.retain(|open| open.id != ended);
        }
        let Some((uri, authorization)) = self.begins.filter(|_| status == StatusCode::CREATED) else { return };
        let (Some(id), Ok(handle)) = (headers.get(TRANSACTION), Handle::try_current()) else { return };
        let open = Open { id: id.clone(), uri, authorization, transport: transport.clone(), handle };
        if state.has_ended {
            open.roll_back();
        } else if state.open.len() < MOST {
            state.open.push(open);
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn roll_back(self) {
        let Self { id, uri, authorization, transport, handle } = self;
        handle.spawn(async move {
            let mut request = Request::new(whole(Bytes::new()));
            *request.method_mut() = Method::DELETE;
            request.headers_mut().insert(TRANSACTION, id);
            if let Some(authorization) = authorization {
                request.headers_mut().insert(AUTHORIZATION, authorization);
            }
            let Ok(route) = transport.route(&uri) else { return };
            *request.uri_mut() = uri;
            if let Err(error) = transport.send(&route, request, None).await {
                tracing::warn!("a transaction could not be rolled back, and ends in time by itself: {error}");
            }
        });
    }
}

/// Reports whether two calls go to the same place.
fn is_beside(one: &Uri, other: &Uri) -> bool {
    one.scheme() == other.scheme() && one.authority() == other.authority()
}
