//! Migrations of a database behind a sidecar: SQL files that are applied once each, in one transaction.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{SecondsFormat, Utc};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::service::{Answer, AskError, Service};
use crate::statements::statements_of;

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
    #[error("the database does not answer: {0}")]
    Ask(#[from] AskError),
    /// There is no file.
    #[error("there is no migration: neither {0}/*.sql nor {1}/*.sql")]
    None(PathBuf, PathBuf),
    /// A file or a folder cannot be read.
    #[error("{0} cannot be read: {1}")]
    Read(PathBuf, io::Error),
    /// A file is not what it was.
    #[error("{0} has changed since it was applied: restore it, and write the change into a new file")]
    Changed(String),
    /// The sidecar refuses the table of applied files.
    #[error(
        "the table {TABLE} cannot be made: {0}; migrate through a sidecar that may change the schema: without --read-only, --tables and --role"
    )]
    Table(String),
    /// The sidecar refuses a file.
    #[error("{0} was not applied: {1}; correct the file, and migrate again")]
    Refused(String, String),
    /// The answer of the sidecar is not the expected one.
    #[error("the table {TABLE} cannot be read: {0}")]
    Answer(String),
}

/// Applies the files of a folder that were not applied yet, in the order of their names: `<dialect>/*.sql`, or `*.sql` when there is no
/// folder of the dialect.
///
/// # Errors
///
/// [`MigrateError`]. Files before the one that failed stay applied.
pub async fn migrate(service: &Service, folder: &Path) -> Result<Migrated, MigrateError> {
    let dialect = dialect(service).await?;
    let files = files_of(folder, dialect)?;
    let before = applied(service).await?;
    let mut done = Vec::new();
    for (name, text) in files {
        let digest = digest(&text);
        if is_applied(&before, &name, &digest)? {
            continue;
        }
        let places = if dialect == "sqlite" { "?1, ?2, ?3" } else { "$1, $2, $3" };
        let at = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        // The note is first, so that one of two concurrent migrations waits for the other.
        let mut statements = vec![json!({
            "sql": format!("INSERT INTO {TABLE} (name, digest, applied_at) VALUES ({places})"),
            "params": [name, digest, at],
        })];
        statements.extend(statements_of(&text).into_iter().map(|sql| json!({ "sql": sql })));
        match batch(service, statements).await? {
            None => done.push(name),
            Some(_) if is_applied(&applied(service).await?, &name, &digest)? => {}
            Some(refused) => return Err(MigrateError::Refused(name, refused)),
        }
    }
    Ok(Migrated { dialect, applied: done, before: before.into_keys().collect() })
}

async fn dialect(service: &Service) -> Result<&'static str, AskError> {
    let answer = query(service, "SELECT sqlite_version()").await?;
    Ok(if answer.status == StatusCode::OK { "sqlite" } else { "postgres" })
}

async fn query(service: &Service, sql: &str) -> Result<Answer, AskError> {
    service.ask(Method::POST, "/sql/query", Some(&json!({ "sql": sql }))).await
}

/// Runs statements in one transaction. Returns the reason if they are refused.
async fn batch(service: &Service, statements: Vec<Value>) -> Result<Option<String>, AskError> {
    let answer = service.ask(Method::POST, "/sql/batch", Some(&json!({ "statements": statements }))).await?;
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
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn files_of(folder: &Path, dialect: &str) -> Result<Vec<(String, String)>, MigrateError> {
    let own = folder.join(dialect);
    let (place, names) = match sql_files(&own)? {
        Some(names) => (own.clone(), Some(names)),
        None => (folder.to_path_buf(), sql_files(folder)?),
    };
    let names = names.unwrap_or_default();
    if names.is_empty() {
        return Err(MigrateError::None(own, folder.to_path_buf()));
    }
    names
        .into_iter()
        .map(|name| {
            let path = place.join(&name);
            let text = read(&path).map_err(|error| MigrateError::Read(path, error))?;
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
        Err(error) => return Err(MigrateError::Read(folder.to_path_buf(), error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| MigrateError::Read(folder.to_path_buf(), error))?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if Path::new(&name).extension().is_some_and(|kind| kind == "sql") && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(Some(names))
}
