//! The prepared engine, and a build with it.

use std::path::Path;

use tenon_code::{Cpu, Folder};
use wasm_encoder::{ComponentSection, ProducersField, ProducersSection};

use crate::error::SnapshotError;
use crate::files::Files;
use crate::run::{Ran, Runner, configured, configured_for};
use crate::template;

/// A component, and what it came to.
#[derive(Debug)]
pub struct Built {
    /// A component that exports `sdk:core/handler`.
    pub component: Vec<u8>,
    /// Bytes of it that are the handler's: what is not zero in its memory.
    pub state_bytes: usize,
    /// What the top level wrote to standard output and standard error.
    pub printed: String,
}

/// The engine, ready to run top levels.
pub struct Engine {
    runner: Runner,
    template: Vec<u8>,
}

impl Engine {
    /// Opens what [`crate::prepare`], or else [`crate::prepare_shipped`], kept under `key`; none when it has to be prepared.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Keep`] when the folder cannot be used.
    pub fn open(folder: &Path, key: &str) -> Result<Option<Self>, SnapshotError> {
        let folder = Folder::open(folder)?;
        let engine = configured()?;
        let open = |files: &Files| {
            let runner = Runner::open(engine.clone(), &folder, files)?;
            Some(Self { template: folder.read(&files.template)?, runner })
        };
        if let Some(own) = open(&Files::new(&engine, key)) {
            return Ok(Some(own));
        }
        Ok(open(&Files::new(&configured_for(Some(&Cpu::oldest()))?, key)))
    }

    /// The component that all snapshots are written into; its code is the code of them all.
    #[must_use]
    pub fn template(&self) -> &[u8] {
        &self.template
    }

    /// Runs the top level of a bundle, one ES module, and makes a component of the engine as it then is. `name` is the
    /// bundle's file name, by which stack traces call it; the component notes `tools`, names and versions, as what made it.
    /// It computes, and must not be called where others wait.
    ///
    /// # Errors
    ///
    /// The kinds of [`SnapshotError`] that are about the top level.
    pub fn build(&self, name: &str, bundle: &[u8], tools: &[(String, String)]) -> Result<Built, SnapshotError> {
        let Ran { written: mut component, state_bytes, printed } =
            self.runner.run(name, bundle, |state| template::with_state(&self.template, state))?;
        note_tools(&mut component, tools);
        Ok(Built { component, state_bytes, printed })
    }
}

/// Adds the registry of tools that a component carries, as `componentize()` writes it; none without tools.
fn note_tools(component: &mut Vec<u8>, tools: &[(String, String)]) {
    if tools.is_empty() {
        return;
    }
    let mut processed = ProducersField::new();
    for (name, version) in tools {
        processed.value(name, version);
    }
    let mut producers = ProducersSection::new();
    producers.field("language", ProducersField::new().value("JavaScript", ""));
    producers.field("processed-by", &processed);
    producers.append_to_component(component);
}
