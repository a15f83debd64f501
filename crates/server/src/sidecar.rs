//! `tenon-server sidecar sql|kv|storage|queue|cron`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tenon_services::{Kind, Listen, Sidecar, SidecarFiles, SidecarOptions as Options, SidecarSettings};

use crate::command::SidecarOptions;
use crate::error::ServerError;
use crate::grammar::grammar;
use crate::output::{note, print};
use crate::sidecar_command::SidecarCommand;
use crate::signals::{End, Signals};
use crate::values;

/// Serves one store until a signal.
pub(crate) async fn run(command: SidecarCommand) -> Result<ExitCode, ServerError> {
    let SidecarCommand { kind, common, options } = command;
    tenon_log::start("info", common.log_format.name())?;
    let mut signals = Signals::new()?;
    let settings = settings(kind, &common, options)?;
    let kind = kind.name;
    let options = Options {
        listen: Listen::parse(&common.listen)?,
        token: token(common.token_file.as_deref())?,
        insecure: common.insecure,
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

fn settings(kind: &Kind, common: &SidecarOptions, options: Map<String, Value>) -> Result<SidecarSettings, ServerError> {
    let mut given = options;
    given.insert("run".to_owned(), kind.name.into());
    given.insert("url".to_owned(), url(kind.variable, common)?.into());
    given.insert("maxBodyBytes".to_owned(), common.max_body.into());
    let mut settings = SidecarSettings::from_json(Value::Object(given))?;
    settings.files = SidecarFiles { grammar: grammar(common.parser.clone()), cache: crate::cache_folder() };
    Ok(settings)
}

/// The store's URL. A command line is seen by every user of the machine, so a password in it is refused.
fn url(variable: &str, options: &SidecarOptions) -> Result<String, ServerError> {
    match (&options.url, &options.url_file) {
        (Some(url), _) if has_password(url) => Err(ServerError::Usage(format!(
            "--url has a password, and command lines are seen by every user of the machine: give --url-file, or set {variable}"
        ))),
        (Some(url), _) => Ok(url.clone()),
        (None, Some(file)) => values::text_of(file).map_err(|wrong| ServerError::Values(wrong.to_string())),
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
        Some(file) => values::text_of(file).map(Some).map_err(|wrong| ServerError::Values(wrong.to_string())),
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
