//! `sdk:core/calls` and `sdk:core/log`: outbound HTTP as records, and log lines.
//!
//! A guest holds numbers, and no resource of the host's. The calls end with their request, so an instance that makes them can be
//! restored. The future of a call runs on the task of its request: when the call is started, and while the guest waits.
//!
//! - [`streams`] has the bodies of streamed calls: the response that a guest reads, and the request that it writes.
//! - [`outgoing`] is such a request's body between the guest and the connection.
//! - [`seam`] converts the values of calls for recordings.
//! - [`signal`] finds the streams that have changed.

mod outgoing;
mod seam;
mod signal;
mod streams;

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream as _;
use futures::stream::FuturesUnordered;
use http::header::{AUTHORIZATION, CONTENT_LENGTH};
use http::uri::Scheme;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use http_body::Body as _;
use http_body_util::BodyExt;
use tenon_transport::{BodyError, ResponseBody, SendError};
use tokio::time::{Instant, sleep, timeout_at};
use wasmtime::component::{Linker, WasmList};
use wasmtime::{StoreContextMut, bail};
use wasmtime_wasi_http::{Error, WasiBody};

use crate::config::environment::{sidecar_token, sidecar_variable, variable};
use crate::config::{Limits, ms, size};
use crate::instance::account::{Account, Charge, PIECE_BYTES, RESOURCE_BYTES, beyond, field_weight, fields_weight};
use crate::instance::egress::{self, EXPLAIN, Egress, Outbound, is_forbidden};
use crate::instance::guest_log::Stream;
use crate::instance::host::Host;
use crate::instance::whole_body::whole;

#[allow(missing_docs, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        inline: "package tenon:runtime; world calls { import sdk:core/calls@0.1.0; import sdk:core/log@0.1.0; }",
        path: "../../wit",
        world: "tenon:runtime/calls",
    });
}

use bindings::sdk::core::calls::{Bodies, Failure, Header, Piece, Reason, Request, Response};
use bindings::sdk::core::log::Output;
use outgoing::{Outgoing, Overrun, outgoing};
use signal::Signal;
use streams::{Receiving, StreamedCall};

/// The name of the host's limit of a whole body.
const HOSTCALL: &str = "max_hostcall_bytes";

/// The time limit of a wait that ends with a call only, in microseconds.
const NO_LIMIT: u32 = u32::MAX;

type Outcome = Result<Response, Failure>;

/// Links both interfaces. They leave nothing on the host that outlives a request, so they do not mark it as touched.
pub(crate) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut calls = linker.instance("sdk:core/calls@0.1.0")?;
    calls.func_wrap("start", |mut store: StoreContextMut<'_, Host>, (request, bodies): (Request, Bodies)| {
        Ok((start(store.data_mut(), request, bodies)?,))
    })?;
    calls.func_wrap_async("wait", |mut store: StoreContextMut<'_, Host>, (timeout,): (u32,)| {
        Box::new(async move {
            if let Some(player) = store.data().seam.player() {
                return Ok((player.wait(timeout)?,));
            }
            let (has_ended, has_waited) = store.data_mut().calls.wait(timeout).await;
            store.data().seam.note(|tape| tape.wait(timeout, has_ended));
            if has_waited {
                // The guest did not compute meanwhile.
                store.set_epoch_deadline(store.data().first_yield());
            }
            Ok((has_ended,))
        })
    })?;
    calls.func_wrap("take", |mut store: StoreContextMut<'_, Host>, (): ()| {
        if let Some(player) = store.data().seam.player() {
            return Ok((player.take()?.map(|(call, outcome)| (call, seam::outcome(outcome))),));
        }
        let taken = store.data_mut().calls.take();
        store.data().seam.note(|tape| seam::note_taken(tape, taken.as_ref()));
        if let (Some((_, Ok(response))), Some(meter)) = (&taken, &store.data().bounds.meter) {
            meter.note_in(response.body.len());
        }
        Ok((taken,))
    })?;
    calls.func_wrap("ready", |mut store: StoreContextMut<'_, Host>, (): ()| {
        if let Some(player) = store.data().seam.player() {
            return Ok((player.ready()?,));
        }
        let ready = store.data_mut().calls.ready();
        store.data().seam.note(|tape| tape.ready(ready));
        Ok((ready,))
    })?;
    calls.func_wrap("read", |mut store: StoreContextMut<'_, Host>, (call,): (u32,)| {
        if let Some(player) = store.data().seam.player() {
            return Ok((seam::piece(player.read(call)?),));
        }
        let piece = store.data_mut().calls.read(call);
        store.data().seam.note(|tape| seam::note_read(tape, call, &piece));
        if let (Piece::Bytes(bytes), Some(meter)) = (&piece, &store.data().bounds.meter) {
            meter.note_in(bytes.len());
        }
        Ok((piece,))
    })?;
    calls.func_wrap("write", |mut store: StoreContextMut<'_, Host>, (call, piece): (u32, Option<WasmList<u8>>)| {
        if let Some(player) = store.data().seam.player() {
            let piece = piece.map(|piece| piece.as_le_slice(&store).to_vec());
            return Ok((player.write(call, piece)?,));
        }
        let Some(piece) = piece else {
            let ended = store.data_mut().calls.end(call);
            store.data().seam.note(|tape| tape.write(call, None, ended));
            return Ok((ended,));
        };
        let room = store.data_mut().calls.room(call, piece.len());
        let bytes = piece.as_le_slice(&store);
        store.data().seam.note(|tape| tape.write(call, Some(bytes), room.map(|room| room as u32)));
        if let Some(room) = room {
            store.data().calls.write(call, &bytes[..room]);
            if let Some(meter) = &store.data().bounds.meter {
                meter.note_out(room);
            }
        }
        Ok((room.map(|room| room as u32),))
    })?;
    calls.func_wrap("cancel", |mut store: StoreContextMut<'_, Host>, (call,): (u32,)| {
        if let Some(player) = store.data().seam.player() {
            return player.cancel(call);
        }
        store.data_mut().calls.cancel(call);
        store.data().seam.note(|tape| tape.cancel(call));
        Ok(())
    })?;
    link_log(linker)
}

fn link_log(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.instance("sdk:core/log@0.1.0")?.func_wrap(
        "write",
        |store: StoreContextMut<'_, Host>, (output, text): (Output, WasmList<u8>)| {
            let stream = match output {
                Output::Out => Stream::Output,
                Output::Err => Stream::Error,
            };
            let (host, text) = (store.data(), text.as_le_slice(&store));
            let is_error = matches!(stream, Stream::Error);
            if let Some(player) = host.seam.player() {
                return player.log(is_error, text);
            }
            host.seam.note(|tape| tape.log(is_error, text));
            host.log.write_to(stream, text);
            host.check()
        },
    )
}

/// Starts a call.
fn start(host: &mut Host, request: Request, bodies: Bodies) -> wasmtime::Result<u32> {
    if let Some(player) = host.seam.player() {
        return player.start(seam::call(&request, bodies));
    }
    host.check()?;
    // The request is the call's from here on.
    let noted = host.seam.recorder().map(|_| seam::call(&request, bodies));
    let Host { calls, egress, .. } = host;
    let call = calls.start(request, egress, bodies);
    let call = host.seam.refused(call)?;
    if let Some(noted) = noted {
        host.seam.note(|tape| tape.start(call, &noted));
    }
    host.check()?;
    Ok(call)
}

/// The calls of one request.
pub(crate) struct OutboundCalls {
    /// Calls that were started, which is the number of the last one.
    started: u32,
    running: FuturesUnordered<Running>,
    /// Calls that have ended and were not taken, in the order of their ends.
    done: VecDeque<Done>,
    /// Streamed calls that run, or whose response was not read.
    streams: BTreeMap<u32, StreamedCall>,
    /// Streams for `ready`.
    ready: VecDeque<u32>,
    /// Made for the first streamed call.
    signal: Option<Arc<Signal>>,
    /// Calls that run or were not taken, at most; the guest traps beyond.
    most: usize,
    account: Account,
}

/// The outcome of a call, the rest of a streamed response, and the bytes that are held for both.
type PendingOutcome = Pin<Box<dyn Future<Output = (Outcome, Option<Receiving>, Charge)> + Send>>;

/// A call that runs.
struct Running {
    call: u32,
    outcome: PendingOutcome,
}

impl Future for Running {
    type Output = Done;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Done> {
        let call = self.call;
        self.outcome.as_mut().poll(cx).map(|(outcome, rest, held)| Done { call, outcome, rest, _held: held })
    }
}

/// A call that has ended.
struct Done {
    call: u32,
    outcome: Outcome,
    /// The rest of a streamed response.
    rest: Option<Receiving>,
    _held: Charge,
}

/// All of it, comparable with that of a fresh instance.
#[cfg(test)]
#[derive(Debug, PartialEq)]
pub(crate) struct Observed {
    started: u32,
    running: usize,
    done: usize,
    streams: usize,
    ready: usize,
    has_signal: bool,
    most: usize,
}

impl OutboundCalls {
    #[cfg(test)]
    pub(crate) fn observed(&self) -> Observed {
        // `Host` compares its account.
        let Self { started, running, done, streams, ready, signal, most, account: _ } = self;
        Observed {
            started: *started,
            running: running.len(),
            done: done.len(),
            streams: streams.len(),
            ready: ready.len(),
            has_signal: signal.is_some(),
            most: *most,
        }
    }

    pub(crate) fn new(limits: &Limits, account: Account) -> Self {
        Self {
            started: 0,
            running: FuturesUnordered::new(),
            done: VecDeque::new(),
            streams: BTreeMap::new(),
            ready: VecDeque::new(),
            signal: None,
            most: size(limits.max_resources),
            account,
        }
    }

    /// Ends all calls: their request has ended.
    pub(crate) fn clear(&mut self) {
        if self.started > 0 {
            self.started = 0;
            self.running.clear();
            self.done.clear();
            self.streams.clear();
            self.ready.clear();
            // Connections may still wake the streams that they had.
            self.signal = None;
        }
    }

    fn start(&mut self, request: Request, egress: &mut Egress, bodies: Bodies) -> wasmtime::Result<u32> {
        if self.running.len() + self.done.len() + self.streams.len() >= self.most {
            bail!("more calls than max_resources run or were not taken");
        }
        // A request that makes as many fails before.
        self.started = self.started.wrapping_add(1);
        let call = self.started;
        let mut held = self.account.charge();
        if !held.grow(RESOURCE_BYTES) {
            return Err(beyond(self.account.most()));
        }
        match self.prepare(call, request, egress, bodies, &mut held) {
            Ok(sending) => {
                let outcome: PendingOutcome = match bodies {
                    Bodies::Whole => Box::pin(async move {
                        let outcome = sending.send(&mut held).await;
                        (outcome, None, held)
                    }),
                    Bodies::Streamed | Bodies::StreamedWithMore => Box::pin(async move {
                        match sending.open(&mut held).await {
                            Ok((response, rest)) => (Ok(response), Some(rest), held),
                            Err(failure) => (Err(failure), None, held),
                        }
                    }),
                };
                self.running.push(Running { call, outcome });
                // It sends its request now, while the guest goes on. Whoever waits polls it again.
                self.poll(&mut Context::from_waker(Waker::noop()));
            }
            Err(failure) => self.done.push_back(Done { call, outcome: Err(failure), rest: None, _held: held }),
        }
        Ok(call)
    }

    /// Prepares a call, and its stream if it is streamed.
    fn prepare(
        &mut self,
        call: u32,
        request: Request,
        egress: &mut Egress,
        bodies: Bodies,
        held: &mut Charge,
    ) -> Result<Sending, Failure> {
        if bodies == Bodies::Whole {
            return Sending::prepare(request, egress, bodies, held);
        }
        let mut streaming = self.account.charge();
        // A piece of the response, which the guest has not read.
        if !streaming.grow(RESOURCE_BYTES + PIECE_BYTES) {
            return Err(failure(Reason::Unreachable, beyond(held.most()).to_string()));
        }
        let mut sending = Sending::prepare(request, egress, bodies, held)?;
        let writer = (bodies == Bodies::StreamedWithMore).then(|| {
            let first = sending.request.body();
            let left = egress.limits().max_outbound_body_bytes.saturating_sub(first.len() as u64);
            let (writer, body, overrun) = outgoing(first, left);
            sending.rest = Some((body, overrun));
            writer
        });
        let recording = sending.outbound.recording().cloned();
        let waker = self.signal.get_or_insert_default().waker(call);
        self.streams.insert(call, StreamedCall::new(writer, recording, waker, streaming));
        Ok(sending)
    }

    /// Polls the calls that run and the streams that have changed. Returns whether there is one to take, or a number for `ready`.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        while let Poll::Ready(Some(done)) = Pin::new(&mut self.running).poll_next(cx) {
            self.done.push_back(done);
        }
        if let Some(signal) = &self.signal {
            signal.register(cx.waker());
            for call in signal.changed() {
                if self.streams.get_mut(&call).is_some_and(StreamedCall::becomes_ready) {
                    self.ready.push_back(call);
                }
            }
        }
        self.has_any()
    }

    fn has_any(&self) -> bool {
        !self.done.is_empty() || !self.ready.is_empty()
    }

    /// Reports whether nothing can happen that ends a wait.
    fn is_idle(&self) -> bool {
        self.running.is_empty() && !self.streams.values().any(StreamedCall::is_waiting)
    }

    /// Waits for a call to take or a stream, so many microseconds at most. Returns whether there is one, and whether others could run
    /// meanwhile.
    async fn wait(&mut self, timeout: u32) -> (bool, bool) {
        if self.has_any() {
            return (true, false);
        }
        if timeout == 0 {
            return (self.poll(&mut Context::from_waker(Waker::noop())), false);
        }
        let mut timer = pin!((timeout != NO_LIMIT).then(|| sleep(Duration::from_micros(timeout.into()))));
        let mut has_waited = false;
        let has_ended = poll_fn(|cx| {
            if self.poll(cx) {
                return Poll::Ready(true);
            }
            let over = match timer.as_mut().as_pin_mut() {
                Some(timer) => timer.poll(cx).is_ready(),
                None => self.is_idle(),
            };
            if over {
                return Poll::Ready(false);
            }
            has_waited = true;
            Poll::Pending
        })
        .await;
        (has_ended, has_waited)
    }

    fn take(&mut self) -> Option<(u32, Outcome)> {
        let Done { call, outcome, rest, .. } = self.done.pop_front()?;
        match rest {
            Some(rest) => {
                if let Some(stream) = self.streams.get_mut(&call) {
                    stream.receive(rest);
                }
            }
            None => _ = self.streams.remove(&call),
        }
        Some((call, outcome))
    }

    fn ready(&mut self) -> Option<u32> {
        let call = self.ready.pop_front()?;
        if let Some(stream) = self.streams.get_mut(&call) {
            stream.told();
        }
        Some(call)
    }

    fn read(&mut self, call: u32) -> Piece {
        let Some(stream) = self.streams.get_mut(&call) else { return Piece::End };
        let (piece, is_last) = stream.read();
        if is_last {
            self.drop_stream(call);
        }
        piece
    }

    fn room(&mut self, call: u32, wanted: usize) -> Option<usize> {
        self.streams.get_mut(&call)?.room(wanted)
    }

    fn write(&self, call: u32, bytes: &[u8]) {
        if let Some(stream) = self.streams.get(&call) {
            stream.write(bytes);
        }
    }

    fn end(&mut self, call: u32) -> Option<u32> {
        self.streams.get_mut(&call)?.end().then_some(0)
    }

    fn cancel(&mut self, call: u32) {
        self.done.retain(|done| done.call != call);
        if self.running.iter().any(|running| running.call == call) {
            let running = std::mem::take(&mut self.running).into_iter();
            self.running = running.filter(|running| running.call != call).collect();
        }
        self.drop_stream(call);
    }

    fn drop_stream(&mut self, call: u32) {
        if self.streams.remove(&call).is_some() {
            self.ready.retain(|ready| *ready != call);
        }
    }
}

/// A prepared call with its request.
struct Sending {
    outbound: Outbound,
    request: http::Request<Bytes>,
    /// When the guest wants it to end, and how long that is.
    timeout: Option<(Instant, Duration)>,
    /// Bytes of the response's body at most, and the name of that limit.
    most: (usize, &'static str),
    /// Bytes of the response's headers at most.
    most_fields: usize,
    /// The body, when the guest writes more of it.
    rest: Option<(Outgoing, Overrun)>,
}

impl Sending {
    fn prepare(mut request: Request, egress: &mut Egress, bodies: Bodies, held: &mut Charge) -> Result<Self, Failure> {
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
        let mut request = lift(request, has_more, most_fields).map_err(|detail| failure(Reason::Invalid, detail))?;
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

    async fn send(self, held: &mut Charge) -> Outcome {
        let Self { mut outbound, request, timeout, most, most_fields, rest: _ } = self;
        if let Some(call) = outbound.recording() {
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
}

impl Sending {
    /// Sends the request of a streamed call. Returns the head of the response with the first piece, and the rest.
    async fn open(self, held: &mut Charge) -> Result<(Response, Receiving), Failure> {
        let Self { mut outbound, request, timeout, most, most_fields, rest } = self;
        if let Some(call) = outbound.recording() {
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

/// Charges the headers of a response.
fn hold_fields(headers: &HeaderMap, most: usize, held: &mut Charge) -> Result<(), Unread> {
    let fields: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if fields > most {
        return Err(Unread::TooLarge(most, "max_fields_bytes"));
    }
    if !held.grow(fields_weight(headers)) {
        return Err(Unread::NoRoom(held.most()));
    }
    Ok(())
}

/// The reason why a response was not read to its end.
enum Unread {
    TooLarge(usize, &'static str),
    /// The host would hold more bytes than this for the request.
    NoRoom(usize),
    /// The time of the guest is over.
    Late(Duration),
    /// The guest has written more than the host sends.
    RequestTooLong,
    Body(BodyError),
}

impl Unread {
    fn failure(&self, name: &str) -> Failure {
        match self {
            Self::TooLarge(most, limit) => {
                failure(Reason::TooLarge, format!("the response of {name} is larger than {most} bytes ({limit})"))
            }
            Self::NoRoom(most) => {
                failure(Reason::TooLarge, format!("the response of {name} has no room: {}", beyond(*most)))
            }
            Self::Late(after) => failure(
                Reason::Timeout,
                format!("the response of {name} was not complete within {} ms", after.as_millis()),
            ),
            Self::RequestTooLong => failure(
                Reason::Invalid,
                format!("the body of the request to {name} is longer than the host sends (max_outbound_body_bytes)"),
            ),
            Self::Body(error @ BodyError::Timeout(_)) => {
                failure(Reason::Timeout, format!("the response of {name} broke off: {error}"))
            }
            Self::Body(error) => failure(Reason::Broken, format!("the response of {name} broke off: {error}")),
        }
    }
}

/// Reads a body to its end.
async fn collect(
    mut body: ResponseBody<WasiBody>,
    (most, limit): (usize, &'static str),
    held: &mut Charge,
) -> Result<Vec<u8>, Unread> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    reserve(&mut bytes, announced, (most, limit), held)?;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Unread::Body)?.into_data() else { continue };
        reserve(&mut bytes, data.len(), (most, limit), held)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Makes room for more bytes, by doubling. All of the room is held.
fn reserve(
    bytes: &mut Vec<u8>,
    more: usize,
    (most, limit): (usize, &'static str),
    held: &mut Charge,
) -> Result<(), Unread> {
    let needed = bytes.len().saturating_add(more);
    if needed > most {
        return Err(Unread::TooLarge(most, limit));
    }
    if needed > bytes.capacity() {
        let doubled = bytes.capacity().saturating_mul(2).clamp(needed, most);
        let mut fits = [doubled, needed].into_iter().filter(|capacity| held.grow(capacity - bytes.capacity()));
        let capacity = fits.next().ok_or_else(|| Unread::NoRoom(held.most()))?;
        bytes.reserve_exact(capacity - bytes.len());
    }
    Ok(())
}

fn failure(reason: Reason, detail: impl Into<String>) -> Failure {
    Failure { reason, detail: detail.into() }
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

/// Converts a record to a request. The error describes an invalid one, without values of the guest's.
fn lift(record: Request, has_more: bool, most_fields: usize) -> Result<http::Request<Bytes>, String> {
    let Request { method, url, headers: fields, body, .. } = record;
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| "its method must be a token, as HTTP has it")?;
    if method == Method::CONNECT {
        return Err("its method must not be CONNECT: a call opens no tunnel".to_string());
    }
    if url.contains('#') {
        return Err("its URL must not have a fragment".to_string());
    }
    let uri = Uri::try_from(url).map_err(|error| format!("its URL must be valid: {error}"))?;
    if !matches!(uri.scheme(), Some(scheme) if *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS) {
        return Err("its URL must begin with http:// or https://".to_string());
    }
    let body = Bytes::from(body.unwrap_or_default());
    let mut request = http::Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    let bytes = fields.iter().fold(0_usize, |sum, (name, value)| sum + name.len() + value.len());
    if bytes > most_fields {
        return Err(format!("its headers must not be larger than {most_fields} bytes (max_fields_bytes)"));
    }
    let length = HeaderValue::from(request.body().len());
    let headers = request.headers_mut();
    let too_many = |_| "it must not have that many headers";
    headers.try_reserve(fields.len()).map_err(too_many)?;
    for (name, value) in fields {
        let name = HeaderName::try_from(name).map_err(|_| "the name of a header must be a token, as HTTP has it")?;
        let value =
            HeaderValue::try_from(value).map_err(|_| format!("the value of {name} must have no control characters"))?;
        if is_forbidden(&name) {
            return Err(format!("{name} must not be set: the host sets it"));
        }
        if name == CONTENT_LENGTH {
            if has_more {
                return Err("content-length must not be set for a streamed body".to_string());
            }
            if value != length {
                return Err("content-length must be the length of its body".to_string());
            }
            // The connection adds it.
            continue;
        }
        headers.try_append(name, value).map_err(too_many)?;
    }
    headers.remove(EXPLAIN);
    Ok(request)
}

/// The headers of a response but those that HTTP keeps to a hop.
fn lower(headers: &HeaderMap) -> Vec<Header> {
    let kept = headers.iter().filter(|(name, _)| !is_forbidden(name));
    kept.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
}
