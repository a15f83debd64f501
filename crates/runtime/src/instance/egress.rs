//! An instance's outbound HTTP: to the sidecars and hosts that are allowed, within the limits of its request.
//!
//! A guest calls out by `wasi:http`, whose bodies are streams, or by `sdk:core/calls` (`calls`), whose bodies are whole. Both ways
//! prepare a call ([`Egress::prepare`]) and send it ([`Outbound::send`]) alike.

use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tenon_transport::{BodyError, ResponseBody, Route, SendError, Transport};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, Result, WasiBody, WasiHttpHooks,
};

use crate::config::Limits;
use crate::instance::account::{Account, CALL_BYTES, Charge, PIECE_BYTES, beyond, fields_weight};
use crate::instance::caller::Caller;
use crate::instance::guest_log::{escaped, log_ends};
use crate::instance::log_budget::Fit;
use crate::instance::shared_state::SharedState;
use crate::instance::transactions::{self, Transactions};
use crate::instance::whole_body::whole;
use crate::metering::meter::MeterLimit;
use crate::request::origin::Origin;
use crate::request::request_id;
use crate::telemetry::metrics::{Count, Metrics};
use crate::telemetry::module_info::ModuleInfo;
use crate::telemetry::trace;
use crate::telemetry::transcript::CallTranscript;

/// Reports whether HTTP, or this host, reserves a header (RFC 9110, section 7.6.1): hop-by-hop ones and `host`.
pub(crate) fn is_forbidden(name: &HeaderName) -> bool {
    DEFAULT_FORBIDDEN_HEADERS.contains(name)
}

/// The way out of one instance.
pub(crate) struct Egress {
    shared_state: Arc<SharedState>,
    module: Arc<ModuleInfo>,
    caller: Caller,
    calls: u64,
    transactions: Transactions,
    account: Account,
}

/// All of it, comparable with that of a fresh instance.
#[cfg(test)]
#[derive(Debug, PartialEq)]
pub(crate) struct Observed {
    /// Where they stand, which is the same for all instances of a module.
    shared_state: usize,
    module: usize,
    request_id: Arc<str>,
    traceparent: Option<HeaderValue>,
    origin: Origin,
    calls: u64,
    has_transactions: bool,
}

impl Egress {
    #[cfg(test)]
    pub(crate) fn observed(&self) -> Observed {
        // The account is the host's.
        let Self { shared_state, module, caller, calls, transactions, account: _ } = self;
        // The transcript is the request's own, and nothing of it can be read by a guest.
        // `GuestLog` has the same budget for the log.
        let Caller { request_id, traceparent, origin, transcript: _, log: _, seam: _, meter: _ } = caller;
        Observed {
            shared_state: Arc::as_ptr(shared_state).addr(),
            module: Arc::as_ptr(module).addr(),
            request_id: Arc::clone(request_id),
            traceparent: traceparent.clone(),
            origin: origin.clone(),
            calls: *calls,
            has_transactions: transactions.has_any(),
        }
    }

    pub(crate) fn new(
        shared_state: &Arc<SharedState>,
        module: &Arc<ModuleInfo>,
        caller: Caller,
        account: Account,
    ) -> Self {
        Self {
            shared_state: Arc::clone(shared_state),
            module: Arc::clone(module),
            caller,
            calls: 0,
            transactions: Transactions::default(),
            account,
        }
    }

    /// Where the request comes from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.caller.origin
    }

    /// The facts of the request as variables of the environment.
    pub(crate) fn origin_variables(&self) -> Vec<(String, String)> {
        self.caller.origin.variables(&self.module.name)
    }

    /// The instance goes on with another request.
    pub(crate) fn begin(&mut self, caller: Caller) {
        self.end();
        self.caller = caller;
        self.calls = 0;
    }

    /// The request has its answer: the transactions that it has left open are rolled back.
    pub(crate) fn end(&mut self) {
        self.transactions = Transactions::default();
    }

    /// The environment of the module.
    pub(crate) fn environment(&self) -> &[(String, String)] {
        &self.shared_state.environment
    }

    /// The limits of the request.
    pub(crate) fn limits(&self) -> &Limits {
        &self.shared_state.limits
    }

    /// Prepares a call: holds it to the limits of the request and to the allowed destinations, records it, and adds the headers
    /// that say which request and transaction it belongs to. `length` is the length of its body, as far as it is known.
    /// `held` is the number of bytes that the host holds for it, besides those of any call.
    ///
    /// # Errors
    ///
    /// The reason why it may not be sent, which is logged.
    pub(crate) fn prepare<B>(
        &mut self,
        request: &mut http::Request<B>,
        length: Option<u64>,
        held: usize,
    ) -> Result<Outbound, Refusal> {
        let mut charge = self.account.charge();
        let transport = self.shared_state.transport.clone();
        #[cfg(test)]
        let transport = crate::crossing::transport(&self.shared_state, request.uri()).unwrap_or(transport);
        let allowed = self.check(length).and_then(|()| {
            if !charge.grow(CALL_BYTES.saturating_add(held)) {
                let why = beyond(self.account.most()).to_string();
                return Err(Refusal { code: Error::ConnectionLimitReached, why });
            }
            transport.route(request.uri()).map_err(|error| {
                self.module.metrics.count(Count::Refused);
                Refusal { code: code(&error), why: error.to_string() }
            })
        });
        let route = match allowed {
            Ok(route) => route,
            Err(refusal) => {
                let name = request.uri().authority().map_or("", |authority| authority.as_str());
                if let Some(call) = self.record(name, request) {
                    call.failed(&refusal.why);
                }
                log(&self.module, &self.caller, &refusal.why);
                return Err(refusal);
            }
        };
        let transcript = self.record(route.name(), request);
        self.identify(request);
        if let Some(meter) = self.caller.bounded() {
            request.extensions_mut().insert(meter.clone());
        }
        let transaction = self.transactions.call(request);
        Ok(Outbound {
            transport,
            route,
            transcript,
            transaction,
            metrics: Arc::clone(&self.shared_state.metrics),
            module: Arc::clone(&self.module),
            caller: self.caller.clone(),
            charge,
        })
    }

    /// Counts one more call, and holds it to the limits of the request.
    fn check(&mut self, length: Option<u64>) -> Result<(), Refusal> {
        let limits = &self.shared_state.limits;
        self.calls += 1;
        if let Some(meter) = &self.caller.meter {
            meter.note_call();
            meter.note_out(length.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX)));
        }
        if self.calls > limits.max_outbound_calls {
            if let Some(meter) = &self.caller.meter {
                meter.reach(MeterLimit::Calls);
            }
            let why =
                format!("a request makes at most {} outbound calls (max_outbound_calls)", limits.max_outbound_calls);
            return Err(Refusal { code: Error::ConnectionLimitReached, why });
        }
        let limit = limits.max_outbound_body_bytes;
        match length {
            Some(length) if length > limit => {
                let why = format!("an outbound body must be at most {limit} bytes long (max_outbound_body_bytes)");
                Err(Refusal { code: Error::HttpRequestBodySize(Some(length)), why })
            }
            _ => Ok(()),
        }
    }

    /// Tells the other side which request this call belongs to, unless the guest has done so.
    fn identify<B>(&self, request: &mut http::Request<B>) {
        let headers = request.headers_mut();
        if !headers.contains_key(request_id::HEADER)
            && let Ok(id) = HeaderValue::from_str(&self.caller.request_id)
        {
            headers.insert(request_id::HEADER, id);
        }
        if let Some(parent) = &self.caller.traceparent
            && !headers.contains_key(trace::HEADER)
        {
            headers.insert(trace::HEADER, parent.clone());
        }
    }

    /// Keeps a call, in development.
    fn record<B>(&self, name: &str, request: &http::Request<B>) -> Option<CallTranscript> {
        self.caller.transcript.as_ref()?.call(name, request)
    }
}

/// A call that the runtime does not send: the error that `wasi:http` has for it, and the reason in words.
pub(crate) struct Refusal {
    pub(crate) code: Error,
    pub(crate) why: String,
}

/// A prepared call: its destination, and everything that takes note of it.
pub(crate) struct Outbound {
    transport: Transport<WasiBody>,
    route: Route<WasiBody>,
    transcript: Option<CallTranscript>,
    transaction: Option<transactions::Call>,
    metrics: Arc<Metrics>,
    module: Arc<ModuleInfo>,
    caller: Caller,
    /// The bytes that the host holds for it.
    charge: Charge,
}

impl Outbound {
    /// The sidecar's name, or the host's with its port.
    pub(crate) fn name(&self) -> &str {
        self.route.name()
    }

    /// The call in the transcript of its request.
    pub(crate) fn transcript(&self) -> Option<&CallTranscript> {
        self.transcript.as_ref()
    }

    /// Sends the request and returns the head of the response, whose body is still to come. `timeout` is the time limit
    /// of the head, if it is less than the configured one.
    ///
    /// # Errors
    ///
    /// The reason why there is no response, which is logged.
    pub(crate) async fn send(
        &mut self,
        request: http::Request<WasiBody>,
        timeout: Option<Duration>,
    ) -> Result<http::Response<ResponseBody<WasiBody>>, SendError> {
        let started = Instant::now();
        let sent = self.transport.send(&self.route, request, timeout).await;
        let outcome = sent.as_ref().map_or_else(SendError::kind, |_| "ok");
        self.metrics.count_call(&self.module.name, self.route.name(), outcome, started.elapsed().as_secs_f64());
        let mut response = sent.inspect_err(|error| self.failed(&error.located()))?;
        if let Some(call) = &self.transcript {
            call.answered(response.status().as_u16());
        }
        if let Some(call) = self.transaction.take() {
            call.answered(response.status(), response.headers(), &self.transport);
        }
        // Only this host may set the reason why there is no response.
        response.headers_mut().remove(EXPLAIN);
        Ok(response)
    }

    /// Logs and records the reason why there is no response, or only a part of one.
    pub(crate) fn failed(&self, why: &dyn Display) {
        if let Some(call) = &self.transcript {
            call.failed(&why.to_string());
        }
        log(&self.module, &self.caller, why);
    }
}

/// Logs why a call failed, as far as its request may log.
fn log(module: &ModuleInfo, caller: &Caller, why: &dyn Display) {
    // The log of an evaluation has the script's own lines. The script gets the reason as an exception.
    if caller.bounded().is_some() {
        return;
    }
    let text = escaped(&format!("outbound request failed: {why}"));
    let Some(Fit { text, ends_here }) = caller.log.take(&text) else { return };
    let (module, request_id) = (&*module.name, &*caller.request_id);
    tracing::warn!(module, request_id, "{text}");
    if ends_here {
        log_ends(module, request_id, caller.transcript.as_deref());
    }
}

impl WasiHttpHooks for Egress {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE_BYTES
    }

    fn p3_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE_BYTES
    }

    fn send_request(
        &mut self,
        mut request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<()>> + Send>,
    ) -> Box<dyn Future<Output = Result<OutboundResponse>> + Send> {
        let explains = request.headers_mut().remove(EXPLAIN).is_some();
        let limit = self.shared_state.limits.max_outbound_body_bytes;
        // From here on: wherever the request ends, the guest can go on writing its body.
        let mut request = request.map(|body| LimitedBody::new(body, limit));
        let announced =
            request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        // The body's next piece, and the last one, which the other side has not taken.
        let held = fields_weight(request.headers()) + request.uri().to_string().len() + 2 * PIECE_BYTES;
        let mut outbound = match self.prepare(&mut request, announced, held) {
            Ok(outbound) => outbound,
            Err(refusal) => return Box::new(async move { unanswered(refusal.code, explains) }),
        };
        request.body_mut().call = Some((Arc::clone(&self.module), self.caller.clone(), outbound.transcript().cloned()));
        let request = request.map(BodyExt::boxed_unsync);
        Box::new(async move {
            let response = match outbound.send(request, options.and_then(|options| options.first_byte_timeout)).await {
                Ok(response) => response,
                Err(error) => return unanswered(code(&error), explains),
            };
            if !outbound.charge.grow(fields_weight(response.headers())) {
                outbound.failed(&beyond(outbound.charge.most()));
                return unanswered(Error::HttpResponseHeaderSectionSize(None), explains);
            }
            let charge = outbound.charge;
            let done: Box<dyn Future<Output = Result<()>> + Send> = Box::new(async { Ok(()) });
            let broken = |error| match error {
                BodyError::Timeout(_) => Error::ConnectionReadTimeout,
                _ => Error::HttpResponseIncomplete,
            };
            // It is held for as long as the guest can read the body.
            let body = |body: ResponseBody<WasiBody>| {
                body.map_err(move |error| {
                    let _ = &charge;
                    broken(error)
                })
            };
            Ok((response.map(|whole| body(whole).boxed_unsync()), done))
        })
    }
}

/// The header with which a guest asks why a call got no answer, and gets the reason.
pub(crate) const EXPLAIN: HeaderName = HeaderName::from_static(tenon_abi::EGRESS);

/// The end of a call without an answer: an error, or for a guest that asks a response that says why.
fn unanswered(code: Error, explains: bool) -> Result<OutboundResponse> {
    if !explains {
        return Err(code);
    }
    let why = match code {
        Error::HttpRequestDenied | Error::DestinationIpProhibited | Error::ConnectionRefused => "refused",
        Error::ConnectionReadTimeout => "timeout",
        _ => "unreachable",
    };
    let mut response = http::Response::new(whole(Bytes::new()));
    *response.status_mut() = http::StatusCode::BAD_GATEWAY;
    response.headers_mut().insert(EXPLAIN, HeaderValue::from_static(why));
    Ok((response, Box::new(async { Ok(()) })))
}

/// Reads a body that goes nowhere to its end, or up to its limit.
async fn drain(mut body: WasiBody, mut left: u64) {
    while let Some(Ok(frame)) = body.frame().await {
        match left.checked_sub(frame.data_ref().map_or(0, Bytes::len) as u64) {
            Some(less) => left = less,
            None => return,
        }
    }
}

/// The guest's error code. Kinds of failure are distinct; the text is in the log.
pub(crate) fn code(error: &SendError) -> Error {
    match error {
        SendError::Refused { .. } => Error::HttpRequestDenied,
        SendError::PrivateAddress { .. } => Error::DestinationIpProhibited,
        SendError::Open { .. } => Error::DestinationUnavailable,
        SendError::Busy { .. } => Error::ConnectionLimitReached,
        SendError::Resolve { .. } => Error::DnsError { rcode: None, info_code: None },
        SendError::Connect { .. } => Error::ConnectionRefused,
        SendError::Timeout { .. } => Error::ConnectionReadTimeout,
        _ => Error::ConnectionTerminated,
    }
}

/// A response, and a future that ends when its connection has nothing more to say.
type OutboundResponse = (http::Response<WasiBody>, Box<dyn Future<Output = Result<()>> + Send>);

/// A body that breaks off when it is longer than allowed.
///
/// One that nobody reads any more, because its connection failed, is still read to its end: a guest whose body breaks off
/// while it is writing traps, and would not live to see why its call failed.
struct LimitedBody {
    body: WasiBody,
    left: u64,
    limit: u64,
    ended: bool,
    /// The module and the request that it belongs to, and its transcript, once it is sent.
    call: Option<(Arc<ModuleInfo>, Caller, Option<CallTranscript>)>,
}

impl LimitedBody {
    fn new(body: WasiBody, limit: u64) -> Self {
        Self { body, left: limit, limit, ended: false, call: None }
    }
}

impl Drop for LimitedBody {
    fn drop(&mut self) {
        if self.ended || self.body.is_end_stream() {
            return;
        }
        let body = std::mem::replace(&mut self.body, whole(Bytes::new()));
        // Without a runtime there is no guest left either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(drain(body, self.left));
        }
    }
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                if let (Some((_, _, Some(call))), Some(data)) = (&self.call, frame.data_ref()) {
                    call.data(data);
                }
                match self.left.checked_sub(length) {
                    Some(left) => self.left = left,
                    None => {
                        self.ended = true;
                        if let Some((module, caller, _)) = &self.call {
                            let limit = self.limit;
                            let why =
                                format_args!("its body was cut off after {limit} bytes (max_outbound_body_bytes)");
                            log(module, caller, &why);
                        }
                        return Poll::Ready(Some(Err(Error::HttpRequestBodySize(None))));
                    }
                }
            }
            Poll::Ready(_) => self.ended = true,
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
