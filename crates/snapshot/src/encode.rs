//! From a core module to a component.

use wit_component::ComponentEncoder;

use crate::error::SnapshotError;
use crate::template;

/// Makes a component of an engine, without what only describes it. `adapter` is what takes the engine's calls of WASI
/// preview 1.
pub(crate) fn encode(module: &[u8], adapter: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let component = ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| encoder.adapter("wasi_snapshot_preview1", adapter))
        .and_then(|mut encoder| encoder.encode())
        .map_err(SnapshotError::engine)?;
    template::stripped(&component).map_err(SnapshotError::engine)
}
