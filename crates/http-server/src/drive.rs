//! Serves one connection to its end. It is closed when it idles, stalls, holds too much, or the server stops.

use std::pin::pin;
use std::time::Duration;

use hyper_util::server::graceful::GracefulConnection;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::{Account, Activity};

/// Number of checks within the shortest timeout.
const LOOKS: u32 = 8;

/// Timeouts of an HTTP/2 connection. For HTTP/1.1, hyper and the socket enforce them.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Time without an exchange, after which the connection is closed.
    pub idle: Duration,
    /// Time in which a client reads nothing of an answer, after which its connection is closed.
    pub write: Duration,
}

/// The reason why a connection ended early.
#[derive(Debug, Error)]
pub enum Ended {
    /// It broke, or the client violated the protocol.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    /// The client read nothing of an answer.
    #[error("the client reads nothing of its answer")]
    Stalled,
    /// The client keeps cancelling requests.
    #[error("the client cancels requests too fast")]
    Resets,
    /// It held more than its share while others found no room.
    #[error("the connection holds more than its share of max_buffered_bytes")]
    Revoked,
    /// It idled, and the client did not close it.
    #[error("the connection idles")]
    Idle,
}

/// Serves `connection` to its end. When `stop` changes, it accepts no further requests.
///
/// # Errors
///
/// The reason why it ended early.
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
                // The client gets notice first.
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

/// Returns when the connection must be closed.
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
