//! The policy of one module.

use tenon_transport::{Allow, Sidecar};

use super::{Isolation, ModuleBudget};

/// A module's permissions, its limits, and its addresses besides `/run/<module>`.
///
/// A missing part is the server's. A given part replaces the server's as a whole: an empty list of sidecars means that
/// the module has no sidecar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModulePolicy {
    /// The services that it may call.
    pub sidecars: Option<Vec<Sidecar>>,
    /// The hosts that it may call besides.
    pub allow: Option<Vec<Allow>>,
    /// Its environment variables, besides those of its sidecars. Secrets are among them.
    pub environment: Option<Vec<(String, String)>>,
    /// The state that its requests share.
    pub isolation: Option<Isolation>,
    /// Limits by name. `max_concurrent` is how many of its requests run at once.
    pub limits: Vec<(String, u64)>,
    /// The path below which it is served: `/shop`, or `/`.
    pub mount: Option<String>,
    /// The host name for which it is served. Without a `mount` that is at `/`.
    pub host: Option<String>,
    /// Bounds of the use of its requests together, each in a period. None is no bound; the server has none either.
    pub budget: Option<ModuleBudget>,
}
