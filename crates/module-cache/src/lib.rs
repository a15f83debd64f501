//! Compiles a core module that Tenon itself brings, and stores its machine code for the next start.
//!
//! `crates/code` does this for the components of users, which it shares and screens. These modules need neither.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use sha2::{Digest, Sha256};
use tenon_trusted_folder::Folder;
use wasmtime::{Engine, Module, Result};

/// Number of versions of a module that are kept.
const KEPT: usize = 4;

/// Compiles the module that `bytes` returns, or maps the machine code that an earlier call stored in the folder `cache`, in a file with
/// the extension `name`. Modules with the same `key` are the same. Errors of that folder are logged and only cost the time to compile.
///
/// # Errors
///
/// The module does not compile.
pub fn load<'a>(
    engine: &Engine,
    key: &[u8],
    bytes: impl FnOnce() -> &'a [u8],
    name: &str,
    cache: Option<&Path>,
) -> Result<Module> {
    let Some(path) = cache else { return Module::new(engine, bytes()) };
    let folder = match Folder::open(path) {
        Ok(folder) => folder,
        Err(error) => {
            tracing::warn!("the code of {name} is not cached: {}: {error}", path.display());
            return Module::new(engine, bytes());
        }
    };
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let file = format!("{}-{:016x}.{name}", hex::encode(Sha256::digest(key)), hasher.finish());
    if folder.holds(&file) {
        // SAFETY: only this user and root can write to the folder, and the digest matches what this code wrote there.
        // So the bytes are wasmtime's output. Wasmtime itself refuses code of another version or configuration.
        match unsafe { Module::deserialize_file(engine, folder.file(&file)) } {
            Ok(module) => return Ok(module),
            Err(error) => tracing::warn!("{name} is compiled again: {error:#}"),
        }
    }
    let module = Module::new(engine, bytes())?;
    if folder.is_read_only() {
        return Ok(module);
    }
    if let Err(error) = folder.write(&file, &module.serialize()?) {
        tracing::warn!("the code of {name} is not cached: {error}");
    }
    folder.prune(name, KEPT);
    Ok(module)
}
