//! The health of sidecars, over the connections of all modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenon_transport::Transport;
use wasmtime_wasi_http::WasiBody;

use crate::registry::Slot;

/// Each sidecar and whether it is up, sorted by name. The name of a module's own sidecar is `<module>/<sidecar>`.
///
/// A sidecar that all modules have is down when one of them cannot reach it. `server` connects to those that no module has
/// called for a while.
pub(crate) async fn health(server: &Transport<WasiBody>, modules: &[(String, Arc<Slot>)]) -> Vec<(String, bool)> {
    let (own, inherited): (Vec<_>, Vec<_>) =
        modules.iter().partition(|(_, slot)| slot.source.policy.sidecars.is_some());
    let mut known: BTreeMap<String, Option<bool>> = server.known().into_iter().collect();
    for (name, up) in inherited.iter().flat_map(|(_, slot)| slot.surroundings.transport.known()) {
        let all = known.entry(name).or_default();
        *all = match (*all, up) {
            (Some(all), Some(up)) => Some(all && up),
            (all, up) => all.or(up),
        };
    }
    if known.values().any(Option::is_none) {
        for (name, up) in server.health().await {
            known.entry(name).or_default().get_or_insert(up);
        }
    }
    let mut states: BTreeMap<String, bool> = known.into_iter().map(|(name, up)| (name, up.unwrap_or(false))).collect();
    for (module, slot) in own {
        let up = slot.surroundings.transport.health().await;
        states.extend(up.into_iter().map(|(sidecar, up)| (format!("{module}/{sidecar}"), up)));
    }
    states.into_iter().collect()
}
