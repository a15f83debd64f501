//! Somebody else's API as a kind of service.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use tenon_service::ServicesError;
use tenon_service::kind::{Answers, Flag, FlagValue, Kind, Opened, Opening, Store, check};

use super::allow::Rule;
use super::credentials::HeaderFile;
use super::forwarded::forwarded_names;
use super::rate::RateLimit;
use super::routes::{Proxy, routes};
use super::upstream::Upstream;

/// The kind.
pub static KIND: Kind = Kind {
    name: "http",
    summary: "an API, with its credentials",
    variable: "UPSTREAM_URL",
    flags: &[
        Flag::new(
            "headerFiles",
            "header-file",
            FlagValue::Pairs,
            "A header and the file with its value; may be repeated",
        ),
        Flag::new(
            "allow",
            "allow",
            FlagValue::Texts,
            "A request that is passed on, such as GET /v1/**; may be repeated",
        ),
        Flag::new(
            "forwardHeaders",
            "forward-header",
            FlagValue::Texts,
            "A request header that is passed on with --allow, besides the usual ones; may be repeated",
        ),
        Flag::new("timeoutMs", "timeout", FlagValue::Number(1), "Milliseconds until an answer begins"),
        Flag::new(
            "retries",
            "retries",
            FlagValue::Number(0),
            "Attempts beyond the first, where a request may be repeated",
        ),
        Flag::new("rate", "rate", FlagValue::Number(1), "Requests a second, and as many at once"),
    ],
    check: check::<Options>,
    // Every URL, because the error of a wrong one names the option.
    stores: &[Store { schemes: &[""], example: "https://api.stripe.com", open: |opening| Box::pin(open(opening)) }],
    dev: None,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    /// Files with the values of headers that each request gets.
    #[serde(default)]
    header_files: BTreeMap<String, PathBuf>,
    /// Allowed requests, such as `POST /v1/charges`; all by default.
    allow: Option<Vec<String>>,
    /// Names of request headers that are passed on besides the usual ones. They count when `allow` is given.
    #[serde(default)]
    forward_headers: Vec<String>,
    /// Milliseconds until the head of an answer, and then between pieces of its body.
    #[serde(default = "timeout_ms")]
    timeout_ms: u32,
    /// Additional attempts for requests that may be repeated.
    #[serde(default = "retries")]
    retries: u32,
    /// Requests per second, and as many at once; unlimited by default.
    rate: Option<u32>,
}

fn timeout_ms() -> u32 {
    30_000
}

fn retries() -> u32 {
    2
}

async fn open(opening: Opening) -> Result<Opened, ServicesError> {
    let Options { header_files, allow, forward_headers, timeout_ms, retries, rate } = opening.options()?;
    let upstream = Upstream::new(&opening.url, Duration::from_millis(timeout_ms.into()), retries)?;
    let rules = allow.as_deref().map_or_else(|| vec!["* /**"], |rules| rules.iter().map(String::as_str).collect());
    let forwarded = forwarded_names(&forward_headers)?;
    let retried = upstream.retried.clone();
    let proxy = Proxy {
        upstream,
        rules: rules.into_iter().map(Rule::parse).collect::<Result<_, _>>()?,
        headers: header_files.into_iter().map(|(name, file)| HeaderFile::new(&name, file)).collect::<Result<_, _>>()?,
        forwarded: allow.is_some().then_some(forwarded),
        rate: rate.map(RateLimit::new),
        limits: opening.limits,
    };
    // Its state is the API's own concern.
    let opened = Opened::new((), routes(proxy), |()| async { Ok(()) });
    Ok(Opened { answers: Answers::OfUpstream { retried }, ..opened })
}
