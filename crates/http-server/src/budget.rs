//! The byte budget of a server: one limit for all bytes that it holds for its clients.
//!
//! Bytes are reserved as they arrive, and released when the last of them is dropped. A reservation that does not fit
//! waits for a limited time, then fails, and its request is refused. So requests cannot wait for each other forever.
//!
//! Shares follow the scheme of dynamic thresholds (Choudhury and Hahne, 1998). A client may hold as much as is free,
//! and one of its connections half as much as is free. So one greedy client gets half of the budget, two get a third
//! each, and another still has room. Small amounts ([`SMALL`]) of a connection come from the part that greedy ones must
//! leave. Clients that came first may hold more than their fair share when others come. So a client that wants at most
//! an even share and finds no room has the greediest connection closed, if that connection's client holds more.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;

/// Bytes that a connection may hold regardless of its client's other connections, while the client has less than three
/// quarters of the budget.
const SMALL: usize = 64 * 1024;

/// Maximum number of waiting reservations. Another one fails at once, because each release wakes all of them.
const MAX_WAITING: usize = 1024;

/// Maximum number of connections that one reservation may close. Finding them takes longer than a reservation.
const MAX_CLOSED: usize = 4;

/// The byte budget of a server. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    total: usize,
    used: AtomicUsize,
    waiting: AtomicUsize,
    refused: AtomicUsize,
    released: Notify,
    clients: Mutex<HashMap<IpAddr, Connections>>,
}

/// The connections of one client, and their bytes together.
#[derive(Debug, Default)]
struct Connections {
    client: Arc<Client>,
    accounts: Vec<Weak<AccountInner>>,
}

/// One client: an IPv4 address, or the /64 network of an IPv6 address.
#[derive(Debug, Default)]
struct Client {
    used: AtomicUsize,
}

/// The share of one connection, or of the program that embeds the server. Clones share it.
#[derive(Clone, Debug)]
pub struct Account(Arc<AccountInner>);

#[derive(Debug)]
struct AccountInner {
    shared: Arc<Shared>,
    client: Option<(IpAddr, Arc<Client>)>,
    used: AtomicUsize,
    revoked: Notify,
}

/// The client has the maximum number of connections.
#[derive(Debug)]
pub struct TooManyConnections;

impl Budget {
    /// Makes a budget of `total` bytes.
    #[must_use]
    pub fn new(total: usize) -> Self {
        Self(Arc::new(Shared {
            total,
            used: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            released: Notify::new(),
            clients: Mutex::default(),
        }))
    }

    /// Returns the reserved bytes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the number of failed reservations.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.0.refused.load(Ordering::Relaxed)
    }

    /// Returns an account without a client on a network. Only the budget limits it.
    #[must_use]
    pub fn unshared(&self) -> Account {
        Account(Arc::new(AccountInner {
            shared: Arc::clone(&self.0),
            client: None,
            used: AtomicUsize::new(0),
            revoked: Notify::new(),
        }))
    }

    /// Returns the account of one more connection of the client at `address`.
    ///
    /// # Errors
    ///
    /// [`TooManyConnections`] when the client has `max_connections` already.
    pub fn connection(&self, address: IpAddr, max_connections: usize) -> Result<Account, TooManyConnections> {
        let address = network(address);
        let mut clients = self.0.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let connections = clients.entry(address).or_default();
        connections.accounts.retain(|account| account.strong_count() > 0);
        if connections.accounts.len() >= max_connections {
            return Err(TooManyConnections);
        }
        let account = Arc::new(AccountInner {
            shared: Arc::clone(&self.0),
            client: Some((address, Arc::clone(&connections.client))),
            used: AtomicUsize::new(0),
            revoked: Notify::new(),
        });
        connections.accounts.push(Arc::downgrade(&account));
        Ok(Account(account))
    }
}

/// Returns the key of a client. A client with an IPv6 address counts as its whole /64.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

impl Drop for AccountInner {
    fn drop(&mut self) {
        let Some((address, _)) = self.client.take() else { return };
        let mut clients = self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if clients
            .get(&address)
            .is_some_and(|connections| connections.accounts.iter().all(|each| each.strong_count() == 0))
        {
            clients.remove(&address);
        }
    }
}

impl Shared {
    /// Closes the greediest connection for a client at `address` that wants `bytes` more, if it would hold at most an
    /// even share.
    fn make_room(&self, address: IpAddr, bytes: usize) {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let used = |connections: &Connections| connections.client.used.load(Ordering::SeqCst);
        let sharing = clients.iter().filter(|(each, connections)| **each == address || used(connections) > 0).count();
        let even = self.total / sharing.max(1);
        let wanted = clients.get(&address).map_or(0, used).saturating_add(bytes);
        let Some(greediest) = clients.values().max_by_key(|each| used(each)) else { return };
        if wanted > even || used(greediest) <= even {
            return;
        }
        let accounts = greediest.accounts.iter().filter_map(Weak::upgrade);
        let account = accounts.max_by_key(|account| account.used.load(Ordering::SeqCst));
        // The last reference may be this one, and dropping it takes the lock.
        drop(clients);
        if let Some(account) = account {
            account.revoked.notify_one();
        }
    }
}

impl AccountInner {
    /// Adds bytes if they fit. The budget is exact; a share may miss concurrent additions.
    fn take(&self, bytes: usize) -> bool {
        if bytes == 0 {
            return true;
        }
        let total = self.shared.total;
        let with = |held: &AtomicUsize| held.load(Ordering::SeqCst).saturating_add(bytes);
        let fits = |used: usize| {
            let all = used.checked_add(bytes).filter(|all| *all <= total)?;
            let free = total - all;
            let within_share = self.client.as_ref().is_none_or(|(_, client)| {
                let (own, client) = (with(&self.used), with(&client.used));
                (own <= SMALL && client <= total / 4 * 3) || (client <= free && own <= free / 2)
            });
            within_share.then_some(all)
        };
        if self.shared.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fits).is_err() {
            return false;
        }
        self.used.fetch_add(bytes, Ordering::SeqCst);
        if let Some((_, client)) = &self.client {
            client.used.fetch_add(bytes, Ordering::SeqCst);
        }
        true
    }

    fn release(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        if let Some((_, client)) = &self.client {
            client.used.fetch_sub(bytes, Ordering::SeqCst);
        }
        self.used.fetch_sub(bytes, Ordering::SeqCst);
        self.shared.used.fetch_sub(bytes, Ordering::SeqCst);
        if self.shared.waiting.load(Ordering::SeqCst) > 0 {
            self.shared.released.notify_waiters();
        }
    }

    async fn take_within(&self, bytes: usize, timeout: Duration) -> bool {
        if self.take(bytes) {
            return true;
        }
        let _waiting = Waiting::new(&self.shared.waiting);
        let taken = self.shared.waiting.load(Ordering::SeqCst) <= MAX_WAITING
            && (tokio::time::timeout(timeout, self.taken(bytes)).await.is_ok()
                // Others may have given up at the same moment.
                || self.take(bytes));
        if !taken {
            self.shared.refused.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    async fn taken(&self, bytes: usize) {
        let mut attempts = MAX_CLOSED;
        loop {
            let mut released = std::pin::pin!(self.shared.released.notified());
            // From here on no release is missed.
            released.as_mut().enable();
            if self.take(bytes) {
                return;
            }
            if let Some((address, _)) = &self.client
                && attempts > 0
            {
                attempts -= 1;
                self.shared.make_room(*address, bytes);
            }
            released.await;
        }
    }
}

/// Counts a waiting reservation.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Account {
    /// Returns when the connection must be closed, because it holds more than its share while others find no room.
    pub async fn revoked(&self) {
        self.0.revoked.notified().await;
    }

    /// Makes a reservation of no bytes, which can grow.
    #[must_use]
    pub fn nothing(&self) -> Reservation {
        Reservation { account: self.clone(), bytes: 0 }
    }

    /// Reserves bytes. None when they do not fit now.
    #[must_use]
    pub fn try_reserve(&self, bytes: usize) -> Option<Reservation> {
        let mut reservation = self.nothing();
        if reservation.try_grow(bytes) {
            return Some(reservation);
        }
        self.0.shared.refused.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Reserves bytes. None when they do not fit within `timeout`.
    pub async fn reserve(&self, bytes: usize, timeout: Duration) -> Option<Reservation> {
        let mut reservation = self.nothing();
        reservation.grow(bytes, timeout).await.then_some(reservation)
    }
}

/// Bytes of an account, which are released when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    account: Account,
    bytes: usize,
}

impl Reservation {
    /// Reserves more bytes, and returns whether they fit now.
    #[must_use]
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        let taken = self.account.0.take(bytes);
        if taken {
            self.bytes += bytes;
        }
        taken
    }

    /// Reserves more bytes, and returns whether they fit within `timeout`.
    #[must_use]
    pub async fn grow(&mut self, bytes: usize, timeout: Duration) -> bool {
        let taken = self.account.0.take_within(bytes, timeout).await;
        if taken {
            self.bytes += bytes;
        }
        taken
    }

    /// Grows or shrinks the reservation to `bytes`, and returns whether they fit within `timeout`.
    #[must_use]
    pub async fn resize(&mut self, bytes: usize, timeout: Duration) -> bool {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.grow(more, timeout).await,
            None => {
                self.shrink_to(bytes);
                true
            }
        }
    }

    /// Splits off `bytes` of the reservation, or all of it.
    #[must_use]
    pub fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { account: self.account.clone(), bytes }
    }

    /// Adds another reservation of the same account.
    pub fn merge(&mut self, mut other: Self) {
        debug_assert!(Arc::ptr_eq(&self.account.0, &other.account.0), "both must be of one account");
        self.bytes += std::mem::take(&mut other.bytes);
    }

    /// Releases the bytes beyond `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(less) = self.bytes.checked_sub(bytes) {
            self.account.0.release(less);
            self.bytes = bytes;
        }
    }

    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.account.0.release(self.bytes);
    }
}
