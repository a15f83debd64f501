//! Serving one connection to its end: it is closed when it idles, stalls, holds too much, or the server stops.

use std::pin::pin;
use std::time::Duration;

use hyper_util::server::graceful::GracefulConnection;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::{Account, Activity};

/// How often a connection is looked at within the shortest time that it is held to.
const LOOKS: u32 = 8;

/// The times that a connection of HTTP/2 is held to. Of HTTP/1.1, hyper and the socket hold it to them.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Without an exchange, the connection is closed after this long.
    pub idle: Duration,
    /// A client that takes nothing of an answer for this long has its connection closed.
    pub write: Duration,
}

/// Why a connection ended before its time.
#[derive(Debug, Error)]
pub enum Ended {
    /// It broke, or the client broke the protocol.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    /// A client took nothing of an answer.
    #[error("the client takes nothing of its answer")]
    Stalled,
    /// The client goes on cancelling requests.
    #[error("the client cancels requests faster than it may")]
    Resets,
    /// It held more than its share while others found no room.
    #[error("the connection holds more than its share of max_buffered_bytes")]
    Revoked,
    /// It idled, and the client did not end it.
    #[error("the connection idles")]
    Idle,
}

/// Serves `connection` to its end. When `stop` changes it takes no further requests.
///
/// # Errors
///
/// Why it ended before its time.
pub async fn drive<C: GracefulConnection<Error = hyper::Error>>(
    connection: C,
    account: &Account,
    activity: &Activity,
    timeouts: Option<Timeouts>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Ended> {
    let mut connection = pin!(connection);
    let mut revoked = pin!(account.revoked());
    let mut resets = pin!(activity.too_many_resets());
    let mut watched = pin!(watch_over(activity, timeouts));
    let mut closing = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => return Ok(ended?),
            () = &mut revoked => return Err(Ended::Revoked),
            () = &mut resets => return Err(Ended::Resets),
            ended = &mut watched => match ended {
                // The client is told first.
                Ended::Idle if !closing => {
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                    watched.set(watch_over(activity, timeouts));
                }
                ended => return Err(ended),
            },
            _ = stop.wait_for(|stop| *stop), if !closing => {
                closing = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Returns when the connection is to be closed.
async fn watch_over(activity: &Activity, timeouts: Option<Timeouts>) -> Ended {
    let Some(Timeouts { idle, write }) = timeouts else { return std::future::pending().await };
    loop {
        sleep(idle.min(write) / LOOKS).await;
        if activity.idle().is_some_and(|since| since >= idle) {
            return Ended::Idle;
        }
        if activity.longest_turn() >= write {
            return Ended::Stalled;
        }
    }
}
