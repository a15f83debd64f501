//! The accountant of a request: the bytes that the host holds for it, in the byte budget of the server.
//!
//! Everything of a size that a client chooses is charged before it is held: the body, the values of its JSON, rows, the
//! answer. [`Charge::take`] adds to what the request holds until its answer is complete. Then the answer itself is all
//! that stays charged, until it is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenon_http_server::{Account, Budget, Reservation};

use super::problem::Problem;

tokio::task_local! {
    static CURRENT: Charge;
}

/// The bytes of one request. Clones share them.
#[derive(Clone, Debug)]
pub struct Charge(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    account: Account,
    held: Mutex<Reservation>,
}

/// The byte budget has no room.
#[derive(Debug)]
pub struct NoRoom;

impl From<NoRoom> for Problem {
    fn from(_: NoRoom) -> Self {
        Self::busy()
    }
}

impl Charge {
    /// A charge of nothing yet.
    pub fn on(account: &Account) -> Self {
        Self(Arc::new(Inner { account: account.clone(), held: Mutex::new(account.nothing()) }))
    }

    /// The charge of the request that this task answers. Outside of a request nothing is bounded. Work on another
    /// thread gets a clone from the task.
    pub fn current() -> Self {
        CURRENT.try_with(Self::clone).unwrap_or_else(|_| Self::on(&Budget::new(usize::MAX).unshared()))
    }

    /// Makes this the current charge while a future runs.
    pub async fn scope<F: Future>(&self, work: F) -> F::Output {
        CURRENT.scope(self.clone(), work).await
    }

    fn held(&self) -> MutexGuard<'_, Reservation> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Charges bytes, if they fit now.
    pub fn take(&self, bytes: usize) -> Result<(), NoRoom> {
        if self.held().try_grow(bytes) { Ok(()) } else { Err(NoRoom) }
    }

    /// Charges bytes, if they fit within `timeout`.
    pub async fn take_within(&self, bytes: usize, timeout: Duration) -> Result<(), NoRoom> {
        let more = self.0.account.reserve(bytes, timeout).await.ok_or(NoRoom)?;
        self.held().merge(more);
        Ok(())
    }

    /// A reservation of nothing in the same account, for what is dropped before the answer is complete.
    pub fn apart(&self) -> Reservation {
        self.0.account.nothing()
    }

    /// Charges `bytes` in place of everything else.
    pub fn settle(&self, bytes: usize) -> Result<(), NoRoom> {
        let mut held = self.held();
        match bytes.checked_sub(held.bytes()) {
            Some(more) if !held.try_grow(more) => Err(NoRoom),
            Some(_) => Ok(()),
            None => {
                held.shrink_to(bytes);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_holds_what_it_takes_until_its_answer_and_the_answer_until_it_is_sent() {
        let budget = Budget::new(1000);
        let charge = Charge::on(&budget.unshared());
        let taken = async {
            Charge::current().take(300).unwrap();
            Charge::current().take_within(300, Duration::ZERO).await.unwrap();
            Charge::current().take(500)
        };
        assert!(charge.scope(taken).await.is_err());
        assert_eq!(budget.used(), 600);
        charge.settle(100).unwrap();
        assert_eq!(budget.used(), 100);
        assert!(charge.settle(1001).is_err());
        drop(charge);
        assert_eq!(budget.used(), 0);
        assert!(Charge::current().take(1 << 40).is_ok());
    }
}
