//! Migrations of a database behind a sidecar: SQL files that are applied once each, in one transaction.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tenon_pg_grammar::Grammar;
use tenon_transport::Address;
use thiserror::Error;

use crate::apply::apply;
use crate::script::{GrammarFile, Script, ScriptError, of_postgres, of_sqlite};
use crate::service::{AskError, Service, SidecarAddress, SidecarResponse};

/// Time for an answer. A migration may rewrite a large table.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Table of the applied files.
const TABLE: &str = "tenon_migrations";

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The result of [`migrate`].
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct Migrated {
    /// `sqlite` or `postgres`.
    pub dialect: &'static str,
    /// The files that this call applied.
    pub applied: Vec<String>,
    /// The files that were applied before.
    pub before: Vec<String>,
}

/// The reason why a file was not applied.
#[derive(Debug, Error)]
pub enum MigrateError {
    /// The sidecar does not answer.
    #[error("nothing answers at {address}: {source}")]
    Ask {
        /// The sidecar.
        address: Address,
        /// The reason.
        source: AskError,
    },
    /// There is no file.
    #[error("there is no migration: neither {}/*.sql nor {}/*.sql", own.display(), folder.display())]
    None {
        /// The folder of the dialect.
        own: PathBuf,
        /// The folder of migrations.
        folder: PathBuf,
    },
    /// A file or a folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file is not what it was.
    #[error("{0} has changed since it was applied")]
    Changed(String),
    /// The sidecar refuses the table of applied files.
    #[error("the table {TABLE} cannot be made: {0}")]
    Table(String),
    /// The sidecar refuses a file, or a file is not what its database reads.
    #[error("{0} was not applied: {1}")]
    Refused(String, String),
    /// PostgreSQL's grammar, which splits files, is missing.
    #[error("files for PostgreSQL cannot be read: {0}")]
    Grammar(String),
    /// The answer of the sidecar is not the expected one.
    #[error("the table {TABLE} cannot be read: {0}")]
    Answer(String),
}

impl MigrateError {
    pub(crate) fn unanswered(service: &Service, source: AskError) -> Self {
        Self::Ask { address: service.address().clone(), source }
    }

    /// Its code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::None { .. } | Self::Read { .. } => "FOLDER",
            Self::Changed(_) => "CONFIG",
            Self::Grammar(_) => "CONFIG",
            Self::Ask { .. } | Self::Table(_) | Self::Refused(..) | Self::Answer(_) => "BACKEND",
        }
    }

    /// The next step of the user; none when the message says enough.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Ask { .. } => "start `tenon dev` or the sidecar first".to_string(),
            Self::None { own, .. } => format!("write {}", own.join("0001_tables.sql").display()),
            Self::Changed(_) => "restore it, and write the change into a new file".to_string(),
            Self::Table(_) => {
                "migrate through a sidecar that may change the schema: without --read-only, --tables and --role"
                    .to_string()
            }
            Self::Refused(..) => "correct the file, and migrate again".to_string(),
            Self::Grammar(_) => {
                "libpg-query.wasm is in the npm package libpg-query: put it beside tenon-server, or name it with --parser"
                    .to_string()
            }
            Self::Read { .. } | Self::Answer(_) => return None,
        })
    }
}

/// Applies the files of a folder that were not applied yet, in the order of their names: `<dialect>/*.sql`, or `*.sql` when there is no
/// folder of the dialect. The database is behind a sidecar `sql`.
///
/// # Errors
///
/// [`MigrateError`]. Files before the one that failed stay applied.
pub async fn migrate(sidecar: SidecarAddress, folder: &Path, grammar: GrammarFile) -> Result<Migrated, MigrateError> {
    let service = &Service::new(sidecar, TIMEOUT);
    let dialect = dialect(service).await?;
    let files = files_of(folder, dialect)?;
    let before = applied(service).await?;
    let mut done = Vec::new();
    let mut reader = Reader { dialect, file: grammar, grammar: None };
    for (name, text) in files {
        let digest = digest(&text);
        if is_applied(&before, &name, &digest)? {
            continue;
        }
        let (found, script) = reader.read(text).await?;
        reader = found;
        let wrong =
            |ScriptError { line, problem }| MigrateError::Refused(name.clone(), format!("line {line}: {problem}"));
        let script = script.map_err(wrong)?;
        match apply(service, &note(dialect, &name, &digest), &script).await? {
            None => done.push(name),
            Some(_) if is_applied(&applied(service).await?, &name, &digest)? => {}
            Some(refused) => return Err(MigrateError::Refused(name, refused)),
        }
    }
    Ok(Migrated { dialect, applied: done, before: before.into_keys().collect() })
}

/// The statement that notes a file as applied.
fn note(dialect: &str, name: &str, digest: &str) -> Value {
    let places = if dialect == "sqlite" { "?1, ?2, ?3" } else { "$1, $2, $3" };
    json!({
        "sql": format!("INSERT INTO {TABLE} (name, digest, applied_at) VALUES ({places})"),
        "params": [name, digest, Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)],
    })
}

/// Reads files of one dialect.
struct Reader {
    dialect: &'static str,
    file: GrammarFile,
    /// PostgreSQL's grammar, once a file was read with it.
    grammar: Option<Grammar>,
}

impl Reader {
    /// Reads a file on a thread that may block.
    async fn read(mut self, text: String) -> Result<(Self, Result<Script, ScriptError>), MigrateError> {
        let work = move || {
            if self.dialect == "sqlite" {
                let script = of_sqlite(&text, self.file.cache.as_deref());
                return Ok((self, script));
            }
            let grammar = match self.grammar.take() {
                Some(grammar) => grammar,
                None => load(&self.file)?,
            };
            let script = of_postgres(&grammar, &text);
            Ok((Self { grammar: Some(grammar), ..self }, script))
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| MigrateError::Grammar(error.to_string()))?
    }
}

fn load(GrammarFile { file, cache }: &GrammarFile) -> Result<Grammar, MigrateError> {
    let missing = || MigrateError::Grammar("libpg-query.wasm is missing, which has PostgreSQL's grammar".to_owned());
    let file = file.as_deref().ok_or_else(missing)?;
    Grammar::load(file, cache.as_deref()).map_err(|error| MigrateError::Grammar(error.to_string()))
}

async fn dialect(service: &Service) -> Result<&'static str, MigrateError> {
    let answer = query(service, "SELECT sqlite_version()").await?;
    Ok(if answer.status == StatusCode::OK { "sqlite" } else { "postgres" })
}

async fn query(service: &Service, sql: &str) -> Result<SidecarResponse, MigrateError> {
    post(service, "/sql/query", &json!({ "sql": sql })).await
}

async fn post(service: &Service, path: &str, json: &Value) -> Result<SidecarResponse, MigrateError> {
    let answer = service.ask(Method::POST, path, Some(json)).await;
    answer.map_err(|source| MigrateError::unanswered(service, source))
}

/// Runs statements in one transaction. Returns the reason if they are refused.
async fn batch(service: &Service, statements: Vec<Value>) -> Result<Option<String>, MigrateError> {
    let answer = post(service, "/sql/batch", &json!({ "statements": statements })).await?;
    Ok((answer.status != StatusCode::OK).then(|| answer.detail()))
}

/// The digests of the applied files by name. Makes the table if it is missing.
async fn applied(service: &Service) -> Result<BTreeMap<String, String>, MigrateError> {
    #[derive(Deserialize)]
    struct Row {
        name: String,
        digest: String,
    }
    #[derive(Deserialize)]
    struct Rows {
        rows: Vec<Row>,
    }
    let table = json!({
        "sql": format!("CREATE TABLE IF NOT EXISTS {TABLE} (name TEXT PRIMARY KEY, digest TEXT NOT NULL, applied_at TEXT NOT NULL)"),
    });
    // PostgreSQL may refuse it once while another program makes the table.
    if batch(service, vec![table.clone()]).await?.is_some()
        && let Some(refused) = batch(service, vec![table]).await?
    {
        return Err(MigrateError::Table(refused));
    }
    let answer = query(service, &format!("SELECT name, digest FROM {TABLE} ORDER BY name")).await?;
    if answer.status != StatusCode::OK {
        return Err(MigrateError::Answer(answer.detail()));
    }
    let rows: Rows = serde_json::from_slice(&answer.body).map_err(|error| MigrateError::Answer(error.to_string()))?;
    Ok(rows.rows.into_iter().map(|row| (row.name, row.digest)).collect())
}

/// Reports whether a file was applied with its current content.
fn is_applied(applied: &BTreeMap<String, String>, name: &str, digest: &str) -> Result<bool, MigrateError> {
    match applied.get(name) {
        Some(known) if known != digest => Err(MigrateError::Changed(name.to_string())),
        known => Ok(known.is_some()),
    }
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

fn files_of(folder: &Path, dialect: &str) -> Result<Vec<(String, String)>, MigrateError> {
    let own = folder.join(dialect);
    let (place, names) = match sql_files(&own)? {
        Some(names) => (own.clone(), Some(names)),
        None => (folder.to_path_buf(), sql_files(folder)?),
    };
    let names = names.unwrap_or_default();
    if names.is_empty() {
        return Err(MigrateError::None { own, folder: folder.to_path_buf() });
    }
    names
        .into_iter()
        .map(|name| {
            let path = place.join(&name);
            let text = read(&path).map_err(|source| MigrateError::Read { path, source })?;
            Ok((name, text))
        })
        .collect()
}

fn read(path: &Path) -> io::Result<String> {
    if std::fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
    }
    std::fs::read_to_string(path)
}

/// The migrations in a folder, sorted by name; none when the folder is missing.
fn sql_files(folder: &Path) -> Result<Option<Vec<String>>, MigrateError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(MigrateError::Read { path: folder.to_path_buf(), source }),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| MigrateError::Read { path: folder.to_path_buf(), source })?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if Path::new(&name).extension().is_some_and(|kind| kind == "sql") && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(Some(names))
}
