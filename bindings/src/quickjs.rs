//! `tenon_snapshot::quickjs` for Node.

use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_snapshot::quickjs::{Engine, Variant, prepare};

use crate::failure::{Failure, compute, promise};
use crate::linked::{LinkedModule, read_all};
use crate::snapshot::BuiltComponent;

/// A build of the engine: the full one has the functions that few handlers use.
const fn variant(full: bool) -> Variant {
    if full { Variant::Full } else { Variant::Lean }
}

/// The names of the functions that a bundle can import from `tenon:engine`.
#[napi]
pub fn quickjs_functions(full: bool) -> Vec<String> {
    variant(full).functions().map(str::to_owned).collect()
}

/// The QuickJS engine, ready to evaluate bundles.
#[napi]
pub struct QuickjsEngine {
    engine: Arc<Engine>,
}

#[napi]
impl QuickjsEngine {
    /// Opens a variant that was prepared in this folder; null when it has to be prepared. Rejects with `WRITE` when the
    /// folder cannot be used.
    #[napi]
    pub fn open<'env>(env: &'env Env, folder: String, full: bool) -> Result<PromiseRaw<'env, Option<QuickjsEngine>>> {
        let open = compute(move || Ok(Engine::open(&PathBuf::from(folder), variant(full))?));
        promise(env, open, |engine| engine.map(|engine| QuickjsEngine { engine: Arc::new(engine) }))
    }

    /// Prepares a variant and keeps it in a folder: seconds of computing. Rejects with `ENGINE` or `WRITE`.
    #[napi]
    pub fn prepare(env: &Env, folder: String, full: bool) -> Result<PromiseRaw<'_, ()>> {
        let prepare = compute(move || Ok(prepare(&PathBuf::from(folder), variant(full))?));
        promise(env, prepare, |()| ())
    }

    /// Compiles the code that all components of this variant share into a cache of runtimes. Rejects with `ENGINE`.
    #[napi]
    pub fn precompile<'env>(&self, env: &'env Env, cache_dir: String) -> Result<PromiseRaw<'env, ()>> {
        let engine = Arc::clone(&self.engine);
        let precompile = compute(move || Ok(tenon_runtime::precompile(engine.template(), &PathBuf::from(cache_dir))?));
        promise(env, precompile, |()| ())
    }

    /// Evaluates a bundle and makes a component from the resulting engine; see `SnapshotEngine.build`.
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
