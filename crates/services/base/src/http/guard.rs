//! Refuses web pages. Every page in a browser on this machine can reach local services: with a request from another
//! site, or with a name that an attacker points at 127.0.0.1 (DNS rebinding).

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, HOST, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tenon_http_server::names_this_machine;

use super::problem::Problem;

/// The accepted clients of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// On a loopback address: the request must name this machine, and come from no page but our own.
    Loopback,
    /// On another address or a socket: any name, but no browser.
    NoBrowser,
}

impl Guard {
    fn refuses(self, headers: &HeaderMap) -> Option<&'static str> {
        let host = headers.get(HOST).and_then(|value| value.to_str().ok());
        if self == Self::Loopback && !host.is_some_and(names_this_machine) {
            return Some("the Host must be this machine's own name or address, such as 127.0.0.1");
        }
        if let Some(origin) = headers.get(ORIGIN) {
            let own = self == Self::Loopback
                && host.is_some_and(|host| origin.as_bytes() == format!("http://{host}").as_bytes());
            if !own {
                return Some("pages of other origins may not ask here");
            }
        }
        // Browsers name a request's origin even without an Origin header: another site may only link here.
        let is = |name: &str, values: &[&str]| {
            headers.get(name).is_some_and(|value: &HeaderValue| values.iter().any(|each| value == each))
        };
        let foreign = is("sec-fetch-site", &["cross-site", "same-site"]);
        (foreign && !is("sec-fetch-mode", &["navigate"])).then_some("pages of other sites may not ask here")
    }
}

/// Answers 403 to refused requests.
pub async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.refuses(request.headers()) {
        Some(why) => Problem::new(StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    }
}

/// Answers 403 to every request of a page, also of the sidecar's own address, because answers of others are passed on.
pub async fn refuse_pages(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_foreign = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site" || site == "same-site");
    if is_foreign || headers.contains_key(ORIGIN) {
        return Problem::new(StatusCode::FORBIDDEN, "pages may not ask here").into_response();
    }
    next.run(request).await
}

/// Sandboxes stored content, because it must not act as a page of this address, which may run SQL: a browser gives it
/// an opaque origin, and runs no script. Answers with their own policy keep it.
pub async fn sandbox(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses(guard: Guard, headers: &[(&'static str, &str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (axum::http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        guard.refuses(&headers.collect()).is_some()
    }

    #[test]
    fn loopback_answers_its_own_names() {
        for host in ["127.0.0.1:9919", "localhost", "LOCALHOST:1", "[::1]:9919", "[::1]", "127.9.9.9", "a.localhost:1"]
        {
            assert!(!refuses(Guard::Loopback, &[("host", host)]), "{host}");
        }
        for host in [
            "evil.example:9919",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "localhost.evil.example",
            "",
            "db.sidecar.internal",
            "127.0.0.1:9919, evil.example",
            "127.0.0.1:evil@x",
            "x@127.0.0.1",
            "127.0.0.1:evil",
            "127.0.0.1:99999",
        ] {
            assert!(refuses(Guard::Loopback, &[("host", host)]), "{host}");
        }
        assert!(refuses(Guard::Loopback, &[]));
        assert!(!refuses(Guard::NoBrowser, &[("host", "db.svc.cluster.local:7001")]));
    }

    #[test]
    fn pages_of_others_are_refused() {
        let own = ("host", "127.0.0.1:9919");
        assert!(!refuses(Guard::Loopback, &[own, ("origin", "http://127.0.0.1:9919")]));
        for origin in ["http://localhost:3000", "https://127.0.0.1:9919", "http://evil.example", "null"] {
            assert!(refuses(Guard::Loopback, &[own, ("origin", origin)]), "{origin}");
        }
        assert!(refuses(Guard::NoBrowser, &[own, ("origin", "http://127.0.0.1:9919")]));
        assert!(refuses(Guard::Loopback, &[own, ("sec-fetch-site", "cross-site")]));
        assert!(!refuses(Guard::Loopback, &[own, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
        assert!(!refuses(Guard::Loopback, &[own, ("sec-fetch-site", "same-origin")]));
    }
}
