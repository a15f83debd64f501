//! The service of a sidecar, and its store.

use crate::registry::{Kind, Opened, Opening, Store};
use crate::{Limits, ServicesError, SqlAccess, SqlParser};

/// A kind of service and its store.
pub struct Backend {
    kind: &'static Kind,
    store: &'static Store,
    /// It may hold a password; nothing prints it.
    url: String,
    options: BackendOptions,
}

/// The options of a kind of service besides its URL. A kind ignores those of others.
pub struct BackendOptions {
    /// `sql`: what statements may do.
    pub access: SqlAccess,
    /// `sql`: PostgreSQL's grammar.
    pub parser: SqlParser,
    /// `kv` and `queue`: what every name in Redis begins with.
    pub prefix: String,
    /// `storage` on a folder: where clients outside reach the sidecar, such as `https://files.example.com`, for the URLs that it
    /// signs.
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
    /// A kind that there is not, or a URL that the kind does not take. The error repeats nothing of the URL.
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
