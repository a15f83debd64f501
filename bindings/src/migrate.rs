//! `tenon_jobs::migrate` for Node.

use std::path::Path;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use tenon_jobs::{GrammarFile, SidecarAddress};
use tenon_transport::Sidecar;

use crate::failure::{Failure, promise};
use crate::in_process;

/// Options of `migrate`.
#[napi(object)]
pub struct MigrateOptions {
    /// Address of the sidecar: `http://host:port`, `unix:///path`, or that of a `Sidecar` in this process.
    pub address: String,
    /// The folder of the files.
    pub folder: String,
    /// The sidecar's bearer token.
    pub token: Option<String>,
    /// The file `libpg-query.wasm`, which has PostgreSQL's grammar.
    pub grammar: Option<String>,
    /// The folder of the grammar's machine code.
    pub cache: Option<String>,
}

/// The result of `migrate`.
#[napi(object)]
pub struct Migrated {
    /// `sqlite` or `postgres`.
    pub dialect: String,
    /// The files that this call applied.
    pub applied: Vec<String>,
    /// The files that were applied before.
    pub before: Vec<String>,
}

/// Applies the files of a folder that were not applied yet. Rejects with a code, and a hint: `USAGE` for an invalid address,
/// `BACKEND`, `CONFIG` or `FOLDER`.
#[napi]
pub fn migrate<'env>(env: &'env Env, options: MigrateOptions) -> Result<PromiseRaw<'env, Migrated>> {
    let MigrateOptions { address, folder, token, grammar, cache } = options;
    let migrate = async move {
        let usage = |error: tenon_transport::AddressError| Failure::new("USAGE", error.to_string());
        let sidecar = Sidecar::new("db", in_process::address(&address).map_err(usage)?)?;
        let sidecar = SidecarAddress::new(sidecar, token.as_deref())?;
        let grammar = GrammarFile { file: grammar.map(Into::into), cache: cache.map(Into::into) };
        Ok(tenon_jobs::migrate(sidecar, Path::new(&folder), grammar).await?)
    };
    promise(env, migrate, |tenon_jobs::Migrated { dialect, applied, before }| Migrated {
        dialect: dialect.to_string(),
        applied,
        before,
    })
}
