//! `tenon-server sidecar sql|kv|storage|queue|cron`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tenon_services::{Listen, Sidecar, SidecarOptions as Options, SidecarSettings};

use crate::command::{SidecarKind, SidecarOptions, SqlOptions};
use crate::error::ServerError;
use crate::grammar::grammar;
use crate::output::{note, print};
use crate::signals::{End, Signals};
use crate::values;

/// Serves one store until a signal.
pub(crate) async fn run(kind: SidecarKind) -> Result<ExitCode, ServerError> {
    let (kind, common, mut settings) = settings(kind);
    tenon_log::start("info", common.log_format.name())?;
    let mut signals = Signals::new()?;
    settings.url = url(kind, &common)?;
    settings.max_body_bytes = common.max_body;
    let options = Options {
        listen: Listen::parse(&common.listen)?,
        token: token(common.token_file.as_deref())?,
        limits: settings.limits(),
        backend: settings.backend()?,
    };
    let sidecar = tokio::select! {
        started = Sidecar::start(options) => started?,
        end = signals.next() => return Ok(ExitCode::from(end.code())),
    };
    note("Serve", &format!("{kind} at {}", sidecar.address()));
    if common.json {
        print(&json!({ "kind": kind, "address": sidecar.address() }).to_string());
    }
    let end = signals.next().await;
    let steps = async {
        if end == End::Terminate {
            tokio::time::sleep(Duration::from_millis(common.drain.into())).await;
        }
        note("Stop", "after running requests");
        sidecar.close().await;
    };
    signals.ending(steps).await;
    Ok(ExitCode::from(end.code()))
}

/// The name of a kind, the options that all have, and the settings by the options of its own.
fn settings(kind: SidecarKind) -> (&'static str, SidecarOptions, SidecarSettings) {
    let plain = |kind| SidecarSettings::new(kind, "");
    match kind {
        SidecarKind::Sql(options) => {
            let SqlOptions { common, read_only, role, tables, parser, pool, statement_timeout, .. } = options;
            let settings = SidecarSettings {
                read_only,
                role,
                tables: tables.map(|tables| tables.into_iter().map(|name| name.trim().to_lowercase()).collect()),
                parser: grammar(parser),
                cache: crate::cache_folder(),
                pool_size: pool.pool_size,
                statement_timeout_ms: statement_timeout,
                transaction_idle_ms: options.transaction_idle,
                transaction_timeout_ms: options.transaction_timeout,
                max_rows: options.max_rows,
                ..plain("sql")
            };
            ("sql", common, settings)
        }
        SidecarKind::Kv { common, prefix } => ("kv", common, SidecarSettings { prefix, ..plain("kv") }),
        SidecarKind::Storage { common, public_url } => {
            ("storage", common, SidecarSettings { public_url, ..plain("storage") })
        }
        SidecarKind::Queue { common, prefix, pool } => {
            ("queue", common, SidecarSettings { prefix, pool_size: pool.pool_size, ..plain("queue") })
        }
        SidecarKind::Cron { common, pool } => {
            ("cron", common, SidecarSettings { pool_size: pool.pool_size, ..plain("cron") })
        }
    }
}

/// The store's URL. A command line is seen by every user of the machine, so a password in it is refused.
fn url(kind: &str, options: &SidecarOptions) -> Result<String, ServerError> {
    let variable = match kind {
        "kv" => "REDIS_URL",
        "storage" => "STORAGE_URL",
        _ => "DATABASE_URL",
    };
    match (&options.url, &options.url_file) {
        (Some(url), _) if has_password(url) => Err(ServerError::Usage(format!(
            "--url has a password, and command lines are seen by every user of the machine: give --url-file, or set {variable}"
        ))),
        (Some(url), _) => Ok(url.clone()),
        (None, Some(file)) => values::text_of(file).map_err(ServerError::Values),
        (None, None) => values::value_at(&format!("env:{variable}"), Path::new(""))
            .map_err(|why| ServerError::Usage(format!("{why}: set it, or give --url-file or --url"))),
    }
}

/// Reports whether the part of a URL before its host has a password, or its query has one.
fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    user.contains(':') || query.split('&').any(|pair| pair.starts_with("password="))
}

/// The bearer token of requests.
pub(crate) fn token(file: Option<&Path>) -> Result<Option<String>, ServerError> {
    match file {
        Some(file) => values::text_of(file).map(Some).map_err(ServerError::Values),
        None => match std::env::var("TENON_SIDECAR_TOKEN") {
            Ok(token) if token.is_empty() => Err(ServerError::Usage("TENON_SIDECAR_TOKEN is empty".to_string())),
            Ok(token) => Ok(Some(token)),
            Err(_) => Ok(None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_seen() {
        for (url, has) in [
            ("postgres://app:pw@db/app", true),
            ("redis://:pw@cache", true),
            ("postgres://app@db/app?password=pw", true),
            ("postgres://app@db:5432/app", false),
            ("sqlite:/var/lib/a:b@c.db", false),
            ("s3://bucket", false),
        ] {
            assert_eq!(has_password(url), has, "{url}");
        }
    }
}
