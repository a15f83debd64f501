//! Transactions that stay open between requests, each on a connection of its own.
//!
//! `POST /sql/transaction` begins one and answers its id. Statements name it in the header `tenon-transaction`, and
//! `POST /sql/transaction/commit` or `DELETE /sql/transaction` ends it. An id is 128 random bits, and good only with
//! the bearer token that began it. A transaction is rolled back when a statement fails, when its client disconnects
//! during a statement, and when a time limit has passed: between two statements, or in total.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use tenon_service::Limits;
use tenon_service::lease::secret_id;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::{Failed, Isolation, SqlAnswer, SqlError, SqlRequest, SqlStore};

/// Names the transaction of a statement, and in the answer a newly begun one.
pub(super) const TRANSACTION: HeaderName = HeaderName::from_static(tenon_abi::TRANSACTION);

/// Names the ended transaction in an answer.
pub(super) const ENDED: HeaderName = HeaderName::from_static("tenon-transaction-ended");

/// The open transactions. Cloning shares them.
pub(super) struct Transactions<S: SqlStore>(Arc<Inner<S>>);

impl<S: SqlStore> Clone for Transactions<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Inner<S: SqlStore> {
    store: S,
    limits: Limits,
    permits: Arc<Semaphore>,
    open: Mutex<HashMap<String, Open<S>>>,
}

struct Open<S: SqlStore> {
    entry: Arc<Entry<S>>,
    watch: AbortHandle,
}

struct Entry<S: SqlStore> {
    /// Empty once the transaction has ended. Locked while a statement runs.
    slot: tokio::sync::Mutex<Option<OpenTransaction<S>>>,
    authorization: Option<HeaderValue>,
    /// The end of the last statement.
    last: Mutex<Instant>,
    expires: Instant,
}

/// A transaction with its permit. Dropping it rolls back.
struct OpenTransaction<S: SqlStore> {
    transaction: S::Transaction,
    _permit: OwnedSemaphorePermit,
}

impl<S: SqlStore> Transactions<S> {
    pub(super) fn new(store: S, limits: Limits) -> Self {
        let permits = Arc::new(Semaphore::new(store.max_transactions()));
        Self(Arc::new(Inner { store, limits, permits, open: Mutex::default() }))
    }

    /// Begins a transaction, and returns its id. The runtime's headers name the one that the same request has begun:
    /// while that one is open, this is an error.
    pub(super) async fn begin(
        &self,
        isolation: Option<Isolation>,
        foreign_keys: bool,
        headers: &HeaderMap,
    ) -> Result<String, SqlError> {
        let inner = &self.0;
        let outer = headers.get(TRANSACTION).and_then(|id| id.to_str().ok());
        if outer.is_some_and(|id| self.find(id, headers).is_ok()) {
            return Err(SqlError::Nested);
        }
        let permit = timeout(inner.limits.queue_timeout, Arc::clone(&inner.permits).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(SqlError::Busy) };
        let transaction = inner.store.begin(isolation, foreign_keys).await?;
        let id = secret_id().map_err(|error| SqlError::Internal(error.to_string()))?;
        let now = Instant::now();
        let entry = Arc::new(Entry {
            slot: tokio::sync::Mutex::new(Some(OpenTransaction { transaction, _permit: permit })),
            authorization: headers.get(AUTHORIZATION).cloned(),
            last: Mutex::new(now),
            expires: now + inner.limits.transaction_timeout,
        });
        let watch = tokio::spawn(watch(Arc::downgrade(inner), Arc::downgrade(&entry), id.clone())).abort_handle();
        inner.open().insert(id.clone(), Open { entry, watch });
        Ok(id)
    }

    /// Runs statements in a transaction. One that fails ends it.
    pub(super) async fn run(&self, id: &str, headers: &HeaderMap, request: SqlRequest) -> Result<SqlAnswer, Failed> {
        let inner = &self.0;
        let entry = self.find(id, headers).map_err(Failed::before)?;
        let mut slot = entry.slot.lock().await;
        // Taken out while it runs, so that it is dropped when the client disconnects.
        let OpenTransaction { transaction, _permit } = slot.take().ok_or_else(|| Failed::before(SqlError::Ended))?;
        let deadline = entry.expires.min(Instant::now() + inner.limits.statement_timeout);
        match inner.store.run_in(transaction, request, deadline).await {
            Ok((answer, transaction)) => {
                *slot = Some(OpenTransaction { transaction, _permit });
                entry.touch();
                Ok(answer)
            }
            Err(failed) => {
                inner.forget(id);
                Err(failed)
            }
        }
    }

    /// Commits a transaction.
    pub(super) async fn commit(&self, id: &str, headers: &HeaderMap) -> Result<(), SqlError> {
        let held = self.take(id, headers).await?;
        self.0.store.commit(held.transaction).await
    }

    /// Rolls a transaction back.
    pub(super) async fn roll_back(&self, id: &str, headers: &HeaderMap) -> Result<(), SqlError> {
        let held = self.take(id, headers).await?;
        self.0.store.roll_back(held.transaction).await;
        Ok(())
    }

    fn find(&self, id: &str, headers: &HeaderMap) -> Result<Arc<Entry<S>>, SqlError> {
        let open = self.0.open();
        let found = open.get(id).filter(|open| open.entry.authorization.as_ref() == headers.get(AUTHORIZATION));
        found.map(|open| Arc::clone(&open.entry)).ok_or(SqlError::Ended)
    }

    /// Takes a transaction out after its running statement.
    async fn take(&self, id: &str, headers: &HeaderMap) -> Result<OpenTransaction<S>, SqlError> {
        let entry = self.find(id, headers)?;
        let held = entry.slot.lock().await.take();
        self.0.forget(id);
        held.ok_or(SqlError::Ended)
    }
}

impl<S: SqlStore> Inner<S> {
    fn open(&self) -> MutexGuard<'_, HashMap<String, Open<S>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, id: &str) {
        if let Some(open) = self.open().remove(id) {
            open.watch.abort();
        }
    }
}

impl<S: SqlStore> Entry<S> {
    fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// The time of its expiry, unless another statement comes.
    fn ends(&self, limits: &Limits) -> Instant {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.expires.min(last + limits.transaction_idle)
    }
}

/// Rolls a transaction back at its expiry.
async fn watch<S: SqlStore>(inner: Weak<Inner<S>>, entry: Weak<Entry<S>>, id: String) {
    loop {
        let ends = match (inner.upgrade(), entry.upgrade()) {
            (Some(inner), Some(entry)) => entry.ends(&inner.limits),
            _ => return,
        };
        sleep_until(ends).await;
        let (Some(inner), Some(entry)) = (inner.upgrade(), entry.upgrade()) else { return };
        // A running statement ends by its own deadline.
        let mut slot = entry.slot.lock().await;
        if slot.is_some() && Instant::now() < entry.ends(&inner.limits) {
            continue;
        }
        let held = slot.take();
        inner.open().remove(&id);
        if let Some(held) = held {
            tracing::warn!("a transaction was rolled back because its time was over");
            inner.store.roll_back(held.transaction).await;
        }
        return;
    }
}
