//! A module of the configuration, with its policy and its budget.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use tenon_runtime::{Allowance, ConfigError, Isolation, ModuleBudget, ModulePolicy, WhenSpent};
use tenon_transport::{Allow, Sidecar};

use crate::in_process::SidecarValue;

/// A module with its policy. A part that is left out is the server's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Module {
    pub(super) source: PathBuf,
    pub(super) env: Option<BTreeMap<String, String>>,
    pub(super) secrets: Option<BTreeMap<String, String>>,
    pub(super) sidecars: Option<BTreeMap<String, SidecarValue>>,
    outbound: Option<Outbound>,
    isolation: Option<String>,
    #[serde(default)]
    limits: BTreeMap<String, u64>,
    mount: Option<String>,
    host: Option<String>,
    budget: Option<Budget>,
}

/// The budget of a module. A part that is left out has no bound.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Budget {
    cpu: Option<Part>,
    calls: Option<Part>,
    bytes_out: Option<Part>,
    memory: Option<Part>,
    when_spent: Option<Spent>,
    weight: Option<u32>,
}

/// An amount for each period, in the units of [`ModuleBudget`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Part {
    amount: u64,
    period_ms: u64,
}

#[derive(Deserialize)]
enum Spent {
    #[serde(rename = "429")]
    TooManyRequests,
    #[serde(rename = "503")]
    Unavailable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outbound {
    #[serde(default)]
    allow: Vec<String>,
}

impl Module {
    pub(super) fn policy(
        &self,
        sidecars: Option<Vec<Sidecar>>,
        environment: Option<Vec<(String, String)>>,
    ) -> Result<ModulePolicy, String> {
        Ok(ModulePolicy {
            sidecars,
            allow: self
                .outbound
                .as_ref()
                .map(|outbound| allow(&outbound.allow).map_err(|wrong| format!("outbound.allow: {wrong}")))
                .transpose()?,
            environment,
            isolation: self.isolation.as_deref().map(isolation).transpose()?,
            limits: self.limits.iter().map(|(name, value)| (name.clone(), *value)).collect(),
            mount: self.mount.clone(),
            host: self.host.clone(),
            budget: self.budget.as_ref().map(Budget::of_module),
        })
    }
}

impl Budget {
    fn of_module(&self) -> ModuleBudget {
        let part = |part: &Option<Part>| {
            part.as_ref().map(|part| Allowance { amount: part.amount, period: Duration::from_millis(part.period_ms) })
        };
        ModuleBudget {
            cpu: part(&self.cpu),
            calls: part(&self.calls),
            bytes_out: part(&self.bytes_out),
            memory: part(&self.memory),
            when_spent: match self.when_spent {
                Some(Spent::Unavailable) => WhenSpent::Unavailable,
                Some(Spent::TooManyRequests) | None => WhenSpent::TooManyRequests,
            },
            weight: self.weight,
        }
    }
}

pub(super) fn isolation(text: &str) -> Result<Isolation, String> {
    text.parse().map_err(|wrong: ConfigError| wrong.to_string())
}

pub(super) fn allow(entries: &[String]) -> Result<Vec<Allow>, String> {
    entries.iter().map(|entry| Allow::parse(entry).map_err(|error| error.to_string())).collect()
}
