//! Requests to the API, with a timeout and safe retries.

use std::time::{Duration, SystemTime};

use axum::http::header::RETRY_AFTER;
use axum::http::uri::Scheme;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use prometheus_client::metrics::counter::Counter;
use rustls::{ClientConfig, RootCertStore};
use tenon_service::ServicesError;
use tokio::time::{Instant, sleep, timeout_at};

/// The first pause before a repetition; it doubles.
const BACKOFF: Duration = Duration::from_millis(100);

pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request to the API.
pub(super) struct Sent {
    pub(super) method: Method,
    /// The path and the query, as the client wrote them.
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpstreamError {
    #[error("the upstream took too long")]
    Timeout,
    #[error("the upstream cannot be reached: {0}")]
    Unreachable(String),
}

/// The third party's API.
pub(super) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    scheme: Scheme,
    /// The value of the header `Host`.
    pub(super) host: HeaderValue,
    /// The beginning of all paths, without a slash at its end.
    prefix: String,
    pub(super) timeout: Duration,
    retries: u32,
    /// Counts attempts beyond each request's first.
    pub(super) retried: Counter,
}

impl Upstream {
    /// The API at a URL.
    ///
    /// # Errors
    ///
    /// An invalid URL, or a system without certificate authorities.
    pub(super) fn new(url: &str, timeout: Duration, retries: u32) -> Result<Self, ServicesError> {
        let wrong = |text: &str| Err(ServicesError::Config(text.to_owned()));
        let no_address =
            "--upstream is not an http or https address: give the address of the API, such as https://api.stripe.com";
        let Ok(url) = reqwest::Url::parse(url) else { return wrong(no_address) };
        let is_plain = url.query().is_none_or(str::is_empty) && url.fragment().is_none_or(str::is_empty);
        let (scheme, host) = match (url.scheme(), url.host_str()) {
            ("https", Some(host)) if is_plain => (Scheme::HTTPS, host),
            ("http", Some(host)) if is_plain => (Scheme::HTTP, host),
            _ => return wrong(no_address),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("--upstream has credentials, and command lines are seen by every user: use --header-file");
        }
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let Ok(host) = HeaderValue::try_from(host) else { return wrong(no_address) };
        let prefix = url.path().strip_suffix('/').unwrap_or(url.path()).to_owned();
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .set_host(false)
            .build(connector(scheme == Scheme::HTTPS)?);
        Ok(Self { client, scheme, host, prefix, timeout, retries, retried: Counter::default() })
    }

    /// Sends a request, and repeats it after a failure if that is safe. One time limit covers all attempts until the
    /// answer's head.
    pub(super) async fn send(&self, sent: Sent) -> Result<Response<Incoming>, UpstreamError> {
        let deadline = Instant::now() + self.timeout;
        let retries = if is_repeatable(&sent) { self.retries } else { 0 };
        let mut pause = BACKOFF;
        for attempt in 0.. {
            let answer = match timeout_at(deadline, self.client.request(self.request(&sent)?)).await {
                Ok(answer) => answer.map_err(|error| UpstreamError::Unreachable(cause_of(&error))),
                Err(_) => return Err(UpstreamError::Timeout),
            };
            let after = answer.as_ref().ok().and_then(retry_after);
            let is_again = match answer.as_ref().map(Response::status) {
                // Without a time to wait, the client should get the 429.
                Ok(StatusCode::TOO_MANY_REQUESTS) => after.is_some(),
                Ok(status) => matches!(status.as_u16(), 502..=504),
                Err(_) => true,
            };
            let wait = after.unwrap_or_else(|| jittered(pause));
            if attempt >= retries || !is_again || Instant::now() + wait >= deadline {
                return answer;
            }
            drop(answer);
            pause *= 2;
            sleep(wait).await;
            self.retried.inc();
        }
        Err(UpstreamError::Timeout)
    }

    fn request(&self, sent: &Sent) -> Result<Request<Full<Bytes>>, UpstreamError> {
        let wrong = |error: axum::http::Error| UpstreamError::Unreachable(error.to_string());
        let target = format!("{}{}", self.prefix, sent.target);
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.host.as_bytes()).path_and_query(target);
        let request = Request::builder().method(&sent.method).uri(uri.build().map_err(wrong)?);
        let mut request = request.body(Full::new(sent.body.clone())).map_err(wrong)?;
        request.headers_mut().clone_from(&sent.headers);
        Ok(request)
    }
}

/// Methods that may be repeated (RFC 9110, section 9.2.2). Others with an `Idempotency-Key` may be repeated, too.
fn is_repeatable(sent: &Sent) -> bool {
    let Sent { method, headers, .. } = sent;
    let is_idempotent = matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE");
    is_idempotent || headers.contains_key(IDEMPOTENCY_KEY)
}

/// The time of `Retry-After`, which has seconds or a date (RFC 9110, section 10.2.3).
fn retry_after(answer: &Response<Incoming>) -> Option<Duration> {
    let text = answer.headers().get(RETRY_AFTER)?.to_str().ok()?;
    if !text.is_empty() && text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Half of a time, to all of it: clients of a busy server should not return together.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [0];
    // Without randomness the pause is only less scattered.
    let _ = rustls::crypto::ring::default_provider().secure_random.fill(&mut byte);
    pause.mul_f64(0.5 + f64::from(byte[0]) / 512.0)
}

/// The innermost cause, which has the address and no credential.
fn cause_of(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn connector(with_tls: bool) -> Result<HttpsConnector<HttpConnector>, ServicesError> {
    let mut roots = RootCertStore::empty();
    if with_tls {
        let found = rustls_native_certs::load_native_certs();
        let (known, _) = roots.add_parsable_certificates(found.certs);
        if known == 0 {
            let reason = "the system has no certificate authorities".to_owned();
            return Err(ServicesError::Backend { what: "the upstream", reason });
        }
    }
    let provider = rustls::crypto::ring::default_provider().into();
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ServicesError::Backend { what: "the upstream", reason: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    Ok(HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().wrap_connector(http))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_apis() {
        let new = |url| Upstream::new(url, Duration::from_secs(1), 0);
        for (url, host, prefix) in [
            ("http://127.0.0.1:80", "127.0.0.1", ""),
            ("http://a.example:8080/base/", "a.example:8080", "/base"),
            ("http://[::1]:1/a/b", "[::1]:1", "/a/b"),
        ] {
            let upstream = new(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!((upstream.host.to_str().unwrap(), upstream.prefix.as_str()), (host, prefix));
        }
        for (url, part) in [
            ("api.stripe.com", "not an http or https address"),
            ("ftp://a", "not an http or https address"),
            ("https://a/?key=canary", "not an http or https address"),
            ("https://a:canary@b", "has credentials"),
        ] {
            let error = new(url).err().unwrap().to_string();
            assert!(error.contains(part) && !error.contains("canary"), "{error}");
        }
    }
}
