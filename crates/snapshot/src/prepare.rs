//! What is done once for each version of the engine.

use std::path::Path;

use tenon_code::Folder;
use wasmtime_wizer::Wizer;
use wit_component::ComponentEncoder;

use crate::engine::{Files, configured};
use crate::error::SnapshotError;
use crate::resident::with_touch;
use crate::template;

/// The function of the engine that reads the bundle and runs its top level.
pub(crate) const INITIALIZE: &str = "componentize.wizer";

/// What the splicer of componentize-js makes, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Ingredients {
    /// The engine with the world's imports and exports spliced in.
    pub engine: Vec<u8>,
    /// The same with the imports stubbed that the world does not have.
    pub stubbed: Vec<u8>,
    /// The adapter from `wasi_snapshot_preview1` to WASI 0.2, for a component without a command.
    pub adapter: Vec<u8>,
    /// JavaScript that connects the world with the bundle.
    pub bindings: String,
    /// Settings of the engine, as `NAME=value`.
    pub environment: Vec<String>,
}

/// Prepares the engine and keeps it in `folder` under `key`. Seconds of computing on all cores.
///
/// Two processes may do so at once: each writes whole files of the same content. Gives the component that all snapshots
/// are written into; its code is the code of them all.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when the ingredients do not fit together, [`SnapshotError::Keep`] when the folder cannot be
/// written.
pub fn prepare(folder: &Path, key: &str, ingredients: &Ingredients) -> Result<Vec<u8>, SnapshotError> {
    let folder = Folder::open(folder)?;
    let engine = configured()?;
    let files = Files::new(&engine, key);
    // Checks that nothing changes while it runs but what a snapshot keeps: memory and mutable globals.
    let (_, instrumented) =
        Wizer::new().init_func(INITIALIZE).instrument(&ingredients.engine).map_err(SnapshotError::engine)?;
    let code = engine.precompile_module(&instrumented).map_err(SnapshotError::engine)?;
    let template = ComponentEncoder::default()
        .validate(true)
        .module(&template::without_memory(&with_touch(&ingredients.stubbed)?)?)
        .and_then(|encoder| encoder.adapter("wasi_snapshot_preview1", &ingredients.adapter))
        .and_then(|mut encoder| encoder.encode())
        .map_err(SnapshotError::engine)?;
    let template = template::stripped(&template).map_err(SnapshotError::engine)?;
    folder.write(&files.code, &code)?;
    folder.write(&files.template, &template)?;
    folder.write(&files.bindings, ingredients.bindings.as_bytes())?;
    folder.write(&files.environment, ingredients.environment.join("\n").as_bytes())?;
    files.prune(&folder);
    Ok(template)
}
