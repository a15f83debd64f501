//! Compiled code on disk, so that a component is compiled once and mapped from then on.
//!
//! An entry is named by what it depends on: the component's bytes, and the engine's version and configuration. Loading
//! machine code means running it, so an entry counts only if
//!
//! - its folder belongs to this user and nobody else may write to it (mode 0700), and
//! - its digest is the one noted when it was written; a damaged entry is compiled again.

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use wasmtime::component::Component;
use wasmtime::{Engine, Result};

/// Compiles `bytes`, or loads what an earlier call compiled. Trouble with the cache is logged and costs time, no more.
///
/// # Errors
///
/// The compiler's, when the bytes are no component.
pub(crate) fn compile(engine: &Engine, bytes: &[u8], folder: Option<&Path>) -> Result<Component> {
    let Some(folder) = folder else { return Component::from_binary(engine, bytes) };
    if let Err(error) = ensure_private(folder) {
        tracing::warn!("compiled code is not cached: {}: {error}", folder.display());
        return Component::from_binary(engine, bytes);
    }
    let entry = Entry::of(engine, bytes, folder);
    if let Some(component) = entry.load(engine) {
        return Ok(component);
    }
    let code = engine.precompile_component(bytes)?;
    match entry.store(&code) {
        // Mapped from the file, the code's pages are shared and can be dropped; from memory they could not.
        Ok(()) => match entry.load(engine) {
            Some(component) => return Ok(component),
            None => tracing::warn!("compiled code cannot be read back from {}", entry.code.display()),
        },
        Err(error) => tracing::warn!("compiled code is not cached: {}: {error}", entry.code.display()),
    }
    // SAFETY: the code was compiled a moment ago by this engine and has not left this process.
    unsafe { Component::deserialize(engine, &code) }
}

/// Makes the folder, and refuses one that another user owns or may write to.
fn ensure_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = fs::symlink_metadata(folder)?;
    let own = rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || metadata.uid() != own {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is no folder of this user's"));
    }
    // Whoever could write here may have left code for us to run.
    if metadata.mode() & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "others may write to it; remove it or chmod 700 it",
        ));
    }
    if metadata.mode() & 0o055 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// The two files of one component's code.
struct Entry {
    code: PathBuf,
    digest: PathBuf,
}

impl Entry {
    fn of(engine: &Engine, bytes: &[u8], folder: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let name = format!("{}-{:016x}", hex(&Sha256::digest(bytes)), hasher.finish());
        Self { code: folder.join(format!("{name}.cwasm")), digest: folder.join(format!("{name}.sha256")) }
    }

    /// None when there is no entry, or none that can be trusted.
    fn load(&self, engine: &Engine) -> Option<Component> {
        let noted = fs::read_to_string(&self.digest).ok()?;
        let code = fs::read(&self.code).ok()?;
        if hex(&Sha256::digest(&code)) != noted {
            tracing::warn!("damaged compiled code is compiled again: {}", self.code.display());
            return None;
        }
        // SAFETY: the folder is this user's alone and the bytes are those that this code wrote there, so they are what
        // wasmtime compiled. Wasmtime itself refuses code of another version or configuration.
        match unsafe { Component::deserialize_file(engine, &self.code) } {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!("foreign compiled code is compiled again: {}: {error:#}", self.code.display());
                None
            }
        }
    }

    /// Writes both files under other names first: a reader sees an entry whole or not at all.
    fn store(&self, code: &[u8]) -> io::Result<()> {
        let digest = hex(&Sha256::digest(code));
        for (path, content) in [(&self.code, code), (&self.digest, digest.as_bytes())] {
            let folder = path.parent().unwrap_or(Path::new("."));
            let mut file = NamedTempFile::new_in(folder)?;
            file.write_all(content)?;
            file.persist(path)?;
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::engine::engine;

    fn entries(folder: &Path, extension: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
    }

    #[test]
    fn code_is_compiled_once_and_damage_is_noticed() {
        let engine = engine(&Limits { max_concurrent: 1, ..Limits::default() }).unwrap();
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("code");
        let bytes = tenon_fixtures::echo(200);

        compile(&engine, &bytes, Some(&folder)).unwrap();
        let [code] = &entries(&folder, "cwasm")[..] else { panic!("one entry is written") };
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        let whole = fs::read(code).unwrap();
        let written = fs::metadata(code).unwrap().ino();

        compile(&engine, &bytes, Some(&folder)).unwrap();
        assert_eq!(fs::metadata(code).unwrap().ino(), written, "the entry is used, not written again");

        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        for wrong in [&damaged[..], &whole[..middle], b""] {
            fs::write(code, wrong).unwrap();
            compile(&engine, &bytes, Some(&folder)).unwrap();
            assert_eq!(fs::read(code).unwrap(), whole, "a damaged entry is replaced");
        }

        // An entry whose digest is right but which no wasmtime wrote.
        fs::write(code, b"foreign").unwrap();
        fs::write(&entries(&folder, "sha256")[0], hex(&Sha256::digest(b"foreign"))).unwrap();
        compile(&engine, &bytes, Some(&folder)).unwrap();
        assert_eq!(fs::read(code).unwrap(), whole, "a foreign entry is replaced");
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let with_mode = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            ensure_private(folder.path())
        };
        assert!(with_mode(0o777).is_err());
        assert!(with_mode(0o720).is_err());
        assert!(with_mode(0o755).is_ok());
        assert_eq!(fs::metadata(folder.path()).unwrap().mode() & 0o777, 0o700);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(ensure_private(&file).is_err());

        // Such a folder costs the cache, not the module.
        let engine = engine(&Limits { max_concurrent: 1, ..Limits::default() }).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        compile(&engine, &tenon_fixtures::echo(200), Some(folder.path())).unwrap();
        assert!(entries(folder.path(), "cwasm").is_empty());
    }
}
