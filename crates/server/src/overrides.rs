//! Variables of the environment that win over the configuration, as they win over `tenon.toml`: `TENON_SERVER_PORT=8080`,
//! `TENON_SIDECARS_DB=unix:///run/db.sock`, `TENON_ENV_GREETING=hi`.
//!
//! A variable that begins with a section and names no key of it is a mistake. No value is repeated in an error, because it may be a
//! secret.

use serde_json::{Value, json};
use tenon_runtime::Limits;

const SERVER: &str = "TENON_SERVER_";
const SIDECARS: &str = "TENON_SIDECARS_";
const ENV: &str = "TENON_ENV_";
const RECORD: &str = "TENON_RECORD_";

/// The keys of `[server]` that are texts, and their names in the configuration.
const TEXTS: [(&str, &str); 5] = [
    ("HOST", "host"),
    ("METRICS_ADDRESS", "metricsAddress"),
    ("LOG_FORMAT", "logFormat"),
    ("OTLP_ENDPOINT", "otlpEndpoint"),
    ("ISOLATION", "isolation"),
];

/// Enters variables into a configuration.
///
/// # Errors
///
/// Each variable that names no key, or has a value of the wrong kind, one line each.
pub(crate) fn apply(
    configuration: &mut Value,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<(), String> {
    let mut problems = Vec::new();
    for (variable, value) in variables {
        let entered = if let Some(key) = variable.strip_prefix(SERVER) {
            server(configuration, key, &value)
        } else if let Some(name) = variable.strip_prefix(SIDECARS) {
            enter_sidecar(configuration, name, &value)
        } else if let Some(key) = variable.strip_prefix(RECORD) {
            record(configuration, key, &value)
        } else if let Some(name) = variable.strip_prefix(ENV) {
            enter(configuration, &["env", name], Value::String(value))
        } else {
            continue;
        };
        if let Err(problem) = entered {
            problems.push(format!("the environment variable {variable} {problem}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn server(configuration: &mut Value, key: &str, value: &str) -> Result<(), &'static str> {
    if let Some((_, name)) = TEXTS.iter().find(|(text, _)| *text == key) {
        return enter(configuration, &[name], json!(value));
    }
    let number = || value.parse::<u64>().map_err(|_| "must be a whole number");
    match key {
        "PORT" => enter(configuration, &["port"], json!(number()?)),
        "ACCESS_LOG" => {
            let is_on = value.parse::<bool>().map_err(|_| "must be true or false")?;
            enter(configuration, &["accessLog"], json!(is_on))
        }
        "TRUSTED_PROXIES" => {
            let proxies: Vec<_> = value.split(',').map(str::trim).filter(|proxy| !proxy.is_empty()).collect();
            enter(configuration, &["trustedProxies"], json!(proxies))
        }
        _ => {
            let name = key.to_ascii_lowercase();
            if !Limits::KEYS.iter().any(|limit| limit.name == name) {
                return Err("is not a key of [server] that tenon-server has");
            }
            enter(configuration, &["limits", &name], json!(number()?))
        }
    }
}

/// Sets a key of `[record]`.
fn record(configuration: &mut Value, key: &str, value: &str) -> Result<(), &'static str> {
    let number = || value.parse::<u64>().map_err(|_| "must be a whole number");
    let (name, value) = match key {
        "FOLDER" => ("folder", json!(value)),
        "SHARE" => ("share", json!(value.parse::<f64>().map_err(|_| "must be a number from 0 to 1")?)),
        "FAILURES" => ("failures", json!(value.parse::<bool>().map_err(|_| "must be true or false")?)),
        "SLOW_MS" => ("slowMs", json!(number()?)),
        "HEADER" => ("header", json!(value)),
        "MAX_BYTES" => ("maxBytes", json!(number()?)),
        "MAX_AGE_MS" => ("maxAgeMs", json!(number()?)),
        "MASK" => {
            let entries: Vec<_> = value.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
            ("mask", json!(entries))
        }
        _ => return Err("is not a key of [record]"),
    };
    enter(configuration, &["record", name], value)
}

/// Gives a sidecar of the configuration another address, or adds one. A shell cannot write every name: `my-db` is `MY_DB`.
fn enter_sidecar(configuration: &mut Value, name: &str, value: &str) -> Result<(), &'static str> {
    let known = configuration.get("sidecars").and_then(Value::as_object);
    let known = known.and_then(|all| all.keys().find(|each| each.replace('-', "_").eq_ignore_ascii_case(name)));
    let name = known.cloned().unwrap_or_else(|| name.to_ascii_lowercase());
    enter(configuration, &["sidecars", &name], json!(value))
}

/// Sets the value at a path.
fn enter(configuration: &mut Value, path: &[&str], value: Value) -> Result<(), &'static str> {
    let mut at = configuration;
    for key in path {
        let object = at.as_object_mut().ok_or("has no place in the configuration")?;
        at = object.entry((*key).to_string()).or_insert_with(|| json!({}));
    }
    *at = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(variables: &[(&str, &str)]) -> Result<Value, String> {
        let mut configuration =
            json!({ "port": 3000, "limits": { "drain_ms": 0 }, "sidecars": { "my-db": "unix:///a.sock" } });
        let variables = variables.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
        apply(&mut configuration, variables).map(|()| configuration)
    }

    #[test]
    fn variables_win_over_the_configuration() {
        let found = applied(&[
            ("TENON_SERVER_PORT", "8080"),
            ("TENON_SERVER_METRICS_ADDRESS", "0.0.0.0:9090"),
            ("TENON_SERVER_DRAIN_MS", "5000"),
            ("TENON_SERVER_ACCESS_LOG", "true"),
            ("TENON_SERVER_TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
            ("TENON_SIDECARS_MY_DB", "unix:///b.sock"),
            ("TENON_SIDECARS_CACHE", "unix:///c.sock"),
            ("TENON_ENV_Greeting", "hi"),
            ("TENON_CACHE_DIR", "/code"),
            ("PATH", "/bin"),
        ]);
        let expected = json!({
            "port": 8080, "metricsAddress": "0.0.0.0:9090", "limits": { "drain_ms": 5000 }, "accessLog": true,
            "trustedProxies": ["10.0.0.0/8", "::1"], "sidecars": { "my-db": "unix:///b.sock", "cache": "unix:///c.sock" },
            "env": { "Greeting": "hi" },
        });
        assert_eq!(found, Ok(expected));
    }

    #[test]
    fn a_variable_that_means_nothing_is_named_without_its_value() {
        let error = applied(&[("TENON_SERVER_PROT", "secret-1"), ("TENON_SERVER_DRAIN_MS", "secret-2")]).unwrap_err();
        assert_eq!(
            error,
            "the environment variable TENON_SERVER_PROT is not a key of [server] that tenon-server has\n\
             the environment variable TENON_SERVER_DRAIN_MS must be a whole number"
        );
    }
}
