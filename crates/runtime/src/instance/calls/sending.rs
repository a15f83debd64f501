//! One call: its request is prepared when the guest starts it, and sent afterwards.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use http_body_util::BodyExt;
use tenon_transport::SendError;
use tokio::time::{Instant, timeout_at};
use wasmtime_wasi_http::Error;

use super::outgoing::{Outgoing, Overrun, Writer, outgoing};
use super::request::lift;
use super::response::{Unread, collect, hold_fields, lower};
use super::streams::Receiving;
use super::wit::{Bodies, Failure, Outcome, Reason, Request, Response, failure};
use crate::config::environment::{sidecar_token, sidecar_variable, variable};
use crate::config::{ms, size};
use crate::instance::account::{Charge, PIECE_BYTES, RESOURCE_BYTES, beyond, field_weight};
use crate::instance::egress::{self, Egress, Outbound};
use crate::instance::whole_body::whole;
use crate::telemetry::transcript::CallTranscript;

/// The name of the host's limit of a whole body.
const HOSTCALL: &str = "max_hostcall_bytes";

/// A prepared call with its request.
pub(super) struct Sending {
    outbound: Outbound,
    request: http::Request<Bytes>,
    /// The guest's time limit: its end, and its length.
    timeout: Option<(Instant, Duration)>,
    /// Bytes of the response's body at most, and the name of that limit.
    most: (usize, &'static str),
    /// Bytes of the response's headers at most.
    most_fields: usize,
    /// The body, when the guest writes more of it.
    rest: Option<(Outgoing, Overrun)>,
}

impl Sending {
    pub(super) fn prepare(
        mut request: Request,
        egress: &mut Egress,
        bodies: Bodies,
        held: &mut Charge,
    ) -> Result<Self, Failure> {
        let has_more = bodies == Bodies::StreamedWithMore;
        let limits = egress.limits();
        let most_fields = size(limits.max_fields_bytes);
        // A body that the guest reads piece by piece has no limit of the host's.
        let host = if bodies == Bodies::Whole { size(limits.max_hostcall_bytes) } else { usize::MAX };
        let most = match request.max_bytes as usize {
            0 => (host, HOSTCALL),
            bytes if bytes > host => (host, HOSTCALL),
            bytes => (bytes, "as the handler asked for"),
        };
        let after = (request.timeout_ms > 0).then(|| ms(request.timeout_ms.into()));
        let timeout = after.map(|after| (Instant::now() + after, after));
        let to_sidecar = request.url.strip_prefix("sidecar:").map(|rest| at_sidecar(rest, egress.environment()));
        let token = match to_sidecar {
            Some(None) => return Err(failure(Reason::Refused, "there is no such sidecar")),
            Some(Some((url, token))) => {
                request.url = url;
                token
            }
            None => None,
        };
        let fields = request.headers.iter().map(|(name, value)| field_weight(name.len(), value.len())).sum::<usize>();
        let body = request.body.as_ref().map_or(0, Vec::len);
        if !held.grow(fields + body + request.url.len() + request.method.len()) {
            return Err(failure(Reason::Unreachable, beyond(held.most()).to_string()));
        }
        let mut request = lift(request, has_more, most_fields)?;
        if let Some(token) = token {
            let sent = HeaderValue::try_from(format!("Bearer {token}"));
            let sent =
                sent.map_err(|_| failure(Reason::Invalid, "the token of the sidecar must be the value of a header"))?;
            request.headers_mut().entry(AUTHORIZATION).or_insert(sent);
        }
        let length = request.body().len();
        // The body's next piece, and the last one, which the other side has not taken.
        let writing = if has_more { 2 * PIECE_BYTES } else { 0 };
        let outbound = egress
            .prepare(&mut request, Some(length as u64), writing)
            .map_err(|refusal| failure(reason(&refusal.code), refusal.why))?;
        Ok(Self { outbound, request, timeout, most, most_fields, rest: None })
    }

    /// Lets the guest write more of the body, up to `limit` bytes in all.
    pub(super) fn write_more(&mut self, limit: u64) -> Writer {
        let first = self.request.body();
        let (writer, body, overrun) = outgoing(first, limit.saturating_sub(first.len() as u64));
        self.rest = Some((body, overrun));
        writer
    }

    /// The transcript of the call, if it has one.
    pub(super) fn transcript(&self) -> Option<CallTranscript> {
        self.outbound.transcript().cloned()
    }

    /// Sends the request of a call whose response is read as a whole.
    pub(super) async fn send(self, held: &mut Charge) -> Outcome {
        let Self { mut outbound, request, timeout, most, most_fields, rest: _ } = self;
        if let Some(call) = outbound.transcript() {
            call.data(request.body());
        }
        let sent = outbound.send(request.map(whole), timeout.map(|(_, after)| after)).await;
        // The request is the other side's now.
        held.shrink(held.bytes() - RESOURCE_BYTES);
        let (parts, body) = sent.map_err(|error| sending_failed(&error))?.into_parts();
        let received = async {
            hold_fields(&parts.headers, most_fields, held)?;
            collect(body, most, held).await
        };
        let received = match timeout {
            Some((ends, after)) => timeout_at(ends, received).await.unwrap_or(Err(Unread::Late(after))),
            None => received.await,
        };
        match received {
            Ok(body) => Ok(Response { status: parts.status.as_u16(), headers: lower(&parts.headers), body }),
            Err(unread) => {
                let failure = unread.failure(outbound.name());
                outbound.failed(&failure.detail);
                Err(failure)
            }
        }
    }

    /// Sends the request of a streamed call. Returns the head of the response with the first piece, and the rest.
    pub(super) async fn open(self, held: &mut Charge) -> Result<(Response, Receiving), Failure> {
        let Self { mut outbound, request, timeout, most, most_fields, rest } = self;
        if let Some(call) = outbound.transcript() {
            call.data(request.body());
        }
        let (request, overrun) = match rest {
            Some((body, overrun)) => (request.map(|_| body.boxed_unsync()), Some(overrun)),
            None => (request.map(whole), None),
        };
        let sent = outbound.send(request, timeout.map(|(_, after)| after)).await;
        held.shrink(held.bytes() - RESOURCE_BYTES);
        let sent = sent.map_err(|error| match &overrun {
            Some(overrun) if overrun.happened() => Unread::RequestTooLong.failure(outbound.name()),
            _ => sending_failed(&error),
        });
        let (parts, body) = sent?.into_parts();
        hold_fields(&parts.headers, most_fields, held).map_err(|unread| {
            let failure = unread.failure(outbound.name());
            outbound.failed(&failure.detail);
            failure
        })?;
        let mut receiving = Receiving::new(outbound, body, most, timeout, overrun);
        let body = receiving.first().await;
        let response = Response { status: parts.status.as_u16(), headers: lower(&parts.headers), body };
        Ok((response, receiving))
    }
}

fn sending_failed(error: &SendError) -> Failure {
    let detail = match error {
        // The log has the address. A handler that may not go there need not learn it.
        SendError::PrivateAddress { host, .. } => {
            format!("{host} is refused: it leads to an address that is not public")
        }
        other => other.to_string(),
    };
    failure(reason(&egress::code(error)), detail)
}

/// The kind of a failure, by the error that `wasi:http` has for it.
fn reason(code: &Error) -> Reason {
    match code {
        Error::HttpRequestDenied | Error::DestinationIpProhibited | Error::ConnectionRefused => Reason::Refused,
        Error::ConnectionReadTimeout => Reason::Timeout,
        Error::HttpRequestBodySize(_) => Reason::Invalid,
        Error::ConnectionTerminated => Reason::Broken,
        _ => Reason::Unreachable,
    }
}

/// The URL of a path at a sidecar, given as `db/sql/query`, and the sidecar's token if it has one. None when the
/// sidecar does not exist.
fn at_sidecar(text: &str, environment: &[(String, String)]) -> Option<(String, Option<String>)> {
    let (name, path) = text.split_at(text.find('/')?);
    let base = variable(environment, &format!("{}_URL", sidecar_variable(name)))?;
    let token = sidecar_token(name, environment).map(ToString::to_string);
    Some((base.strip_suffix('/').unwrap_or(base).to_string() + path, token))
}
