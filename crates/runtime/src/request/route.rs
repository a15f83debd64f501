//! Routing: from a request's path to a module or to the runtime's own answers.

use http::Uri;
use http::uri::{Parts, PathAndQuery};

/// The target of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// `/health`
    Health,
    /// `/ready`
    Ready,
    /// `/metrics`
    Metrics,
    /// `/run/<module>/*`, with path and query as the module sees them.
    Module { name: &'a str, rest: PathAndQuery },
    /// Anything else.
    None,
}

impl<'a> Route<'a> {
    /// Only the prefix is looked at and taken away; the rest, percent-encoding and query included, stays as it was sent.
    pub(crate) fn of(uri: &'a Uri) -> Self {
        let path = uri.path();
        match path {
            "/health" => return Self::Health,
            "/ready" => return Self::Ready,
            "/metrics" => return Self::Metrics,
            _ => {}
        }
        let Some(below) = path.strip_prefix("/run/") else { return Self::None };
        let (name, rest) = below.find('/').map_or((below, ""), |slash| below.split_at(slash));
        if name.is_empty() {
            return Self::None;
        }
        below_prefix(uri, rest).map_or(Self::None, |rest| Self::Module { name, rest })
    }
}

/// The path and query of a URI after the prefix of a module; `rest` is the path after the prefix.
pub(crate) fn below_prefix(uri: &Uri, rest: &str) -> Option<PathAndQuery> {
    // `/run/hello` is the module's root, as `/run/hello/` is.
    let rest = if rest.is_empty() { "/" } else { rest };
    match uri.query() {
        Some(query) => format!("{rest}?{query}").parse().ok(),
        None => rest.parse().ok(),
    }
}

/// A URI with another path and query.
pub(crate) fn with_path(uri: Uri, path: PathAndQuery) -> Uri {
    let mut parts: Parts = uri.into_parts();
    parts.path_and_query = Some(path);
    // A URI with an authority needs a scheme, which one that came with an authority has.
    Uri::from_parts(parts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_is_taken_away_and_nothing_else() {
        let seen = |uri: &str| match Route::of(&uri.parse().unwrap()) {
            Route::Module { name, rest } => format!("{name} {rest}"),
            other => format!("{other:?}"),
        };
        assert_eq!(seen("/run/hello"), "hello /");
        assert_eq!(seen("/run/hello/"), "hello /");
        assert_eq!(seen("/run/hello?a=b"), "hello /?a=b");
        assert_eq!(seen("/run/hello/users?page=2"), "hello /users?page=2");
        assert_eq!(seen("/run/hello/a%2Fb%3F/+%C3%A9?q=%26+%3D&q="), "hello /a%2Fb%3F/+%C3%A9?q=%26+%3D&q=");
        assert_eq!(seen("/run/hello//x/../y/"), "hello //x/../y/");
        assert_eq!(seen("/run/hello/?"), "hello /?");
        assert_eq!(seen("/run/"), "None");
        assert_eq!(seen("/run//x"), "None");
        assert_eq!(seen("/runs/hello"), "None");
        assert_eq!(seen("/health"), "Health");
        assert_eq!(seen("/health/"), "None");
        assert_eq!(seen("/ready"), "Ready");
        assert_eq!(seen("/ready/"), "None");
        assert_eq!(seen("/metrics"), "Metrics");
        assert_eq!(seen("http://example.com/run/hello/x"), "hello /x");
    }
}
