//! `tenon_snapshot` for Node.

use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_snapshot::{Engine, Ingredients};

use crate::failure::{Failure, compute, promise};

/// What the splicer of componentize-js makes, and what belongs to it.
#[napi(object)]
pub struct EngineIngredients {
    /// The engine with the world's imports and exports spliced in.
    pub engine: Buffer,
    /// The same with the imports stubbed that the world does not have.
    pub stubbed: Buffer,
    /// The adapter from `wasi_snapshot_preview1` to WASI 0.2.
    pub adapter: Buffer,
    /// JavaScript that connects the world with the bundle.
    pub bindings: String,
    /// Settings of the engine, as `NAME=value`.
    pub environment: Vec<String>,
}

/// A component and what it came to.
#[napi(object)]
pub struct BuiltComponent {
    /// The component.
    pub component: Buffer,
    /// Bytes of it that are the handler's; the rest is the engine.
    pub state_bytes: f64,
    /// What the top level printed.
    pub printed: String,
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

    /// Prepares an engine and keeps it under `key`: seconds of computing. Resolves to the component that all snapshots are
    /// written into, for `precompile`. Rejects with `ENGINE` or `WRITE`.
    #[napi]
    pub fn prepare<'env>(
        env: &'env Env,
        folder: String,
        key: String,
        ingredients: EngineIngredients,
    ) -> Result<PromiseRaw<'env, Buffer>> {
        let ingredients = Ingredients {
            engine: ingredients.engine.into(),
            stubbed: ingredients.stubbed.into(),
            adapter: ingredients.adapter.into(),
            bindings: ingredients.bindings,
            environment: ingredients.environment,
        };
        let prepare = compute(move || Ok(tenon_snapshot::prepare(&PathBuf::from(folder), &key, &ingredients)?));
        promise(env, prepare, Buffer::from)
    }

    /// Runs the top level of a bundle and makes a component of the engine as it then is. `name` is the file name by which
    /// stack traces call the bundle; `tools`, names and versions, are noted in the component. Rejects with `TOP_LEVEL` (and what the engine printed), `TOP_LEVEL_CALL`,
    /// `TOP_LEVEL_ENDLESS` or `TOP_LEVEL_MEMORY`.
    #[napi]
    pub fn build<'env>(
        &self,
        env: &'env Env,
        name: String,
        bundle: Buffer,
        tools: Vec<(String, String)>,
    ) -> Result<PromiseRaw<'env, BuiltComponent>> {
        let engine = Arc::clone(&self.engine);
        let build = compute(move || engine.build(&name, &bundle, &tools).map_err(Failure::from));
        #[allow(clippy::cast_precision_loss, reason = "a memory has less than 2^53 bytes")]
        promise(env, build, |built| BuiltComponent {
            component: Buffer::from(built.component),
            state_bytes: built.state_bytes as f64,
            printed: built.printed,
        })
    }
}

/// Compiles a component into the cache that runtimes load code from. Rejects with `ENGINE`.
#[napi]
pub fn precompile<'env>(env: &'env Env, component: Buffer, cache_dir: String) -> Result<PromiseRaw<'env, ()>> {
    let precompile = compute(move || Ok(tenon_runtime::precompile(&component, &PathBuf::from(cache_dir))?));
    promise(env, precompile, |()| ())
}
