//! `tenon_snapshot` for Node.

use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Error, Result};
use napi_derive::napi;
use tenon_snapshot::{Built, Engine, Target, Variant};

use crate::failure::{Failure, compute, promise};
use crate::linked::{LinkedModule, read_all};

/// A build of the engine: the full one has the functions that few handlers use.
const fn variant(full: bool) -> Variant {
    if full { Variant::Full } else { Variant::Lean }
}

/// The names of the functions that a bundle can import from `tenon:engine`.
#[napi]
pub fn engine_functions(full: bool) -> Vec<String> {
    variant(full).functions().map(str::to_owned).collect()
}

/// A system by its name; none is this one.
fn target(name: Option<String>) -> Result<Option<&'static Target>> {
    name.map(|name| Target::named(&name)).transpose().map_err(|error| Error::from_reason(error.to_string()))
}

/// Identifies the result of `compileEngine` for a target, by default for this system, in hexadecimal: code of another revision is not used.
#[napi]
pub fn engine_revision(target: Option<String>) -> Result<String> {
    tenon_snapshot::revision(self::target(target)?).map_err(|error| Error::from_reason(error.to_string()))
}

/// Machine code of a variant of the engine, for all machines of a platform.
#[napi(object)]
pub struct EngineCode {
    /// Runs top levels.
    pub building: Buffer,
    /// Shared by all components of the variant.
    pub serving: Buffer,
}

/// Compiles a variant for the package `@tenon/engine`, for a target, by default for this system: seconds of computing. Rejects with
/// `ENGINE`.
#[napi]
pub fn compile_engine(env: &Env, full: bool, target: Option<String>) -> Result<PromiseRaw<'_, EngineCode>> {
    let target = self::target(target)?;
    let compile = compute(move || {
        let building = tenon_snapshot::compile_shipped(variant(full), target)?;
        let serving = tenon_runtime::compile_shared(&variant(full).template()?, target)?;
        Ok((building, serving))
    });
    promise(env, compile, |(building, serving)| EngineCode { building: building.into(), serving: serving.into() })
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

/// The JavaScript engine, ready to run top levels.
#[napi]
pub struct SnapshotEngine {
    engine: Arc<Engine>,
}

#[napi]
impl SnapshotEngine {
    /// Opens a variant that was prepared in this folder; null when it has to be prepared. Rejects with `WRITE` when the
    /// folder cannot be used.
    #[napi]
    pub fn open<'env>(env: &'env Env, folder: String, full: bool) -> Result<PromiseRaw<'env, Option<SnapshotEngine>>> {
        let open = compute(move || Ok(Engine::open(&PathBuf::from(folder), variant(full))?));
        promise(env, open, |engine| engine.map(|engine| SnapshotEngine { engine: Arc::new(engine) }))
    }

    /// Prepares a variant and keeps it in a folder: seconds of computing. Rejects with `ENGINE` or `WRITE`.
    #[napi]
    pub fn prepare(env: &Env, folder: String, full: bool) -> Result<PromiseRaw<'_, ()>> {
        let prepare = compute(move || Ok(tenon_snapshot::prepare(&PathBuf::from(folder), variant(full))?));
        promise(env, prepare, |()| ())
    }

    /// Prepares a variant with the result of `compileEngine`, which the caller trusts, and stores the other part of it in a cache of
    /// runtimes. Rejects with `ENGINE` when this processor or this version cannot run it, and with `WRITE`.
    #[napi]
    pub fn install<'env>(
        env: &'env Env,
        folder: String,
        full: bool,
        code: EngineCode,
        cache_dir: String,
    ) -> Result<PromiseRaw<'env, ()>> {
        let install = compute(move || {
            tenon_snapshot::install(&PathBuf::from(folder), variant(full), &code.building)?;
            let template = variant(full).template()?;
            Ok(tenon_runtime::install_shared(&template, &code.serving, &PathBuf::from(cache_dir))?)
        });
        promise(env, install, |()| ())
    }

    /// Compiles the code that all components of this variant share into a cache of runtimes. Rejects with `ENGINE`.
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
