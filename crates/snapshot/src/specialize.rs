//! Engines for weval. The snapshot is a core module; weval specializes its functions to the handler before it becomes a
//! component.
//!
//! Such an engine leaves requests for weval in its memory: an interpreter, and the bytecode to specialize it to. weval
//! finds them in the snapshot and appends functions, so such a component has code of its own.

use std::path::Path;

use tenon_link::{Linked, link};
use tenon_trusted_folder::Folder;

use crate::encode::encode;
use crate::error::SnapshotError;
use crate::files::Files;
use crate::run::{RunOutput, Runner, configured};
use crate::template;

/// An engine for weval, ready to run top levels.
pub struct SpecializableEngine {
    runner: Runner,
    template: Vec<u8>,
    adapter: Vec<u8>,
}

/// The input of weval.
#[derive(Debug)]
pub struct Snapshot {
    /// A core module that imports `weval`.
    pub module: Vec<u8>,
    /// Output of the top level on standard output and standard error.
    pub printed: String,
}

impl SpecializableEngine {
    /// Opens the engine that [`crate::prepare_specializable`] stored under `key`. None when it has to be prepared.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Keep`] when the folder cannot be used.
    pub fn open(folder: &Path, key: &str) -> Result<Option<Self>, SnapshotError> {
        let folder = Folder::open(folder)?;
        let engine = configured()?;
        let files = Files::new(&engine, key);
        let open = || {
            Some(Self {
                template: folder.read(&files.template)?,
                adapter: folder.read(&files.adapter)?,
                runner: Runner::open(engine, &folder, &files)?,
            })
        };
        Ok(open())
    }

    /// Runs the top level of a bundle; see [`crate::Engine::build`].
    ///
    /// # Errors
    ///
    /// The variants of [`SnapshotError`] about the top level.
    pub fn snapshot(&self, name: &str, bundle: &[u8]) -> Result<Snapshot, SnapshotError> {
        let RunOutput { written: module, printed, .. } =
            self.runner.run(name, bundle, |state| template::module_with_state(&self.template, state))?;
        Ok(Snapshot { module, printed })
    }

    /// Makes a component from weval's output for a snapshot's module, with the modules that it calls. It is for serving and
    /// records no tools.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Engine`] when it cannot be encoded as a component, and [`SnapshotError::Link`].
    pub fn component(&self, specialized: &[u8], linked: &[Linked<'_>]) -> Result<Vec<u8>, SnapshotError> {
        let component = encode(specialized, &self.adapter)?;
        if linked.is_empty() { Ok(component) } else { Ok(link(&component, linked)?) }
    }
}
