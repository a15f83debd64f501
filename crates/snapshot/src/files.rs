//! Names of what is kept.

use std::hash::{DefaultHasher, Hash, Hasher};

use tenon_code::Folder;

/// What is prepared, as a number: another one when this crate prepares something else of the same ingredients.
const EDITION: u32 = 9;

/// How many prepared engines are kept: those of three versions, with and without weval.
const KEPT: usize = 6;

/// Names by what was prepared, and by wasmtime's version and configuration.
pub(crate) struct Files {
    pub(crate) code: String,
    pub(crate) template: String,
    pub(crate) adapter: String,
    pub(crate) bindings: String,
    pub(crate) environment: String,
    pub(crate) first_call: String,
}

impl Files {
    pub(crate) fn new(engine: &wasmtime::Engine, key: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        EDITION.hash(&mut hasher);
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let name = |extension: &str| format!("{key}-{:016x}.{extension}", hasher.clone().finish());
        Self {
            code: name("engine"),
            template: name("template"),
            adapter: name("adapter"),
            bindings: name("bindings"),
            environment: name("settings"),
            first_call: name("first-call"),
        }
    }

    pub(crate) fn names(&self) -> [&String; 6] {
        [&self.code, &self.template, &self.adapter, &self.bindings, &self.environment, &self.first_call]
    }

    pub(crate) fn prune(&self, folder: &Folder) {
        for name in self.names() {
            if let Some((_, extension)) = name.rsplit_once('.') {
                folder.prune(extension, KEPT);
            }
        }
    }
}
