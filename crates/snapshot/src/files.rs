//! Names of stored files.

use std::hash::{DefaultHasher, Hash, Hasher};

use tenon_trusted_folder::Folder;

/// Cache format version; bump it when this crate prepares something else from the same ingredients.
const FORMAT_VERSION: u32 = 9;

/// Number of prepared engines that are kept: those of three versions, with and without weval.
const KEPT: usize = 6;

/// File names, which contain the key and wasmtime's version and configuration.
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
        FORMAT_VERSION.hash(&mut hasher);
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
