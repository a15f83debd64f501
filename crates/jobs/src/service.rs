//! Requests to a sidecar.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use serde_json::Value;
use tenon_runtime::sidecar_token;
use tenon_transport::{Address, SendError, Sidecar, Transport, TransportConfig};
use thiserror::Error;

/// Bytes of an answer that are read; a lease of a queue has 100 messages at most.
const MAX_ANSWER_BYTES: usize = 256 * 1024 * 1024;

/// Time limit to connect.
const CONNECT: Duration = Duration::from_secs(5);

/// Requests at once.
const MAX_CONCURRENT: usize = 256;

/// Failures after which a sidecar is left alone, and for how long.
const BREAKER: (u32, Duration) = (10, Duration::from_millis(500));

/// A sidecar of a configuration, and the bearer token that its requests have.
#[derive(Clone, PartialEq, Eq)]
pub struct SidecarAddress {
    sidecar: Sidecar,
    token: Option<HeaderValue>,
}

/// A token that no header can have. It is not repeated.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the token of the sidecar `{0}` has characters that a header cannot have")]
pub struct TokenError(String);

impl SidecarAddress {
    /// Makes the address of a sidecar whose requests have a token, if there is one.
    ///
    /// # Errors
    ///
    /// [`TokenError`] for a token that no header can have.
    pub fn new(sidecar: Sidecar, token: Option<&str>) -> Result<Self, TokenError> {
        let token = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}"))).transpose();
        let mut token = token.map_err(|_| TokenError(sidecar.name().to_string()))?;
        if let Some(token) = &mut token {
            token.set_sensitive(true);
        }
        Ok(Self { sidecar, token })
    }

    /// Finds a sidecar by its name. Its token is the secret or the variable `SIDECAR_<NAME>_TOKEN` of modules.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn find(
        name: &str,
        sidecars: &[Sidecar],
        environment: &[(String, String)],
    ) -> Result<Option<Self>, TokenError> {
        let same = |one: &str| one.replace('-', "_").eq_ignore_ascii_case(&name.replace('-', "_"));
        let sidecar = sidecars.iter().find(|sidecar| same(sidecar.name())).cloned();
        sidecar.map(|sidecar| Self::new(sidecar, sidecar_token(name, environment))).transpose()
    }
}

/// A sidecar that this process asks.
pub struct Service {
    transport: Transport<Full<Bytes>>,
    address: Address,
    base: String,
    token: Option<HeaderValue>,
}

/// An answer, with any status.
#[derive(Debug)]
pub struct SidecarResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Bytes,
}

/// A request without an answer.
#[derive(Debug, Error)]
pub enum AskError {
    /// The sidecar has not answered.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The answer broke off, or is too large.
    #[error("its answer cannot be read: {0}")]
    Body(String),
    /// The path does not fit into a request.
    #[error("it cannot be asked: {0}")]
    Request(#[from] http::Error),
    /// The sidecar refused, with this status.
    #[error("{1}")]
    Refused(StatusCode, String),
}

impl AskError {
    /// Reports whether the same request may be answered later: the sidecar, or its store, is away.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Send(_) | Self::Body(_) => true,
            Self::Refused(status, _) => status.is_server_error(),
            Self::Request(_) => false,
        }
    }
}

impl Service {
    /// Makes the way to a sidecar. `timeout` limits the time for an answer.
    #[must_use]
    pub fn new(SidecarAddress { sidecar, token }: SidecarAddress, timeout: Duration) -> Self {
        let config = TransportConfig {
            connect_timeout: CONNECT.min(timeout),
            response_timeout: timeout,
            max_concurrent: MAX_CONCURRENT,
            breaker_failures: BREAKER.0,
            breaker_pause: BREAKER.1,
        };
        let address = sidecar.address().clone();
        let transport = Transport::new(vec![sidecar], Vec::new(), config);
        let base = transport.environment().pop().map(|(_, url)| url).unwrap_or_default();
        Self { transport, address, base, token }
    }

    /// The address of the sidecar.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends a request, with JSON if there is any, and reads the answer.
    ///
    /// # Errors
    ///
    /// [`AskError`] when there is no whole answer.
    pub async fn ask(&self, method: Method, path: &str, json: Option<&Value>) -> Result<SidecarResponse, AskError> {
        self.ask_in(None, method, path, json).await
    }

    /// Sends a request as [`Self::ask`], in a transaction of the sidecar `sql` if there is one.
    pub(crate) async fn ask_in(
        &self,
        transaction: Option<&str>,
        method: Method,
        path: &str,
        json: Option<&Value>,
    ) -> Result<SidecarResponse, AskError> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(transaction) = transaction {
            request = request.header(tenon_abi::TRANSACTION, transaction);
        }
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        if json.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::from(json.map(Value::to_string).unwrap_or_default()))?;
        let route = self.transport.route(request.uri())?;
        let (head, body) = self.transport.send(&route, request, None).await?.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| AskError::Body(error.to_string()))?.to_bytes();
        Ok(SidecarResponse { status: head.status, body })
    }

    /// Sends JSON, and reads the JSON of the answer. 204 has none, and neither has 409, which means that a lease has ended.
    ///
    /// # Errors
    ///
    /// [`AskError`] when there is no answer, or another one.
    pub(crate) async fn work(&self, method: Method, path: &str, json: &Value) -> Result<Option<Bytes>, AskError> {
        let answer = self.ask(method, path, Some(json)).await?;
        match answer.status {
            StatusCode::NO_CONTENT | StatusCode::CONFLICT => Ok(None),
            StatusCode::OK => Ok(Some(answer.body)),
            status => Err(AskError::Refused(status, answer.detail())),
        }
    }
}

impl SidecarResponse {
    /// The sentence of a problem document, or the status of another answer.
    #[must_use]
    pub fn detail(&self) -> String {
        let json = serde_json::from_slice::<Value>(&self.body).ok();
        let detail = json.as_ref().and_then(|json| json["detail"].as_str());
        detail.map_or_else(|| format!("it answered {}", self.status.as_u16()), ToString::to_string)
    }
}
