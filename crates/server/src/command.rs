//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::sidecar_command::SidecarCommand;

/// The name of the hidden command that compiles one component.
pub(crate) const COMPILE_CHILD: &str = "compile-child";

/// The file in an image.
const CONFIGURATION: &str = "/srv/server/server.json";

/// Serves components of Tenon without Node.
#[derive(Parser)]
#[command(name = "tenon-server", version, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve the modules of a configuration until a signal
    Run(RunOptions),
    /// Apply the migrations of a folder to the database behind a sidecar
    Migrate(MigrateOptions),
    /// Compile the modules of a configuration into the cache folder, so that a server starts at once
    Compile(CompileOptions),
    /// Serve a database, a cache or a store to modules, or ask one how it is
    #[command(subcommand)]
    Sidecar(Sidecars),
    /// Compile one component for another process
    #[command(name = COMPILE_CHILD, hide = true)]
    CompileChild,
}

/// The options of `compile`.
#[derive(Args)]
pub(crate) struct CompileOptions {
    /// The file that `tenon build --server` writes
    pub(crate) configuration: PathBuf,
    /// Replace the components in the folder by their code, for a folder that needs no cache
    #[arg(long)]
    pub(crate) in_place: bool,
    /// The oldest processor that must run the code: native, or for example x86-64-v3
    #[arg(long, value_name = "NAME", default_value = "native", requires = "in_place")]
    pub(crate) target_cpu: String,
}

/// The options of `run`.
#[derive(Args)]
pub(crate) struct RunOptions {
    /// The file that `tenon build --server` writes
    #[arg(default_value = CONFIGURATION)]
    pub(crate) configuration: PathBuf,
    /// Address to listen on, in place of the configuration's
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// Port to listen on; 0 takes a free one
    #[arg(short, long)]
    pub(crate) port: Option<u16>,
    /// Print the address as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How much is logged
    #[arg(long, value_enum, default_value_t = Level::Info)]
    pub(crate) log_level: Level,
}

/// The commands of `sidecar`.
#[derive(Subcommand)]
pub(crate) enum Sidecars {
    /// Check that a sidecar answers; the exit code is 1 when it does not
    Health {
        /// Its address: unix:///run/name.sock or http://127.0.0.1:port
        address: String,
        /// Milliseconds to wait for the answer
        #[arg(long, default_value_t = 2500, value_parser = clap::value_parser!(u32).range(1..))]
        timeout: u32,
    },
    #[command(flatten)]
    Serve(SidecarCommand),
}

/// The options of `migrate`.
#[derive(Args)]
pub(crate) struct MigrateOptions {
    /// The sidecar: unix:///run/db.sock or http://127.0.0.1:7001; the sidecar `db` of the configuration when left out
    pub(crate) address: Option<String>,
    /// The file that `tenon build --server` writes
    #[arg(long, default_value = CONFIGURATION)]
    pub(crate) configuration: PathBuf,
    /// The folder of the files; `migrations` beside the configuration when left out
    #[arg(long)]
    pub(crate) folder: Option<PathBuf>,
    /// File with the sidecar's bearer token; without it the token is in TENON_SIDECAR_TOKEN, if any
    #[arg(long)]
    pub(crate) token_file: Option<PathBuf>,
    /// The file libpg-query.wasm, which PostgreSQL needs; without it, the one beside this program
    #[arg(long)]
    pub(crate) parser: Option<PathBuf>,
    /// Print a line {"dialect", "applied", "before"}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options that all sidecars have.
#[derive(Args)]
pub(crate) struct SidecarOptions {
    /// Where to listen: unix:///run/name.sock or 127.0.0.1:port
    #[arg(long)]
    pub(crate) listen: String,
    /// The store, when its URL has no password
    #[arg(long, conflicts_with = "url_file")]
    pub(crate) url: Option<String>,
    /// File with the store's URL; without both it is in DATABASE_URL, REDIS_URL or STORAGE_URL
    #[arg(long)]
    pub(crate) url_file: Option<PathBuf>,
    /// File with the bearer token that requests must have; without it the token is in TENON_SIDECAR_TOKEN, if any
    #[arg(long)]
    pub(crate) token_file: Option<PathBuf>,
    /// The file libpg-query.wasm, which PostgreSQL needs; without it, the one beside this program
    #[arg(long)]
    pub(crate) parser: Option<PathBuf>,
    /// Answer every request of other machines, without a bearer token
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Bytes of a request's body
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_body: Option<u32>,
    /// Milliseconds for which it goes on accepting after SIGTERM
    #[arg(long, default_value_t = 0)]
    pub(crate) drain: u32,
    /// How lines are logged
    #[arg(long, value_enum, default_value_t = Format::Readable)]
    pub(crate) log_format: Format,
    /// Print the address as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much is logged.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

/// How lines are logged.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    Readable,
    Json,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Readable => "readable",
            Self::Json => "json",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
