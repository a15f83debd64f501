//! A job, in its forms for clients and for stores.

use std::collections::BTreeMap;

use axum::http::{HeaderName, HeaderValue, Method};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::invalid_job::InvalidJob;
use super::schedule::Schedule;

/// Limit of jobs in a store.
pub(crate) const MAX_JOBS: usize = 1000;

/// Limit of a name, which is part of paths and log lines.
const MAX_NAME_BYTES: usize = 64;

/// Limit in bytes of a path, and of a module's name.
const MAX_PATH_BYTES: usize = 2048;

/// Limit in bytes of a body.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Limit in bytes of all headers together.
const MAX_HEADER_BYTES: usize = 8 * 1024;

/// Limit of a run's attempts.
const MAX_ATTEMPTS: u64 = 100;

const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Headers that belong to the connection, or to cron itself.
const OWN_HEADERS: [&str; 7] = ["connection", "content-length", "expect", "host", "te", "transfer-encoding", "upgrade"];

/// A module route and its schedule. Members with their default value are omitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) schedule: String,
    #[serde(default = "utc", skip_serializing_if = "is_utc")]
    pub(crate) timezone: String,
    pub(crate) module: String,
    pub(crate) path: String,
    pub(crate) method: String,
    /// Names in lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// A text is sent as it is, null as no body, and everything else as JSON, with the digits of its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Box<RawValue>>,
    /// Makes up for a missed time, once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) catch_up: bool,
    /// Attempts of a run; one by default.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) max_attempts: u32,
    pub(crate) enabled: bool,
    /// The project whose `tenon.toml` declares it; none when a client added it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
}

fn utc() -> String {
    "UTC".to_string()
}

fn is_utc(timezone: &String) -> bool {
    timezone == "UTC"
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

/// Reads a stored job. A job that another program has made unreadable is skipped.
pub(super) fn stored(text: &str) -> Option<Job> {
    let job = serde_json::from_str(text);
    job.inspect_err(|error| tracing::error!("cron: a job in the store cannot be read: {error}")).ok()
}

/// Returns a job's first time after now; none while it is turned off.
pub(super) fn next_time(job: &Job, now: i64) -> Option<i64> {
    Schedule::parse(&job.schedule, &job.timezone).ok().filter(|_| job.enabled)?.next(now)
}

/// The jobs of a project as texts.
#[derive(Deserialize)]
struct Declared {
    jobs: Vec<Box<RawValue>>,
}

/// Reads `{"owner","jobs":[…]}` from a value and its text.
pub(super) fn declared_from_json(value: &Value, text: &[u8]) -> Result<(String, Vec<Job>), InvalidJob> {
    let owner = value["owner"].as_str().filter(|owner| is_name(owner)).map(str::to_owned);
    let owner = owner.ok_or_else(|| InvalidJob::new("`owner` must be the name of a project"))?;
    let Declared { jobs } = serde_json::from_slice(text).map_err(|_| InvalidJob::new("`jobs` must be a list"))?;
    if jobs.len() > MAX_JOBS {
        return Err(InvalidJob::new(format!("a project must have at most {MAX_JOBS} jobs")));
    }
    let read = |job: Box<RawValue>| Job::new(Given::of_text(job.get().as_bytes())?);
    let jobs: Vec<Job> = jobs.into_iter().map(read).collect::<Result<_, _>>()?;
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(InvalidJob::new("two jobs have one name"));
    }
    Ok((owner, jobs))
}

/// The members of a job that a client gives. The body stays a text, because a parsed number may lose digits.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    members: Map<String, Value>,
    body: Option<Box<RawValue>>,
}

impl Given {
    /// Reads the members from JSON.
    pub(crate) fn of_text(text: &[u8]) -> Result<Self, InvalidJob> {
        let texts = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(text);
        let mut texts = texts.map_err(|_| InvalidJob::new("a job must be an object"))?;
        let body = texts.remove("body");
        let value = |text: &RawValue| serde_json::from_str(text.get()).unwrap_or_default();
        Ok(Self { members: texts.into_iter().map(|(name, text)| (name, value(&text))).collect(), body })
    }
}

impl Job {
    /// Makes a new job; errors never repeat a value.
    pub(crate) fn new(given: Given) -> Result<Self, InvalidJob> {
        let empty = Self {
            name: String::new(),
            schedule: String::new(),
            timezone: utc(),
            module: String::new(),
            path: "/".to_string(),
            method: Method::GET.to_string(),
            headers: BTreeMap::new(),
            body: None,
            catch_up: false,
            max_attempts: 1,
            enabled: true,
            owner: None,
        };
        empty.with(given, false)
    }

    /// The job's stored form.
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The body's text; none when there is none.
    pub(super) fn body_text(&self) -> Option<String> {
        let text = self.body.as_ref()?.get();
        Some(serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()))
    }

    /// The content type of the body.
    pub(super) fn content_type(&self) -> Option<&'static str> {
        let is_text = self.body.as_ref()?.get().starts_with('"');
        Some(if is_text { "text/plain; charset=utf-8" } else { "application/json" })
    }

    /// The next time of a job that replaces another. It stays when the schedule does, so that a missed time is not
    /// forgotten.
    pub(super) fn next_after(&self, before: Option<&(Self, Option<i64>)>, now: i64) -> Option<i64> {
        let kept = before.filter(|(before, next)| {
            let same = |job: &Self| (job.schedule.clone(), job.timezone.clone(), job.enabled);
            next.is_some() && same(before) == same(self)
        });
        kept.map_or_else(|| next_time(self, now), |(_, next)| *next)
    }

    /// Makes it a job of an owner. A disabled one stays disabled.
    pub(super) fn declared(self, owner: &str, before: Option<&Self>) -> Self {
        Self { owner: Some(owner.to_string()), enabled: before.is_none_or(|before| before.enabled), ..self }
    }

    /// Reports whether the owner no longer declares it.
    pub(super) fn is_dropped(&self, owner: &str, jobs: &[Self]) -> bool {
        self.owner.as_deref() == Some(owner) && jobs.iter().all(|job| job.name != self.name)
    }

    /// Changes the given members and keeps the rest; a name is permanent.
    pub(crate) fn patched(&self, given: Given) -> Result<Self, InvalidJob> {
        self.clone().with(given, true)
    }

    fn with(mut self, given: Given, keep_name: bool) -> Result<Self, InvalidJob> {
        let Given { members: mut object, body } = given;
        let name = std::mem::take(&mut self.name);
        self.name = text(&mut object, "name")?.unwrap_or_else(|| name.clone());
        if keep_name && self.name != name {
            return Err(InvalidJob::new("a job's name must stay the same"));
        }
        for (key, field) in [
            ("schedule", &mut self.schedule),
            ("timezone", &mut self.timezone),
            ("module", &mut self.module),
            ("path", &mut self.path),
            ("method", &mut self.method),
        ] {
            if let Some(value) = text(&mut object, key)? {
                *field = value;
            }
        }
        for (key, field) in [("enabled", &mut self.enabled), ("catch_up", &mut self.catch_up)] {
            match object.remove(key) {
                None => {}
                Some(Value::Bool(value)) => *field = value,
                Some(_) => return Err(InvalidJob::new(format!("`{key}` must be true or false"))),
            }
        }
        if let Some(attempts) = object.remove("max_attempts") {
            let attempts = attempts.as_u64().filter(|attempts| (1..=MAX_ATTEMPTS).contains(attempts));
            let attempts = attempts.and_then(|attempts| u32::try_from(attempts).ok());
            let wrong = || InvalidJob::new(format!("`max_attempts` must be a whole number from 1 to {MAX_ATTEMPTS}"));
            self.max_attempts = attempts.ok_or_else(wrong)?;
        }
        if let Some(headers) = object.remove("headers") {
            self.headers = headers_of(headers)?;
        }
        if let Some(body) = body {
            self.body = Some(body).filter(|body| body.get() != "null");
        }
        if !object.is_empty() {
            let known =
                "name, schedule, timezone, module, path, method, headers, body, catch_up, max_attempts and enabled";
            return Err(InvalidJob::new(format!("a job has {known}, and nothing else")));
        }
        self.method.make_ascii_uppercase();
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), InvalidJob> {
        if !is_name(&self.name) {
            return Err(InvalidJob::new(format!(
                "`name` must be 1 to {MAX_NAME_BYTES} letters, digits, `_`, `-` and `.`, and neither `.` nor `..`"
            )));
        }
        if self.module.is_empty() || self.module.contains(['/', '\0']) || self.module.len() > MAX_PATH_BYTES {
            return Err(InvalidJob::new("`module` must name a module"));
        }
        if self.path.len() > MAX_PATH_BYTES
            || !self.path.starts_with('/')
            || self.path.parse::<axum::http::Uri>().is_err()
            || self.path.contains('#')
        {
            return Err(InvalidJob::new("`path` must be the path of a route, beginning with `/`"));
        }
        if !METHODS.iter().any(|method| method == self.method.as_str()) {
            return Err(InvalidJob::new("`method` must be GET, HEAD, POST, PUT, PATCH or DELETE"));
        }
        if matches!(self.method.as_str(), "GET" | "HEAD") && self.body.is_some() {
            return Err(InvalidJob::new("`body` is for POST, PUT, PATCH and DELETE"));
        }
        if self.body_text().is_some_and(|body| body.len() > MAX_BODY_BYTES) {
            return Err(InvalidJob::new(format!("`body` must not be longer than {MAX_BODY_BYTES} bytes")));
        }
        Schedule::parse(&self.schedule, &self.timezone).map(drop)
    }
}

fn headers_of(value: Value) -> Result<BTreeMap<String, String>, InvalidJob> {
    let wrong = || InvalidJob::new("`headers` must be an object of names and texts");
    let Value::Object(object) = value else { return Err(wrong()) };
    let mut headers = BTreeMap::new();
    for (name, value) in object {
        let Value::String(value) = value else { return Err(wrong()) };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?.to_string();
        HeaderValue::from_str(&value).map_err(|_| wrong())?;
        if OWN_HEADERS.contains(&name.as_str()) || name.starts_with("x-tenon-") {
            return Err(InvalidJob::new(format!("`headers` must not have {name}: that is set for each request")));
        }
        headers.insert(name, value);
    }
    if headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > MAX_HEADER_BYTES {
        return Err(InvalidJob::new(format!("`headers` must not be longer than {MAX_HEADER_BYTES} bytes")));
    }
    Ok(headers)
}

/// Reports whether a text is a valid job name.
pub(crate) fn is_name(text: &str) -> bool {
    // Clients resolve `.` and `..` in a URL, and never send them.
    (1..=MAX_NAME_BYTES).contains(&text.len())
        && !matches!(text, "." | "..")
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

fn text(object: &mut Map<String, Value>, key: &str) -> Result<Option<String>, InvalidJob> {
    match object.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(InvalidJob::new(format!("`{key}` must be a text"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn jobs_have_defaults_and_are_checked() {
        let given = |value: Value| Given::of_text(value.to_string().as_bytes());
        let made = |value: Value| given(value).and_then(Job::new);
        let job = made(json!({ "name": "a", "schedule": "@hourly", "module": "hello" })).unwrap();
        let patch = |value: Value| given(value).and_then(|given| job.patched(given));
        assert_eq!((job.path.as_str(), job.method.as_str(), job.enabled), ("/", "GET", true));
        let patched = patch(json!({ "method": "post", "path": "/x?y=z", "enabled": false })).unwrap();
        assert_eq!((patched.method.as_str(), patched.path.as_str(), patched.enabled), ("POST", "/x?y=z", false));
        for wrong in [
            json!([]),
            json!({ "name": "other" }),
            json!({ "path": "x" }),
            json!({ "path": "//evil example" }),
            json!({ "method": "TRACE" }),
            json!({ "enabled": 1 }),
            json!({ "schedule": "0 0 30 2 *" }),
            json!({ "module": "a/b" }),
            json!({ "shedule": "@daily" }),
            json!({ "timezone": "Berlin" }),
            json!({ "catch_up": "run" }),
            json!({ "max_attempts": 0 }),
            json!({ "headers": { "a": 1 } }),
            json!({ "headers": { "a b": "" } }),
            json!({ "headers": { "a": "x\r\ny: z" } }),
            json!({ "headers": { "Host": "evil.example" } }),
            json!({ "headers": { "X-Tenon-Cron-Run": "1" } }),
            json!({ "headers": { "a": "x".repeat(MAX_HEADER_BYTES) } }),
            json!({ "body": "x" }),
            json!({ "method": "POST", "body": "x".repeat(MAX_BODY_BYTES + 1) }),
            json!({ "owner": "shop" }),
        ] {
            assert!(patch(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(made(json!({ "name": "a b", "schedule": "@hourly", "module": "m" })).is_err());
    }
}
