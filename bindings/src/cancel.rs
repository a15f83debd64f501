//! Cancelling a call from JavaScript.

use napi_derive::napi;
use tokio::sync::watch;

/// Ends the calls that it is given to.
#[napi]
pub struct Cancel {
    cancelled: watch::Sender<bool>,
}

#[napi]
impl Cancel {
    /// One that has not been used.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self { cancelled: watch::Sender::new(false) }
    }

    /// Cancels.
    #[napi]
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// Resolves when it is cancelled; never when it is dropped before.
    pub(crate) fn subscribe(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut cancelled = self.cancelled.subscribe();
        async move {
            if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}
