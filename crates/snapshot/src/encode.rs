//! Encodes a core module as a component.

use wit_component::ComponentEncoder;

use crate::error::SnapshotError;
use crate::template;

/// Makes a component from an engine, without its names and producers. `adapter` implements WASI preview 1 for the
/// engine. The adapter for calls and log lines encloses the engine, so that the component imports only WASI.
pub(crate) fn encode(module: &[u8], adapter: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let component = ComponentEncoder::default()
        .validate(true)
        .module(module)
        .and_then(|encoder| encoder.adapter("wasi_snapshot_preview1", adapter))
        .and_then(|mut encoder| encoder.encode())
        .map_err(SnapshotError::engine)?;
    let component = template::stripped(&component).map_err(SnapshotError::engine)?;
    tenon_compose::enclose(component).map_err(SnapshotError::engine)
}
