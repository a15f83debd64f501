//! The health of sidecars, over the connections of all modules.
//!
//! `/health` reads the known state and does not wait: calls update it, and [`look`] checks idle sidecars in the
//! background.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tenon_transport::Transport;
use tokio::task::JoinSet;
use wasmtime_wasi_http::WasiBody;

use crate::module::registry::ModuleSlot;

/// How often sidecars are looked at that nobody calls.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// Time that a call's result counts as a sidecar's health. A hanging sidecar is checked within this time.
const FRESH: Duration = Duration::from_secs(3);

/// Each sidecar and whether it is up, sorted by name. The name of a module's own sidecar is `<module>/<sidecar>`.
///
/// A sidecar that all modules have is down when one of them cannot reach it. `server` looks at those that no module calls.
pub(crate) fn health(server: &Transport<WasiBody>, modules: &[(String, Arc<ModuleSlot>)]) -> Vec<(String, bool)> {
    let (own, inherited): (Vec<_>, Vec<_>) = modules.iter().partition(|(_, slot)| has_own(slot));
    let mut known: BTreeMap<String, Option<bool>> = server.known(Duration::MAX).into_iter().collect();
    for (name, up) in inherited.iter().flat_map(|(_, slot)| slot.shared_state.transport.known(FRESH)) {
        let all = known.entry(name).or_default();
        *all = match (*all, up) {
            (Some(all), Some(up)) => Some(all && up),
            (all, up) => all.or(up),
        };
    }
    for (module, slot) in own {
        let own = slot.shared_state.transport.known(Duration::MAX);
        known.extend(own.into_iter().map(|(sidecar, up)| (format!("{module}/{sidecar}"), up)));
    }
    known.into_iter().map(|(name, up)| (name, up.unwrap_or(false))).collect()
}

/// Learns which sidecars are up that nobody has called for a while.
pub(crate) async fn look(server: &Transport<WasiBody>, modules: &[(String, Arc<ModuleSlot>)]) {
    let own = modules.iter().filter(|(_, slot)| has_own(slot)).map(|(_, slot)| &slot.shared_state.transport);
    let mut looks = JoinSet::new();
    for transport in own.chain([server]).filter(|transport| transport.has_sidecars()) {
        let transport = transport.clone();
        looks.spawn(async move { transport.look(PAUSE / 2).await });
    }
    while looks.join_next().await.is_some() {}
}

fn has_own(slot: &ModuleSlot) -> bool {
    slot.source.policy.sidecars.is_some()
}
