//! Compiles a component.

use sha2::{Digest, Sha256};
use tenon_rewrite::{Apart, EngineModule, GLOBALS, RESTORE, exports_restore, with_restore};
use wasmtime::{Engine, Result};

use crate::compiler::{Compiler, OverBound};
use crate::image::Image;
use crate::trailer::StateTrailer;
use crate::validate::{features, validate};

/// A component that shares its code: what is compiled, and the memory that is not.
pub(crate) struct Snapshot {
    /// The component without the content of its engine's memory.
    pub(crate) rest: Vec<u8>,
    /// Digest of `rest`, which identifies the code.
    pub(crate) group: [u8; 32],
    pub(crate) image: Image,
    /// Initial size of the memory in bytes, and the one that `rest` declares.
    pub(crate) size: u64,
    pub(crate) declared: u64,
}

impl Snapshot {
    /// Takes a component apart, for systems with pages of at most these bytes. None when it is no snapshot of an engine, or an image cannot be its memory.
    pub(crate) fn of(component: &[u8], page: usize) -> Option<Self> {
        let Apart { state, declared, rest } =
            EngineModule::find(component).and_then(|found| found.take_apart()).ok()?;
        let image = Image::of(&state, page as u64).filter(|image| !image.bytes.is_empty())?;
        let group = Sha256::digest(&rest).into();
        Some(Self { group, image, size: state.size(), declared: declared * 64 * 1024, rest })
    }

    /// Compiles the code that all components with this `rest` share.
    pub(crate) fn compiled(&self, engine: &Engine, component: &[u8], compiler: &Compiler) -> Result<Vec<u8>> {
        compiler.run(engine, &self.rest).map_err(|error| {
            // The error of the component itself cites the user's offsets.
            if error.is::<OverBound>() { error } else { compiler.run(engine, component).err().unwrap_or(error) }
        })
    }

    /// Describes the image, which begins at this position of its file.
    pub(crate) fn trailer(&self, offset: u64) -> StateTrailer {
        let (length, start) = (self.image.bytes.len() as u64, self.image.offset);
        StateTrailer { offset, length, start, size: self.size, declared: self.declared, group: self.group }
    }
}

/// Validates and compiles a component that was screened. Time and memory depend on the component; `Compiler` limits
/// both.
pub(crate) fn compile(engine: &Engine, component: &[u8]) -> Result<Vec<u8>> {
    validate(engine, component)?;
    // Tasks of the async ABI may wait on the host while nothing runs, so such instances are never restored.
    let restorable = (!engine.get_concurrency_support()).then(|| with_restore(component, features(engine)));
    let restorable =
        restorable.and_then(|made| made.map_err(|reason| tracing::debug!("instances are not restored: {reason}")).ok());
    match restorable.map(|restorable| engine.precompile_component(&restorable)) {
        Some(Ok(compiled)) => Ok(compiled),
        // Compiles the original so that errors cite the user's offsets.
        _ => {
            // An export with this name is trusted to restore the globals.
            wasmtime::ensure!(
                !exports_restore(component)?,
                "it exports {RESTORE} or {GLOBALS}, names that Tenon reserves"
            );
            engine.precompile_component(component)
        }
    }
}
