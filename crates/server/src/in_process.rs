//! Sidecars in the server's process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Map, Value};
use tenon_services::{InProcessSidecar, ServicesError, SidecarFiles, SidecarSettings};
use tenon_transport::{Address, InProcess, Sidecar};

use crate::error::ServerError;
use crate::values;

/// A sidecar of the configuration: an address, or the settings of one in this process.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum SidecarValue {
    /// `http://host:port` or `unix:///path`.
    Address(String),
    /// [`SidecarSettings`], with `urlFile` or a reference in `url`.
    InProcess(Map<String, Value>),
}

/// The folders of a configuration.
pub(crate) struct Places<'a> {
    /// The configuration's own, which relative paths begin at.
    pub(crate) folder: &'a Path,
    /// The folder of the machine code of SQLite and of PostgreSQL's grammar.
    pub(crate) cache: Option<PathBuf>,
}

/// The sidecars in this process. Those that are defined alike are one.
#[derive(Default)]
pub(crate) struct InProcessSidecars {
    placed: BTreeMap<String, InProcess>,
    /// Those of the former configuration.
    former: BTreeMap<String, InProcess>,
}

impl InProcessSidecars {
    /// An empty set, which takes over what runs here and is defined alike.
    pub(crate) fn next(&self) -> Self {
        Self { placed: BTreeMap::new(), former: self.placed.clone() }
    }

    /// Leaves what only the former configuration has. Its requests finish.
    pub(crate) fn leave_former(&mut self) {
        self.former.clear();
    }

    /// The sidecars of a section, sorted by name. Those in this process are started unless they run.
    ///
    /// # Errors
    ///
    /// A URL that is not there, settings that make no sense, or a store that does not answer.
    pub(crate) async fn place(
        &mut self,
        values: &BTreeMap<String, SidecarValue>,
        section: &str,
        places: &Places<'_>,
    ) -> Result<Vec<Sidecar>, ServerError> {
        let mut sidecars = Vec::new();
        for (name, value) in values {
            let wrong = |reason: String| ServerError::Values(format!("{section}.{name}: {reason}"));
            let address = match value {
                SidecarValue::Address(text) => Address::parse(text).map_err(|error| wrong(error.to_string()))?,
                SidecarValue::InProcess(table) => {
                    let settings = settings(table, places).map_err(wrong)?;
                    Address::InProcess(self.started(&format!("{section}.{name}"), table, settings).await?)
                }
            };
            sidecars.push(Sidecar::new(name, address).map_err(|error| wrong(error.to_string()))?);
        }
        Ok(sidecars)
    }

    async fn started(
        &mut self,
        name: &str,
        table: &Map<String, Value>,
        settings: SidecarSettings,
    ) -> Result<InProcess, ServerError> {
        // The keys of a map are sorted.
        let key = Value::Object(table.clone()).to_string();
        if let Some(running) = self.placed.get(&key) {
            return Ok(running.clone());
        }
        let started = match self.former.get(&key) {
            Some(running) => running.clone(),
            None => start(settings).await.map_err(|source| ServerError::Sidecar { name: name.to_string(), source })?,
        };
        self.placed.insert(key, started.clone());
        Ok(started)
    }
}

async fn start(settings: SidecarSettings) -> Result<InProcess, ServicesError> {
    let limits = settings.limits();
    let sidecar = InProcessSidecar::open(settings.backend()?, limits).await?;
    Ok(InProcess::new(move |request| {
        let sidecar = sidecar.clone();
        async move { sidecar.answer(request).await.map(|body| body.map_err(Into::into).boxed_unsync()) }
    }))
}

/// Settings, with the URL in the place of the reference to it.
fn settings(table: &Map<String, Value>, places: &Places<'_>) -> Result<SidecarSettings, String> {
    let folder = places.folder;
    let mut table = table.clone();
    let url = match (table.remove("urlFile"), table.get("url")) {
        (Some(Value::String(file)), None) => {
            values::value_at(&format!("file:{file}"), folder).map_err(|wrong| wrong.to_string())?
        }
        (None, Some(Value::String(url))) if url.starts_with("env:") => {
            values::value_at(url, folder).map_err(|wrong| wrong.to_string())?
        }
        (None, Some(Value::String(url))) => url.clone(),
        _ => return Err("must have either `url` or `urlFile`".to_string()),
    };
    table.insert("url".to_string(), Value::String(with_folder(&url, folder)));
    // The messages of serde name keys and types, and no value of `url`, which is a text.
    let mut settings = SidecarSettings::from_json(Value::Object(table)).map_err(|error| error.to_string())?;
    settings.files = SidecarFiles { grammar: crate::grammar::grammar(None), cache: places.cache.clone() };
    Ok(settings)
}

/// A URL of a file or a folder, whose path is relative to `folder`.
fn with_folder(url: &str, folder: &Path) -> String {
    for scheme in ["sqlite:", "file:"] {
        if let Some(path) = url.strip_prefix(scheme)
            && !path.is_empty()
            && !path.starts_with(['/', ':'])
        {
            return format!("{scheme}{}", folder.join(path).display());
        }
    }
    url.to_string()
}
