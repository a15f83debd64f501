//! Recordings of requests for Node: `tenon_tape`, and replays.

use std::path::Path;
use std::time::{Duration, SystemTime};

use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Error, Result};
use napi_derive::napi;
use tenon_tape::{Tape, TapeFolder};

use crate::failure::{Failure, compute, promise};
use crate::options::whole;
use crate::runtime::Runtime;

/// Returns a recording as JSON: its head, and its events when `whole`. Throws with the reason when it is none.
#[napi]
pub fn read_tape(bytes: Buffer, whole: bool) -> Result<String> {
    let wrong = |error: tenon_tape::TapeError| Error::from_reason(error.to_string());
    let view = if whole {
        tenon_runtime::tape_view(&Tape::read(&bytes).map_err(wrong)?)
    } else {
        tenon_runtime::meta_view(&Tape::read_meta(&bytes).map_err(wrong)?)
    };
    Ok(view.to_string())
}

/// Returns the module's name from the first bytes of a recording, which may be damaged after them. `null` when it is not there.
#[napi]
pub fn tape_module(start: Buffer) -> Option<String> {
    Tape::read_module(&start)
}

/// Removes recordings from a folder: those that are older than so many milliseconds, and the oldest until so many bytes are left.
/// Returns how many were removed. Rejects with `FOLDER`.
#[napi]
pub fn prune_tapes<'env>(
    env: &'env Env,
    folder: String,
    max_bytes: f64,
    max_age_ms: Option<f64>,
) -> Result<PromiseRaw<'env, u32>> {
    let prune = compute(move || {
        let bytes = whole("the size", max_bytes)?;
        let age = max_age_ms.map(|age| Ok::<_, Failure>(Duration::from_millis(whole("the age", age)?))).transpose()?;
        let failed = |error: std::io::Error| Failure::new("FOLDER", format!("{folder}: {error}"));
        let mut tapes = TapeFolder::open(Path::new(&folder), bytes, age).map_err(failed)?;
        tapes.remove_to(bytes, SystemTime::now()).map_err(failed)
    });
    promise(env, prune, |removed| u32::try_from(removed).unwrap_or(u32::MAX))
}

#[napi]
impl Runtime {
    /// Replays a recording in a module, and resolves with the outcome as JSON. `isOther` takes a module that is another build.
    /// Rejects with `REQUEST` when it is no recording, or not of this module.
    #[napi]
    pub fn replay<'env>(
        &self,
        env: &'env Env,
        module: String,
        bytes: Buffer,
        is_other: bool,
    ) -> Result<PromiseRaw<'env, String>> {
        let (runtime, bytes) = (self.runtime.clone(), Vec::from(bytes));
        let replay = async move {
            let tape = Tape::read(&bytes).map_err(|error| Failure::new("REQUEST", error.to_string()))?;
            let replayed = runtime.get()?.replay(&module, tape, is_other).await;
            let replayed = replayed.map_err(|error| Failure::new("REQUEST", error.to_string()))?;
            serde_json::to_string(&replayed).map_err(|error| Failure::new("INTERNAL", error.to_string()))
        };
        promise(env, replay, |replayed| replayed)
    }

    /// The SHA-256 of a module's component in hexadecimal digits, when recordings are replayed.
    #[napi]
    pub fn component_digest(&self, module: String) -> Result<Option<String>> {
        Ok(self.runtime.get_or_throw()?.component_digest(&module).map(hex::encode))
    }
}
