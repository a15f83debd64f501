//! The service of a sidecar, and its store.

use serde_json::{Map, Value};

use crate::kind::{Kind, Opened, Opening, SidecarFiles, Store};
use crate::{Limits, ServicesError};

/// A kind of service and its store.
pub struct Backend {
    kind: &'static Kind,
    store: &'static Store,
    /// It may contain a password, and is never printed.
    url: String,
    options: Map<String, Value>,
    files: SidecarFiles,
}

impl Backend {
    /// Finds the store of a URL.
    ///
    /// # Errors
    ///
    /// A URL that the kind does not support. The error does not repeat the URL.
    pub fn new(
        kind: &'static Kind,
        url: String,
        options: Map<String, Value>,
        files: SidecarFiles,
    ) -> Result<Self, ServicesError> {
        Ok(Self { kind, store: kind.store(&url)?, url, options, files })
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Connects, and makes the routes.
    pub(crate) async fn open(self, limits: Limits) -> Result<Opened, ServicesError> {
        let Self { store, url, options, files, .. } = self;
        (store.open)(Opening { url, options, files, limits }).await
    }
}
