//! Preparation of the engine, once for each version of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use sha2::{Digest, Sha256};
use tenon_code::{Cpu, Target};
use tenon_compose::Kind;
use tenon_packed::{Packed, packed};
use tenon_rewrite::section::{CUSTOM, PREAMBLE, sections};
use tenon_trusted_folder::Folder;
use wasmparser::Validator;
use wasmtime::Module;
use wasmtime_wizer::Wizer;

use crate::error::SnapshotError;
use crate::template;
use crate::wasmtime_engine::{configured, configured_for};

/// The function that evaluates a bundle: name and source, each an address and a length. It returns 0, or 1 after it has
/// printed the reason of its failure.
pub(crate) const INITIALIZE: &str = "initialize";

/// The function that frees unreachable objects.
pub(crate) const COLLECT: &str = "collect";

/// The custom section with the names of the functions of `tenon:engine`, one a line.
const FUNCTIONS: &str = "tenon-functions";

/// Number of files of a kind that are kept: those of both variants in three versions.
const KEPT: usize = 6;

/// The sources that determine a prepared engine, besides the engine.
const SOURCES: [&str; 2] = [include_str!("prepare.rs"), include_str!("template.rs")];

/// A build of the engine. All components of a variant share machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Without the functions that few handlers use.
    Lean,
    /// With all of them.
    Full,
}

impl Variant {
    fn packed(self) -> &'static Packed {
        static LEAN: Packed = packed!("engine.wasm");
        static FULL: Packed = packed!("engine-full.wasm");
        match self {
            Self::Lean => &LEAN,
            Self::Full => &FULL,
        }
    }

    /// The core module.
    fn module(self) -> &'static [u8] {
        self.packed().bytes()
    }

    /// Returns the component without memory that all components of this variant are made from.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Engine`] when it cannot be encoded.
    pub fn template(self) -> Result<Vec<u8>, SnapshotError> {
        template_of(self.module())
    }

    /// Names of the functions of the module `tenon:engine`, which `crates/engine/seal.mjs` writes into a custom section.
    pub fn functions(self) -> impl Iterator<Item = &'static str> {
        let sections = sections(self.module(), PREAMBLE..self.module().len()).unwrap_or_default();
        let found = sections.into_iter().filter(|section| section.id == CUSTOM).find_map(|section| {
            let mut reader = section.reader(self.module());
            let is_named = reader.read_string().is_ok_and(|name| name == FUNCTIONS);
            is_named.then(|| &self.module()[reader.original_position()..section.content.end])
        });
        std::str::from_utf8(found.unwrap_or_default()).unwrap_or_default().lines()
    }

    /// Names of the files of this variant.
    pub(crate) fn files(self, engine: &wasmtime::Engine) -> Files {
        Files::of(engine, self.packed().packed())
    }
}

/// Names of the stored files. They contain a digest of the sources, and wasmtime's version and configuration.
pub(crate) struct Files {
    pub(crate) code: String,
    pub(crate) template: String,
}

impl Files {
    /// Names for what is made from a module. Modules with the same `key` are the same.
    pub(crate) fn of(engine: &wasmtime::Engine, key: &[u8]) -> Self {
        let digest = Sha256::new().chain_update(key).chain_update(tenon_compose::wrap(&[], Kind::Handler));
        let digest = SOURCES.iter().fold(digest, |digest, source| digest.chain_update(source)).finalize();
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let key = hex::encode(&digest[..16]);
        let name = |extension: &str| format!("{key}-{:016x}.{extension}", hasher.finish());
        Self { code: name("engine"), template: name("template") }
    }
}

/// Returns an identifier of what [`compile_shipped`] makes for a target or for this system, in hexadecimal.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when this architecture is not known.
pub fn revision(target: Option<&'static Target>) -> Result<String, SnapshotError> {
    let engine = configured_for(Some(&Cpu::shipped(target)))?;
    let files = [Variant::Lean, Variant::Full].map(|variant| variant.files(&engine));
    let restoring = include_str!("../../rewrite/src/restore.rs");
    let digest =
        files.iter().fold(Sha256::new().chain_update(restoring), |digest, files| digest.chain_update(&files.code));
    Ok(hex::encode(&digest.finalize()[..16]))
}

/// Prepares a variant and stores it in `folder`. It computes on all cores for seconds.
///
/// Two processes may do so at once, because each writes whole files with the same content.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when the engine cannot be compiled, [`SnapshotError::Keep`] when the folder cannot be
/// written.
pub fn prepare(folder: &Path, variant: Variant) -> Result<(), SnapshotError> {
    let engine = configured()?;
    store(folder, &variant.files(&engine), variant.module(), &compile(&engine, variant.module())?)
}

/// Compiles the code that runs top levels for any processor that [`Cpu::shipped`] stands for: what a package ships.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when the engine cannot be compiled.
pub fn compile_shipped(variant: Variant, target: Option<&'static Target>) -> Result<Vec<u8>, SnapshotError> {
    compile(&configured_for(Some(&Cpu::shipped(target)))?, variant.module())
}

/// Prepares a variant with code of [`compile_shipped`], which the caller trusts.
///
/// # Errors
///
/// [`SnapshotError::Engine`] when this processor or this version cannot run it, [`SnapshotError::Keep`] when the folder cannot be
/// written.
pub fn install(folder: &Path, variant: Variant, code: &[u8]) -> Result<(), SnapshotError> {
    let engine = configured()?;
    // SAFETY: the caller trusts the code. Wasmtime itself refuses code of another version or configuration.
    unsafe { Module::deserialize(&engine, code) }.map_err(SnapshotError::engine)?;
    store(folder, &variant.files(&engine), variant.module(), code)
}

pub(crate) fn compile(engine: &wasmtime::Engine, module: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    // Refuses an engine that can change more than its memory and globals, which a snapshot contains.
    let (_, instrumented) = Wizer::new().instrument(module).map_err(SnapshotError::engine)?;
    engine.precompile_module(&instrumented).map_err(SnapshotError::engine)
}

pub(crate) fn store(folder: &Path, files: &Files, module: &[u8], code: &[u8]) -> Result<(), SnapshotError> {
    let folder = Folder::open(folder)?;
    folder.write(&files.template, &template_of(module)?)?;
    folder.write(&files.code, code)?;
    for name in [&files.code, &files.template] {
        if let Some((_, extension)) = name.rsplit_once('.') {
            folder.prune(extension, KEPT);
        }
    }
    Ok(())
}

/// Makes the component without memory, which imports only WASI.
fn template_of(module: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let component = tenon_compose::wrap(&template::without_memory(module)?, Kind::Handler);
    // An engine and a wrapper that do not fit are found now.
    let mut validator = Validator::new_with_features(tenon_language::proposals(false));
    validator.validate_all(&component).map_err(SnapshotError::engine)?;
    Ok(component)
}
