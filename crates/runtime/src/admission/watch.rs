//! Periodic background checks.

use std::sync::Arc;
use std::time::Duration;

/// Looks at something each time that `pause` is over, for as long as somebody else has it. Needs a Tokio runtime.
pub(crate) fn watch<T: Send + Sync + 'static>(watched: &Arc<T>, pause: Duration, look: impl Fn(&T) + Send + 'static) {
    let watched = Arc::downgrade(watched);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(pause).await;
            match watched.upgrade() {
                Some(watched) => look(&watched),
                None => return,
            }
        }
    });
}
