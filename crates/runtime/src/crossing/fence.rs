//! The names of the fences between modules.

/// A rule that keeps modules apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// Each module has its own variables and secrets.
    Environment,
    /// Each module has its own sidecars.
    Sidecars,
    /// Each module has its own list of allowed hosts.
    Hosts,
    /// Calls to a host that is not on the list are refused.
    Refusal,
    /// Each module has its own connections, breakers and places at a sidecar.
    Connections,
    /// Log lines show secrets by their names.
    Masks,
    /// An answer does not have the text of a failure.
    Answers,
    /// Each module has its own places for requests.
    Places,
}
