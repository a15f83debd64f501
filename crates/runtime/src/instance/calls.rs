//! `sdk:core/calls` and `sdk:core/log`: outbound HTTP as records, and log lines.
//!
//! A guest holds numbers, and no resource of the host's. The calls end with their request, so an instance that makes them can be
//! restored. The future of a call runs on the task of its request: when the call is started, and while the guest waits.
//!
//! - [`wit`] has the types, and [`link`] the functions of the interfaces.
//! - [`request`] makes the request of HTTP, [`sending`] sends it, and [`response`] reads the answer within its limits.
//! - [`streams`] has the bodies of streamed calls: the response that a guest reads, and the request that it writes.
//! - [`outgoing`] is such a request's body between the guest and the connection.
//! - [`seam`] converts the values of calls for recordings.
//! - [`signal`] finds the streams that have changed.

mod link;
mod outgoing;
mod request;
mod response;
mod seam;
mod sending;
mod signal;
mod streams;
mod wit;

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::Stream as _;
use futures::stream::FuturesUnordered;
use tokio::time::sleep;
use wasmtime::bail;

use crate::config::{Limits, size};
use crate::instance::account::{Account, Charge, PIECE_BYTES, RESOURCE_BYTES, beyond};
use crate::instance::egress::Egress;
use sending::Sending;
use signal::Signal;
use streams::{Receiving, StreamedCall};
use wit::{Bodies, Failure, Outcome, Piece, Reason, Request, failure};

pub(crate) use link::link;

/// The time limit of a wait that ends with a call only, in microseconds.
const NO_LIMIT: u32 = u32::MAX;

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

    /// The number of the next call.
    fn next(&self) -> u32 {
        self.started.wrapping_add(1)
    }

    fn start(&mut self, request: Request, egress: &mut Egress, bodies: Bodies) -> wasmtime::Result<u32> {
        if self.running.len() + self.done.len() + self.streams.len() >= self.most {
            bail!("more calls than max_resources run or were not taken");
        }
        // A request that makes as many fails before.
        let call = self.next();
        self.started = call;
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
        let limit = egress.limits().max_outbound_body_bytes;
        let writer = (bodies == Bodies::StreamedWithMore).then(|| sending.write_more(limit));
        let waker = self.signal.get_or_insert_default().waker(call);
        self.streams.insert(call, StreamedCall::new(writer, sending.transcript(), waker, streaming));
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
