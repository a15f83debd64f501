//! The service of a sidecar, and its store.

use crate::registry::{Kind, Opened, Opening, Store};
use crate::{Limits, ServicesError, SqlAccess, SqlParser};

/// A kind of service and its store.
pub struct Backend {
    kind: &'static Kind,
    store: &'static Store,
    /// The URL, which may contain a password and is never printed.
    url: String,
    options: BackendOptions,
}

/// The options of a kind of service besides its URL. A kind ignores those of others.
pub struct BackendOptions {
    /// `sql`: the statements that are allowed.
    pub access: SqlAccess,
    /// `sql`: PostgreSQL's grammar.
    pub parser: SqlParser,
    /// `kv` and `queue`: the prefix of all names in Redis.
    pub prefix: String,
    /// `storage` on a folder: the sidecar's address for outside clients, such as `https://files.example.com`, for
    /// signed URLs.
    pub public_url: Option<String>,
}

impl Default for BackendOptions {
    fn default() -> Self {
        Self {
            access: SqlAccess::default(),
            parser: SqlParser::default(),
            prefix: "tenon:".to_owned(),
            public_url: None,
        }
    }
}

impl Backend {
    /// A kind by its name, on the store of a URL.
    ///
    /// # Errors
    ///
    /// An unknown kind, or a URL that the kind does not support. The error does not repeat the URL.
    pub fn new(kind: &str, url: String, options: BackendOptions) -> Result<Self, ServicesError> {
        let kind = Kind::named(kind)?;
        Ok(Self { kind, store: kind.store(&url)?, url, options })
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind.name
    }

    /// Connects, and makes the routes.
    pub(crate) async fn open(self, limits: Limits) -> Result<Opened, ServicesError> {
        (self.store.open)(Opening { url: self.url, options: self.options, limits }).await
    }
}
