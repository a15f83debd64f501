//! The one route of a proxy: every path but those of the sidecar.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, RETRY_AFTER};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use tenon_service::Limits;
use tenon_service::http::body;
use tenon_service::http::metrics::RouteLabel;
use tenon_service::http::problem::Problem;

use super::allow::{Rule, segments};
use super::body::Passed;
use super::credentials::HeaderFile;
use super::forwarded::method_field;
use super::rate::RateLimit;
use super::upstream::{Sent, Upstream, UpstreamError};

/// Headers of one connection, which are not forwarded (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [&str; 12] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "expect",
    "host",
];

/// Checks requests and forwards them to the API.
pub(super) struct Proxy {
    pub(super) upstream: Upstream,
    pub(super) rules: Vec<Rule>,
    pub(super) headers: Vec<HeaderFile>,
    /// Names of headers that are passed on; all when everything is allowed.
    pub(super) forwarded: Option<HashSet<HeaderName>>,
    pub(super) rate: Option<RateLimit>,
    pub(super) limits: Limits,
}

pub(super) fn routes(proxy: Proxy) -> Router {
    Router::new().fallback(forward).with_state(Arc::new(proxy))
}

async fn forward(State(proxy): State<Arc<Proxy>>, request: Request) -> Response<Body> {
    let (parts, given) = request.into_parts();
    let rule = match proxy.rule(&parts.method, &parts.uri, &parts.headers) {
        Ok(rule) => rule,
        Err(problem) => return problem.into_response(),
    };
    let label = RouteLabel(Arc::clone(&rule.text));
    let mut response = match proxy.pass(parts.method, &parts.uri, parts.headers, given).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    };
    response.extensions_mut().insert(label);
    response
}

impl Proxy {
    /// The rule that allows a request.
    fn rule(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<&Rule, Problem> {
        let closed = HeaderValue::from_static("close");
        if headers.get_all(EXPECT).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
            let problem = Problem::new(StatusCode::EXPECTATION_FAILED, "the only expectation is 100-continue");
            return Err(problem.with_header(CONNECTION, closed));
        }
        if method == Method::CONNECT {
            let problem = Problem::new(StatusCode::NOT_IMPLEMENTED, "this sidecar opens no tunnels");
            return Err(problem.with_header(CONNECTION, closed));
        }
        if method == Method::TRACE {
            let detail = "the answer to TRACE would repeat the credential";
            return Err(Problem::new(StatusCode::NOT_IMPLEMENTED, detail));
        }
        // A target may be an `http` URL, of which the path and the query count (RFC 9112, section 3.2.2).
        let is_host = |authority: &Authority| !authority.host().is_empty() && !authority.as_str().contains('@');
        let is_of_http = uri.scheme_str().is_none_or(|scheme| scheme == "http") && uri.authority().is_none_or(is_host);
        let segments = Some(uri.path()).filter(|_| is_of_http).and_then(segments);
        let segments = segments.ok_or_else(|| Problem::bad_request("servers could read this path differently"))?;
        let rule = self.rules.iter().find(|rule| rule.allows(method.as_str(), &segments));
        rule.ok_or_else(|| Problem::new(StatusCode::FORBIDDEN, "this sidecar does not allow the request"))
    }

    async fn pass(
        &self,
        method: Method,
        uri: &Uri,
        headers: HeaderMap,
        given: Body,
    ) -> Result<Response<Body>, Problem> {
        if let Some(Err(wait)) = self.rate.as_ref().map(RateLimit::take) {
            let seconds = wait.as_secs_f64().ceil().to_string();
            let seconds = HeaderValue::try_from(seconds).unwrap_or(HeaderValue::from_static("1"));
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "there are too many requests");
            return Err(problem.with_header(RETRY_AFTER, seconds));
        }
        let body = body::read(&headers, given, &self.limits).await?;
        if self.forwarded.is_some()
            && let Some(field) = method_field(uri.query(), &headers, &body)
        {
            let detail = format!("servers could read another method from the field {field:?}");
            return Err(Problem::bad_request(detail));
        }
        let headers = self.headers_for(&method, headers, body.len())?;
        let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
        let target = format!("{}{query}", uri.path());
        let request = format!("{method} {}", uri.path());
        let is_head = method == Method::HEAD;
        match self.upstream.send(Sent { method, target, headers, body }).await {
            Ok(answer) => self.pass_back(answer, request, is_head),
            Err(error) => {
                let (status, detail) = match error {
                    UpstreamError::Timeout => (StatusCode::GATEWAY_TIMEOUT, "the upstream took too long"),
                    UpstreamError::Unreachable(_) => (StatusCode::BAD_GATEWAY, "the upstream cannot be reached"),
                };
                tracing::warn!("{request}: {}: {error}", status.as_u16());
                Err(Problem::new(status, detail))
            }
        }
    }

    /// The client's headers, without those of the connection, and with those from files.
    fn headers_for(&self, method: &Method, headers: HeaderMap, length: usize) -> Result<HeaderMap, Problem> {
        let mut headers = without_hops(headers);
        headers.remove(CONTENT_LENGTH);
        if let Some(forwarded) = &self.forwarded {
            headers = headers_where(headers, |name| forwarded.contains(name));
        }
        for file in &self.headers {
            headers.insert(file.name.clone(), file.value().map_err(Problem::internal)?);
        }
        headers.insert(HOST, self.upstream.host.clone());
        if length > 0 || !matches!(method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        Ok(headers)
    }

    fn pass_back(&self, answer: Response<Incoming>, request: String, is_head: bool) -> Result<Response<Body>, Problem> {
        let (mut parts, body) = answer.into_parts();
        let length = parts.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if !is_head && length.is_some_and(|length| length > self.limits.max_body_bytes as u64) {
            tracing::warn!("{request}: 502: the upstream's answer is too large");
            return Err(Problem::new(StatusCode::BAD_GATEWAY, "the upstream's answer is too large"));
        }
        parts.headers = without_hops(parts.headers);
        parts.extensions.clear();
        let body = Passed::new(body, self.limits.max_body_bytes, self.upstream.timeout, request);
        Ok(Response::from_parts(parts, Body::new(body)))
    }
}

fn without_hops(headers: HeaderMap) -> HeaderMap {
    let named: HashSet<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    headers_where(headers, |name| !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(name.as_str()))
}

fn headers_where(mut headers: HeaderMap, keep: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let gone: Vec<HeaderName> = headers.keys().filter(|name| !keep(name)).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
    headers
}
