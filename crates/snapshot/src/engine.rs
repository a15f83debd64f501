//! The prepared engine and its builds.

use std::path::Path;

use tenon_link::{Linked, link};
use tenon_trusted_folder::Folder;
use wasm_encoder::{ComponentSection, ProducersField, ProducersSection};

use crate::error::SnapshotError;
use crate::prepare::{Files, Variant};
use crate::run::Runner;
use crate::template;
use crate::wasmtime_engine::configured;

/// The result of a build.
#[derive(Debug)]
pub struct Built {
    /// A component that exports `sdk:core/handler`.
    pub component: Vec<u8>,
    /// Bytes of the component that belong to the handler: the nonzero part of its memory.
    pub state_bytes: usize,
    /// Output of the top level on standard output and standard error.
    pub printed: String,
}

/// The engine, ready to evaluate bundles.
pub struct Engine {
    runner: Runner,
    template: Vec<u8>,
}

impl Engine {
    /// Opens a variant that [`crate::prepare()`] stored. None when it has to be prepared.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Keep`] when the folder cannot be used.
    pub fn open(folder: &Path, variant: Variant) -> Result<Option<Self>, SnapshotError> {
        let engine = configured()?;
        let files = variant.files(&engine);
        Self::open_files(folder, engine, &files)
    }

    pub(crate) fn open_files(
        folder: &Path,
        engine: wasmtime::Engine,
        files: &Files,
    ) -> Result<Option<Self>, SnapshotError> {
        let folder = Folder::open(folder)?;
        let open = || {
            let template = folder.read(&files.template)?;
            Some(Self { runner: Runner::open(engine, &folder, &files.code)?, template })
        };
        Ok(open())
    }

    /// Returns the component that all snapshots are written into. They share its machine code.
    #[must_use]
    pub fn template(&self) -> &[u8] {
        &self.template
    }

    /// Evaluates a bundle, one ES module, and makes a component from the resulting engine. Stack traces call the bundle
    /// `name`. The component records `tools`, names and versions, as its producers, and contains the modules that the
    /// bundle calls, `linked`. This computes for up to seconds, so it must not run on a thread that others wait for.
    ///
    /// # Errors
    ///
    /// The variants of [`SnapshotError`] about the top level, and [`SnapshotError::Link`].
    pub fn build(
        &self,
        name: &str,
        bundle: &[u8],
        tools: &[(String, String)],
        linked: &[Linked<'_>],
    ) -> Result<Built, SnapshotError> {
        let output = self.runner.run(name, bundle, |state| template::with_state(&self.template, state))?;
        let mut component = output.written;
        if !linked.is_empty() {
            component = link(&component, linked)?;
        }
        note_tools(&mut component, tools);
        Ok(Built { component, state_bytes: output.state_bytes, printed: output.printed })
    }
}

/// Appends the producers section of a component, as `componentize()` writes it. Does nothing without tools.
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
