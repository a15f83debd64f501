//! Preparation of an engine, once for each version of it.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use tenon_cpu::Cpu;
use tenon_rewrite::Rewrite;
use tenon_trusted_folder::Folder;
use wasmtime_wizer::Wizer;

use crate::encode::encode;
use crate::error::SnapshotError;
use crate::files::Files;
use crate::run::{Runner, configured, configured_for};
use crate::starlingmonkey::{arguments, clock, entropy, linked, log, packed, poll};
use crate::template;

/// The engine's function that reads the bundle and runs its top level.
pub(crate) const INITIALIZE: &str = "componentize.wizer";

/// Sources that determine a prepared engine.
const SOURCES: [&str; 20] = [
    include_str!("starlingmonkey/arguments.rs"),
    include_str!("starlingmonkey/arguments.wat"),
    include_str!("starlingmonkey/clock.rs"),
    include_str!("encode.rs"),
    include_str!("starlingmonkey/entropy.rs"),
    include_str!("graft.rs"),
    include_str!("starlingmonkey/hollow.rs"),
    include_str!("starlingmonkey/linked.rs"),
    include_str!("starlingmonkey/linked.wat"),
    include_str!("starlingmonkey/log.rs"),
    include_str!("starlingmonkey/log.wat"),
    include_str!("starlingmonkey/poll.rs"),
    include_str!("starlingmonkey/poll.wat"),
    include_str!("prepare.rs"),
    include_str!("starlingmonkey/packed.rs"),
    include_str!("starlingmonkey/packed.wat"),
    include_str!("template.rs"),
    include_str!("../../rewrite/src/rewrite.rs"),
    include_str!("../../rewrite/src/rewrite/graft.rs"),
    include_str!("../../compose/src/lib.rs"),
];

/// Returns an identifier of the code that prepares engines. An engine of another revision is not used.
#[must_use]
pub fn revision() -> String {
    let adapter = Sha256::new().chain_update(tenon_compose::ADAPTER);
    let digest = SOURCES.iter().fold(adapter, |digest, source| digest.chain_update(source)).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The output of componentize-js's splicer, and its companions.
#[derive(Clone, Debug)]
pub struct Ingredients {
    /// The engine with the world's imports and exports spliced in.
    pub engine: Vec<u8>,
    /// The same, with stubs for the imports that the world does not have.
    pub stubbed: Vec<u8>,
    /// The adapter from `wasi_snapshot_preview1` to WASI 0.2, for a component without a command.
    pub adapter: Vec<u8>,
    /// JavaScript that connects the world with the bundle.
    pub bindings: String,
    /// Settings of the engine, as `NAME=value`.
    pub environment: Vec<String>,
}

/// Prepares the engine and stores it in `folder` under `key`. It computes on all cores for seconds.
///
/// Two processes may do so at once, because each writes whole files with the same content.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when the ingredients do not fit together, [`SnapshotError::Keep`] when the folder cannot
/// be written.
pub fn prepare(folder: &Path, key: &str, ingredients: Ingredients) -> Result<(), SnapshotError> {
    let template = encode(&engine_of(&ingredients)?, &ingredients.adapter)?;
    keep(folder, key, ingredients, template, None)
}

/// Prepares the engine for any processor of this architecture: what a package ships. See [`prepare`].
///
/// # Errors
///
/// Those of [`prepare`].
pub fn prepare_shipped(folder: &Path, key: &str, ingredients: Ingredients) -> Result<(), SnapshotError> {
    let template = encode(&engine_of(&ingredients)?, &ingredients.adapter)?;
    keep(folder, key, ingredients, template, Some(&Cpu::oldest()))
}

/// Copies an engine that [`prepare_shipped`] kept in another folder, whose content the caller has checked.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when it is not there, [`SnapshotError::Keep`] when the folder cannot be written.
pub fn install(folder: &Path, key: &str, from: &Path) -> Result<(), SnapshotError> {
    let folder = Folder::open(folder)?;
    let files = Files::new(&configured_for(Some(&Cpu::oldest()))?, key);
    for name in files.names() {
        let content = fs::read(from.join(name))
            .map_err(|error| SnapshotError::Engine(format!("{}: {error}", from.join(name).display())))?;
        folder.write(name, &content)?;
    }
    files.prune(&folder);
    Ok(())
}

/// Prepares an engine for weval and stores it in `folder` under `key`; see [`prepare`].
///
/// # Errors
///
/// As for [`prepare`].
pub fn prepare_specializable(folder: &Path, key: &str, ingredients: Ingredients) -> Result<(), SnapshotError> {
    let template = engine_of(&ingredients)?;
    keep(folder, key, ingredients, template, None)
}

/// Returns the engine that serves, without its memory.
fn engine_of(ingredients: &Ingredients) -> Result<Vec<u8>, SnapshotError> {
    let rewritten = rewritten(&ingredients.stubbed).map_err(SnapshotError::engine)?;
    template::without_memory(&rewritten)
}

fn rewritten(engine: &[u8]) -> Result<Vec<u8>, tenon_rewrite::Error> {
    let mut rewrite = Rewrite::of(engine)?;
    clock::ask_directly(&mut rewrite)?;
    entropy::draw_directly(&mut rewrite)?;
    poll::wait_for_calls(&mut rewrite)?;
    packed::pack_texts(&mut rewrite)?;
    log::write_as_value(&mut rewrite)?;
    linked::call_modules(&mut rewrite)?;
    arguments::gather(&mut rewrite)?;
    rewrite.finish()
}

fn keep(
    folder: &Path,
    key: &str,
    ingredients: Ingredients,
    template: Vec<u8>,
    cpu: Option<&Cpu>,
) -> Result<(), SnapshotError> {
    let folder = Folder::open(folder)?;
    let Ingredients { engine: spliced, stubbed, adapter, bindings, environment } = ingredients;
    let engine = configured_for(cpu)?;
    let files = Files::new(&engine, key);
    folder.write(&files.template, &template)?;
    folder.write(&files.adapter, &adapter)?;
    folder.write(&files.bindings, bindings.as_bytes())?;
    folder.write(&files.environment, environment.join("\n").as_bytes())?;
    // Each of these is 10 MB, and compilation needs memory.
    drop((template, stubbed));
    // Checks that a run changes only memory and mutable globals, which a snapshot contains.
    let (_, instrumented) = Wizer::new().init_func(INITIALIZE).instrument(&spliced).map_err(SnapshotError::engine)?;
    let code = engine.precompile_module(&instrumented).map_err(SnapshotError::engine)?;
    drop(instrumented);
    folder.write(&files.code, &code)?;
    drop(code);
    // A number or an empty file.
    let first_call = Runner::open(configured()?, &folder, &files).and_then(|runner| runner.first_call());
    let first_call = first_call.map_or_else(String::new, |place| place.to_string());
    folder.write(&files.first_call, first_call.as_bytes())?;
    files.prune(&folder);
    Ok(())
}
