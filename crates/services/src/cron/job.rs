//! A job as clients see it.

use axum::http::Method;
use serde::Serialize;
use serde_json::{Map, Value};

use super::schedule;

/// Names are parts of paths and of log lines.
const MAX_NAME_BYTES: usize = 64;

const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// A module route and when it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) schedule: String,
    pub(crate) module: String,
    pub(crate) path: String,
    pub(crate) method: String,
    pub(crate) enabled: bool,
}

impl Job {
    /// Reads a new job; path, method and whether it is enabled have defaults. Sentences never repeat a value.
    pub(crate) fn from_json(value: Value) -> Result<Self, String> {
        let empty = Self {
            name: String::new(),
            schedule: String::new(),
            module: String::new(),
            path: "/".to_string(),
            method: Method::GET.to_string(),
            enabled: true,
        };
        empty.with(value, false)
    }

    /// Changes what is given and keeps the rest; a name is for good.
    pub(crate) fn patched(&self, value: Value) -> Result<Self, String> {
        self.clone().with(value, true)
    }

    fn with(mut self, value: Value, keep_name: bool) -> Result<Self, String> {
        let Value::Object(mut object) = value else { return Err("a job is an object".to_string()) };
        let name = std::mem::take(&mut self.name);
        self.name = text(&mut object, "name")?.unwrap_or_else(|| name.clone());
        if keep_name && self.name != name {
            return Err("a job's name cannot be changed".to_string());
        }
        for (key, field) in [
            ("schedule", &mut self.schedule),
            ("module", &mut self.module),
            ("path", &mut self.path),
            ("method", &mut self.method),
        ] {
            if let Some(value) = text(&mut object, key)? {
                *field = value;
            }
        }
        match object.remove("enabled") {
            None => {}
            Some(Value::Bool(enabled)) => self.enabled = enabled,
            Some(_) => return Err("`enabled` must be true or false".to_string()),
        }
        if !object.is_empty() {
            return Err("a job has name, schedule, module, path, method and enabled, and nothing else".to_string());
        }
        self.method.make_ascii_uppercase();
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), String> {
        if !is_name(&self.name) {
            return Err(format!(
                "`name` must be 1 to {MAX_NAME_BYTES} letters, digits, `_`, `-` and `.`, and neither `.` nor `..`"
            ));
        }
        if self.module.is_empty() || self.module.contains('/') {
            return Err("`module` must name a module".to_string());
        }
        if !self.path.starts_with('/') || self.path.parse::<axum::http::Uri>().is_err() || self.path.contains('#') {
            return Err("`path` must be the path of a route, beginning with `/`".to_string());
        }
        if !METHODS.iter().any(|method| method == self.method.as_str()) {
            return Err("`method` must be GET, HEAD, POST, PUT, PATCH or DELETE".to_string());
        }
        schedule::parse(&self.schedule).map(drop)
    }
}

/// Whether a text can be a job's name.
pub(crate) fn is_name(text: &str) -> bool {
    // Clients take `.` and `..` in a URL for folders, and never ask for them.
    (1..=MAX_NAME_BYTES).contains(&text.len())
        && !matches!(text, "." | "..")
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

fn text(object: &mut Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` must be a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn jobs_have_defaults_and_are_checked() {
        let job = Job::from_json(json!({ "name": "a", "schedule": "@hourly", "module": "hello" })).unwrap();
        assert_eq!((job.path.as_str(), job.method.as_str(), job.enabled), ("/", "GET", true));
        let patched = job.patched(json!({ "method": "post", "path": "/x?y=z", "enabled": false })).unwrap();
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
        ] {
            assert!(job.patched(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(Job::from_json(json!({ "name": "a b", "schedule": "@hourly", "module": "m" })).is_err());
    }
}
