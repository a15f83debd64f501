//! Where modules are served besides `/run/<module>`: below a path, for one host or for all.

use std::collections::HashMap;
use std::sync::Arc;

use crate::config::ModuleSource;
use crate::error::RuntimeError;

/// The mounts of all modules, the one that counts first in front.
#[derive(Default)]
pub(crate) struct Mounts(Vec<Mount>);

struct Mount {
    /// In lower case; none stands for every host.
    host: Option<String>,
    /// Without a slash at its end: `/shop`, or nothing for the root.
    path: Arc<str>,
    module: String,
}

/// First segments of the server's own paths.
const OWN: [&str; 4] = ["run", "health", "ready", "metrics"];

impl Mounts {
    /// The mounts of modules. One with a host counts before one without, and then the longer path before the shorter.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Config`] for a mount or a host that cannot be, and for a mount that two modules have.
    pub(crate) fn of<'a>(modules: impl IntoIterator<Item = &'a ModuleSource>) -> Result<Self, RuntimeError> {
        let mut mounts = Vec::new();
        let mut known = HashMap::new();
        for source in modules {
            let name = &source.name;
            let wrong = |why: String| RuntimeError::Config(format!("module {name}: {why}"));
            let (path, host) = (source.policy.mount.as_deref(), source.policy.host.as_deref());
            if path.is_none() && host.is_none() {
                continue;
            }
            let path = path.unwrap_or("/");
            check_path(path).map_err(|why| wrong(format!("mount {path:?} {why}")))?;
            if let Some(host) = host.filter(|host| !is_host(host)) {
                return Err(wrong(format!("host {host:?} must be a host name without a port, such as shop.example")));
            }
            let host = host.map(str::to_ascii_lowercase);
            if let Some(other) = known.insert((host.clone(), path), name) {
                let at = host.unwrap_or_default();
                return Err(RuntimeError::Config(format!(
                    "two modules are mounted at {at}{path}: {other} and {name}; give one of them another mount or host"
                )));
            }
            mounts.push(Mount { host, path: path.strip_suffix('/').unwrap_or(path).into(), module: name.clone() });
        }
        mounts.sort_by_key(|mount| std::cmp::Reverse((mount.host.is_some(), mount.path.len())));
        Ok(Self(mounts))
    }

    /// The module that serves a path for a host (with or without a port), and the path of its mount.
    pub(crate) fn find(&self, host: Option<&str>, path: &str) -> Option<(&str, &Arc<str>)> {
        let host = host.map(without_port);
        let found = self.0.iter().find(|mount| {
            let is_host =
                mount.host.as_deref().is_none_or(|own| host.is_some_and(|host| host.eq_ignore_ascii_case(own)));
            is_host && is_below(path, &mount.path)
        });
        found.map(|mount| (&*mount.module, &mount.path))
    }
}

/// Reports whether a path is a mount's or below it, by whole segments.
fn is_below(path: &str, mount: &str) -> bool {
    path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Checks the path of a mount; the error has the reason.
fn check_path(path: &str) -> Result<(), String> {
    if path == "/" {
        return Ok(());
    }
    let unreserved = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    let is_segment = |segment: &str| !matches!(segment, "" | "." | "..") && segment.chars().all(unreserved);
    let Some(rest) = path.strip_prefix('/').filter(|rest| rest.split('/').all(is_segment)) else {
        return Err(
            "must be a path such as / or /shop: letters, digits, -, ., _ and ~ between slashes, and no slash at its end"
                .to_string(),
        );
    };
    match rest.split('/').next().filter(|first| OWN.contains(first)) {
        Some(own) => Err(format!("must not begin with /{own}, which is the server's own")),
        None => Ok(()),
    }
}

/// Reports whether a text is a host name or an address without a port.
fn is_host(text: &str) -> bool {
    crate::request::target::is_host(text.as_bytes()) && without_port(text) == text && !text.contains('%')
}

/// A host without its port, which follows the bracket of an IPv6 address.
fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(name: &str, host: Option<&str>, mount: Option<&str>) -> ModuleSource {
        let mut source = ModuleSource::new(name, "x.wasm");
        (source.policy.host, source.policy.mount) = (host.map(str::to_string), mount.map(str::to_string));
        source
    }

    #[test]
    fn the_host_and_then_the_longest_mount_count_first() {
        let modules = [
            mounted("root", None, Some("/")),
            mounted("shop", None, Some("/shop")),
            mounted("admin", None, Some("/shop/admin")),
            mounted("example", Some("Shop.example"), None),
            mounted("basket", Some("shop.example"), Some("/basket")),
            mounted("six", Some("[::1]"), None),
            mounted("none", None, None),
        ];
        let mounts = Mounts::of(&modules).unwrap();
        let found =
            |host: &str, path: &str| mounts.find(Some(host), path).map(|(name, mount)| format!("{name} {mount}"));
        for (host, path, expected) in [
            ("a.example", "/", "root "),
            ("a.example", "/x", "root "),
            ("a.example", "/shop", "shop /shop"),
            ("a.example", "/shop/", "shop /shop"),
            ("a.example", "/shops", "root "),
            ("a.example", "/Shop", "root "),
            ("a.example", "/shop/admin/x", "admin /shop/admin"),
            ("a.example", "/shop/adminx", "shop /shop"),
            ("SHOP.example:8443", "/shop/admin", "example "),
            ("shop.example", "/basket/1", "basket /basket"),
            ("shop.example.evil", "/basket", "root "),
            ("[::1]:3000", "/", "six "),
            ("[::1]", "/", "six "),
        ] {
            assert_eq!(found(host, path).as_deref(), Some(expected), "{host} {path}");
        }
        assert_eq!(mounts.find(None, "/shop").unwrap().0, "shop");
        assert!(Mounts::of(&modules[1..2]).unwrap().find(None, "/").is_none());
    }

    #[test]
    fn a_mount_that_cannot_be_is_refused() {
        let error = |modules: &[ModuleSource]| Mounts::of(modules).map(drop).unwrap_err().to_string();
        for mount in ["", "shop", "/shop/", "//", "/a//b", "/a/../b", "/a?b", "/a%2fb", "/a b"] {
            assert!(error(&[mounted("a", None, Some(mount))]).contains("must be a path such as"), "{mount}");
        }
        for mount in ["/run", "/run/x", "/health", "/ready", "/metrics/x"] {
            assert!(error(&[mounted("a", None, Some(mount))]).contains("the server's own"), "{mount}");
        }
        for host in ["", "a:80", "a b", "http://a", "a/b", "%61", "[::1]:80"] {
            assert!(error(&[mounted("a", Some(host), None)]).contains("must be a host name"), "{host}");
        }
        let twice = error(&[mounted("a", Some("x.example"), Some("/")), mounted("b", Some("X.example"), None)]);
        assert!(twice.contains("mounted at x.example/: a and b"), "{twice}");
        let twice = error(&[mounted("a", None, Some("/s")), mounted("b", None, Some("/s"))]);
        assert!(twice.contains("mounted at /s: a and b"), "{twice}");
        assert!(Mounts::of(&[mounted("a", None, Some("/runs")), mounted("b", Some("x"), Some("/runs"))]).is_ok());
    }
}
