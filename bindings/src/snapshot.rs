//! `tenon_snapshot` for Node.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_snapshot::{Built, Engine, Ingredients, SnapshotError, SpecializableEngine as Specializable, fill, hollow};

use crate::failure::{Failure, compute, promise};
use crate::linked::{LinkedModule, read_all};

/// The result of componentize-js' splicer for a hollow engine, and its metadata.
#[napi(object)]
pub struct EngineIngredients {
    /// The file of the engine of componentize-js.
    pub engine: String,
    /// The result of `hollowEngine`, with the world's imports and exports spliced in.
    pub spliced: Buffer,
    /// The same with the imports stubbed that the world does not have.
    pub stubbed: Buffer,
    /// The adapter from `wasi_snapshot_preview1` to WASI 0.2.
    pub adapter: Buffer,
    /// JavaScript that connects the world with the bundle.
    pub bindings: String,
    /// Settings of the engine, as `NAME=value`.
    pub environment: Vec<String>,
}

impl TryFrom<EngineIngredients> for Ingredients {
    type Error = SnapshotError;

    fn try_from(ingredients: EngineIngredients) -> std::result::Result<Self, SnapshotError> {
        let engine = fs::read(&ingredients.engine)
            .map_err(|error| SnapshotError::Engine(format!("{}: {error}", ingredients.engine)))?;
        Ok(Self {
            engine: fill(&ingredients.spliced, &engine)?,
            stubbed: fill(&ingredients.stubbed, &engine)?,
            adapter: ingredients.adapter.into(),
            bindings: ingredients.bindings,
            environment: ingredients.environment,
        })
    }
}

/// Prepares an engine in one of the ways that there are.
fn prepared(
    env: &Env,
    folder: String,
    key: String,
    ingredients: EngineIngredients,
    prepare: fn(&Path, &str, Ingredients) -> std::result::Result<(), SnapshotError>,
) -> Result<PromiseRaw<'_, ()>> {
    let work = compute(move || Ok(prepare(Path::new(&folder), &key, ingredients.try_into()?)?));
    promise(env, work, |()| ())
}

/// The engine for the splicer, with the parts hollow that splicing does not read. Rejects with `ENGINE`.
#[napi]
pub fn hollow_engine<'env>(env: &'env Env, engine: Buffer) -> Result<PromiseRaw<'env, Buffer>> {
    promise(env, compute(move || Ok(hollow(&engine)?)), Buffer::from)
}

/// Identifies the code that prepares engines, in hexadecimal: an engine that another revision prepared is prepared
/// again.
#[napi]
pub fn engine_revision() -> String {
    tenon_snapshot::revision()
}

/// A component and the figures of its build.
#[napi(object)]
pub struct BuiltComponent {
    /// The component.
    pub component: Buffer,
    /// Bytes of it that are the handler's; the rest is the engine.
    pub state_bytes: f64,
    /// The output of the top level.
    pub printed: String,
}

impl From<Built> for BuiltComponent {
    #[allow(clippy::cast_precision_loss, reason = "a memory has less than 2^53 bytes")]
    fn from(built: Built) -> Self {
        Self { component: Buffer::from(built.component), state_bytes: built.state_bytes as f64, printed: built.printed }
    }
}

/// A JavaScript engine that is ready to run top levels.
#[napi]
pub struct SnapshotEngine {
    engine: Arc<Engine>,
}

#[napi]
impl SnapshotEngine {
    /// Opens the engine that was prepared under `key`; null when it has to be prepared. Rejects with `WRITE` when the folder
    /// cannot be used.
    #[napi]
    pub fn open<'env>(env: &'env Env, folder: String, key: String) -> Result<PromiseRaw<'env, Option<SnapshotEngine>>> {
        let open = compute(move || Ok(Engine::open(&PathBuf::from(folder), &key)?));
        promise(env, open, |engine| engine.map(|engine| SnapshotEngine { engine: Arc::new(engine) }))
    }

    /// Prepares an engine and keeps it under `key`: seconds of computing. Rejects with `ENGINE` or `WRITE`.
    #[napi]
    pub fn prepare<'env>(
        env: &'env Env,
        folder: String,
        key: String,
        ingredients: EngineIngredients,
    ) -> Result<PromiseRaw<'env, ()>> {
        prepared(env, folder, key, ingredients, tenon_snapshot::prepare)
    }

    /// Prepares an engine for any processor of this architecture, for the package `@tenon/engine`.
    #[napi]
    pub fn prepare_shipped<'env>(
        env: &'env Env,
        folder: String,
        key: String,
        ingredients: EngineIngredients,
    ) -> Result<PromiseRaw<'env, ()>> {
        prepared(env, folder, key, ingredients, tenon_snapshot::prepare_shipped)
    }

    /// Copies the result of `prepareShipped` from the folder `from`, whose content was checked. Rejects with `ENGINE`
    /// or `WRITE`.
    #[napi]
    pub fn install<'env>(env: &'env Env, folder: String, key: String, from: String) -> Result<PromiseRaw<'env, ()>> {
        let install = compute(move || Ok(tenon_snapshot::install(&PathBuf::from(folder), &key, &PathBuf::from(from))?));
        promise(env, install, |()| ())
    }

    /// Compiles the code that all components of this engine share into the cache of runtimes. Rejects with `ENGINE`.
    #[napi]
    pub fn precompile<'env>(&self, env: &'env Env, cache_dir: String) -> Result<PromiseRaw<'env, ()>> {
        let engine = Arc::clone(&self.engine);
        let precompile = compute(move || Ok(tenon_runtime::precompile(engine.template(), &PathBuf::from(cache_dir))?));
        promise(env, precompile, |()| ())
    }

    /// Runs the top level of a bundle and makes a component from the resulting engine. `name` is the file name of the
    /// bundle in stack traces; the component records `tools`, names and versions, and contains the modules `linked`. Rejects
    /// with `TOP_LEVEL` (and the engine's output), `TOP_LEVEL_CALL`, `TOP_LEVEL_ENDLESS`, `TOP_LEVEL_MEMORY` or `BUILD`.
    #[napi]
    pub fn build<'env>(
        &self,
        env: &'env Env,
        name: String,
        bundle: Buffer,
        tools: Vec<(String, String)>,
        linked: Vec<LinkedModule>,
    ) -> Result<PromiseRaw<'env, BuiltComponent>> {
        let engine = Arc::clone(&self.engine);
        let build = compute(move || {
            let linked = read_all(&linked)?;
            engine.build(&name, &bundle, &tools, &linked).map_err(Failure::from)
        });
        promise(env, build, BuiltComponent::from)
    }
}

/// The module that weval specializes to a handler.
#[napi(object)]
pub struct EngineSnapshot {
    /// A core module.
    pub module: Buffer,
    /// The output of the top level.
    pub printed: String,
}

/// A JavaScript engine for weval that is ready to run top levels.
#[napi]
pub struct SpecializableEngine {
    engine: Arc<Specializable>,
}

#[napi]
impl SpecializableEngine {
    /// Opens the engine that was prepared under `key`; null when it has to be prepared. Rejects with `WRITE` when the folder
    /// cannot be used.
    #[napi]
    pub fn open<'env>(
        env: &'env Env,
        folder: String,
        key: String,
    ) -> Result<PromiseRaw<'env, Option<SpecializableEngine>>> {
        let open = compute(move || Ok(Specializable::open(&PathBuf::from(folder), &key)?));
        promise(env, open, |engine| engine.map(|engine| SpecializableEngine { engine: Arc::new(engine) }))
    }

    /// Prepares an engine and keeps it under `key`: seconds of computing. Rejects with `ENGINE` or `WRITE`.
    #[napi]
    pub fn prepare<'env>(
        env: &'env Env,
        folder: String,
        key: String,
        ingredients: EngineIngredients,
    ) -> Result<PromiseRaw<'env, ()>> {
        prepared(env, folder, key, ingredients, tenon_snapshot::prepare_specializable)
    }

    /// Runs the top level of a bundle, whose file name is `name`. Rejects as `SnapshotEngine.build` does.
    #[napi]
    pub fn snapshot<'env>(
        &self,
        env: &'env Env,
        name: String,
        bundle: Buffer,
    ) -> Result<PromiseRaw<'env, EngineSnapshot>> {
        let engine = Arc::clone(&self.engine);
        let snapshot = compute(move || engine.snapshot(&name, &bundle).map_err(Failure::from));
        promise(env, snapshot, |snapshot| EngineSnapshot {
            module: Buffer::from(snapshot.module),
            printed: snapshot.printed,
        })
    }

    /// Makes a component from the module that weval made from a snapshot's, and the modules `linked`. Rejects with `ENGINE`
    /// or `BUILD`.
    #[napi]
    pub fn component<'env>(
        &self,
        env: &'env Env,
        specialized: Buffer,
        linked: Vec<LinkedModule>,
    ) -> Result<PromiseRaw<'env, Buffer>> {
        let engine = Arc::clone(&self.engine);
        let component = compute(move || engine.component(&specialized, &read_all(&linked)?).map_err(Failure::from));
        promise(env, component, Buffer::from)
    }
}
