//! `tenon-server`: serves components without Node, for container images.
//!
//! It owns the process: its commands, its signals, its exit code. `tenon build --server` writes the configuration, because the parser
//! of `tenon.toml` is in `cli/`. The runtime and the sidecars are those of `crates/runtime` and `crates/services`.
//!
//! ```text
//!  tenon-server run server.json      ─► configuration ─► sidecars in this process ─► tenon_runtime::Runtime
//!                                        └─► tenon_jobs: consumers of queues and cron
//!  tenon-server compile server.json  ─► the same without listening: fills the cache of machine code
//!    --in-place                        ─► the folder gets the code in place of the components
//!  tenon-server migrate              ─► tenon_jobs::migrate
//!  tenon-server sidecar sql …        ─► tenon_services::Sidecar
//! ```

mod command;
mod compile;
mod configuration;
mod error;
mod grammar;
mod health;
mod in_process;
mod live;
mod migrate;
mod output;
mod overrides;
mod serve;
mod sidecar;
mod sidecar_command;
mod signals;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use command::{Arguments, Command, Sidecars};
use error::ServerError;

/// The exit code of a failure.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if matches!(arguments.command, Command::CompileChild) {
        return match tenon_runtime::compile_child() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(FAILED),
        };
    }
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(ServerError::Threads)
        .and_then(|tokio| tokio.block_on(run(arguments.command)));
    match ended {
        Ok(code) => code,
        Err(error) => {
            // The configuration sets the format, and may itself have failed.
            let _ = tenon_log::start("info", "readable");
            tracing::error!("{error}");
            ExitCode::from(FAILED)
        }
    }
}

async fn run(command: Command) -> Result<ExitCode, ServerError> {
    match command {
        Command::Run(options) => serve::run(options).await,
        Command::Migrate(options) => migrate::run(options).await,
        Command::Compile(options) if options.in_place => compile::in_place(&options.configuration, &options.target_cpu),
        Command::Compile(options) => compile::into_cache(&options.configuration).await,
        Command::Sidecar(Sidecars::Health { address, timeout }) => health::check(&address, timeout).await,
        Command::Sidecar(Sidecars::Serve(options)) => sidecar::run(options).await,
        Command::CompileChild => Ok(ExitCode::SUCCESS),
    }
}

/// The program and the arguments of a process that compiles one component.
fn compiler() -> Result<Vec<OsString>, ServerError> {
    let program = std::env::current_exe().map_err(ServerError::Program)?;
    Ok(vec![program.into_os_string(), OsString::from(command::COMPILE_CHILD)])
}

/// The folder that machine code is kept in: `TENON_CACHE_DIR`, else `tenon` in the user's cache folder. None without a home.
fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("TENON_CACHE_DIR").or_else(|| {
        let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        Some(base.or_else(|| Some(set("HOME")?.join(".cache")))?.join("tenon"))
    })
}
