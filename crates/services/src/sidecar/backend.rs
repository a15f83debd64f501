//! The service of a sidecar, and its store.

use crate::registry::{Kind, Opened, Opening, Store};
use crate::{Limits, ServicesError, SidecarSettings};

/// A kind of service and its store.
pub struct Backend {
    kind: &'static Kind,
    store: &'static Store,
    /// The settings, whose URL may contain a password and is never printed.
    settings: SidecarSettings,
}

impl Backend {
    /// Finds the store of a URL.
    ///
    /// # Errors
    ///
    /// A URL that the kind does not support. The error does not repeat the URL.
    pub(crate) fn new(kind: &'static Kind, settings: SidecarSettings) -> Result<Self, ServicesError> {
        Ok(Self { kind, store: kind.store(&settings.url)?, settings })
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Connects, and makes the routes.
    pub(crate) async fn open(self, limits: Limits) -> Result<Opened, ServicesError> {
        let SidecarSettings { url, options, files, .. } = self.settings;
        (self.store.open)(Opening { url, options, files, limits }).await
    }
}
