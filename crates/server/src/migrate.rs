//! `tenon-server migrate`.

use std::process::ExitCode;

use serde_json::json;
use tenon_jobs::{GrammarFile, SidecarAddress};
use tenon_transport::{Address, Sidecar};

use crate::command::MigrateOptions;
use crate::configuration::Configuration;
use crate::error::ServerError;
use crate::in_process::InProcessSidecars;
use crate::output::{note, print};
use crate::sidecar::token;

/// Name of the sidecar whose database is migrated.
const NAME: &str = "db";

/// Applies the migrations that were not applied yet.
pub(crate) async fn run(options: MigrateOptions) -> Result<ExitCode, ServerError> {
    tenon_log::start("info", "readable")?;
    let mut sidecars = InProcessSidecars::default();
    let sidecar = match &options.address {
        Some(text) => {
            let usage = |error: tenon_transport::AddressError| ServerError::Usage(error.to_string());
            Sidecar::new(NAME, Address::parse(text).map_err(usage)?).map_err(usage)?
        }
        None => Configuration::read(&options.configuration)?.sidecar(NAME, &mut sidecars).await?,
    };
    let folder = options.folder.unwrap_or_else(|| options.configuration.with_file_name("migrations"));
    let address = SidecarAddress::new(sidecar, token(options.token_file.as_deref())?.as_deref())?;
    let grammar = GrammarFile { file: crate::grammar::grammar(options.parser), cache: crate::cache_folder() };
    let done = tenon_jobs::migrate(address, &folder, grammar).await?;
    for name in &done.applied {
        note("Migrate", name);
    }
    if done.applied.is_empty() {
        note("Migrate", &format!("nothing to do: {} files are applied", done.before.len()));
    }
    if options.json {
        print(&json!(done).to_string());
    }
    Ok(ExitCode::SUCCESS)
}
