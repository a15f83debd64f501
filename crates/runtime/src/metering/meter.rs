//! Meters of requests: their use of processor, memory, calls and bytes, and limits that end them.
//!
//! A program puts a bounded [`Meter`] into the extensions of a request. Nothing that arrives on a connection has one. A limit that is
//! reached ends the request wherever it is, and its instance serves no other one. Other requests have a meter while the program
//! listens or their module has a budget ([`crate::metering`]); theirs has no limit, and changes nothing about them.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use crate::executor::inline_poll;
use crate::executor::stopwatch::nanos;
use crate::executor::thread::processor_time;
use crate::metering::budget::Budget;

/// Bytes that a line of the log counts besides its text.
const LINE_BYTES: u64 = 16;

/// A limit of a metered request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeterLimit {
    /// The processor time of [`MeterLimits`].
    Cpu,
    /// `request_timeout_ms` of the module.
    Wall,
    /// `memory_limit_bytes` or `max_table_elements` of the module.
    Memory,
    /// `max_outbound_calls` of the module.
    Calls,
    /// `max_response_bytes` of the module.
    Output,
    /// The bytes of log lines of [`MeterLimits`].
    Log,
    /// Another limit of the module, such as `max_held_bytes`.
    Host,
}

/// Limits of a metered request besides those of its module.
#[derive(Clone, Copy, Debug)]
pub struct MeterLimits {
    /// Processor time.
    pub cpu: Duration,
    /// Bytes of all log lines, each with 16 more.
    pub log_bytes: u64,
}

/// The resources that a metered request has used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time of the threads that ran it: in the guest, and in the host for the guest.
    pub cpu: Duration,
    /// The largest size of its memories together, in bytes.
    pub peak_memory: u64,
    /// Outbound calls, also those that were refused.
    pub calls: u64,
    /// Bytes that it got: the bodies of the request, and of responses to its calls.
    pub bytes_in: u64,
    /// Bytes that it gave: the bodies of its calls, and of the response.
    pub bytes_out: u64,
}

/// A line of a metered request's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterLine {
    /// True for standard error.
    pub is_error: bool,
    /// The line.
    pub text: String,
}

/// The meter of one request. Clones are the same meter.
#[derive(Clone)]
pub struct Meter(Arc<State>);

struct State {
    /// None for a meter that only counts.
    limits: Option<MeterLimits>,
    /// The budget that is charged.
    budget: Option<Arc<Budget>>,
    /// The bytes of memory that the budget is charged for.
    held: AtomicU64,
    is_over: AtomicBool,
    cpu: AtomicU64,
    peak_memory: AtomicU64,
    calls: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    reached: OnceLock<MeterLimit>,
    log: Mutex<Log>,
    number: u32,
}

#[derive(Default)]
struct Log {
    lines: Vec<MeterLine>,
    bytes: u64,
}

impl Meter {
    /// Makes a meter. The number is the program's own.
    #[must_use]
    pub fn new(number: u32, limits: MeterLimits) -> Self {
        Self::with(number, Some(limits), None)
    }

    /// Makes a meter that only counts, and charges a budget if there is one.
    pub(crate) fn counting(budget: Option<Arc<Budget>>) -> Self {
        Self::with(0, None, budget)
    }

    fn with(number: u32, limits: Option<MeterLimits>, budget: Option<Arc<Budget>>) -> Self {
        Self(Arc::new(State {
            limits,
            budget,
            held: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            cpu: AtomicU64::new(0),
            peak_memory: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            reached: OnceLock::new(),
            log: Mutex::default(),
            number,
        }))
    }

    /// The number that it was made with.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.number
    }

    /// The amounts until now.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let State { cpu, peak_memory, calls, bytes_in, bytes_out, .. } = &*self.0;
        let read = |amount: &AtomicU64| amount.load(Ordering::Relaxed);
        Usage {
            cpu: Duration::from_nanos(read(cpu)),
            peak_memory: read(peak_memory),
            calls: read(calls),
            bytes_in: read(bytes_in),
            bytes_out: read(bytes_out),
        }
    }

    /// The first limit that was reached.
    #[must_use]
    pub fn reached(&self) -> Option<MeterLimit> {
        self.0.reached.get().copied()
    }

    /// Runs a future, and counts the processor time of its polls. The request that it runs counts its own, which is counted once.
    pub async fn counted<T>(&self, future: impl Future<Output = T>) -> T {
        counted(Some(self), future).await
    }

    /// Takes the lines of the log.
    #[must_use]
    pub fn take_log(&self) -> Vec<MeterLine> {
        std::mem::take(&mut self.0.log.lock().unwrap_or_else(PoisonError::into_inner).lines)
    }

    /// Reports whether it has limits, and keeps the log.
    pub(crate) fn is_bounded(&self) -> bool {
        self.0.limits.is_some()
    }

    /// Notes that a limit was reached. Without effect when it only counts.
    pub(crate) fn reach(&self, limit: MeterLimit) {
        if self.is_bounded() {
            // Only the first one counts: the others may be its consequence.
            let _ = self.0.reached.set(limit);
        }
    }

    /// Ends the metering, also of the poll that runs on this thread.
    pub(crate) fn end(&self) {
        if let Some((meter, began)) = POLLED.get()
            && meter == self.address()
        {
            let now = processor_time();
            self.note_cpu(now.saturating_sub(began));
            POLLED.set(Some((meter, now)));
        }
        self.0.is_over.store(true, Ordering::Relaxed);
        self.charge_memory(0);
    }

    /// Charges the budget for another size of the memory from now on.
    fn charge_memory(&self, bytes: u64) {
        if let Some(budget) = &self.0.budget {
            budget.hold(self.0.held.swap(bytes, Ordering::Relaxed), bytes);
        }
    }

    /// Reports whether its request has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Relaxed)
    }

    /// Counts the rest of the poll on this thread, which counts for another meter or for none.
    pub(crate) fn take_poll(&self) {
        let began = POLLED.get().map_or_else(poll_begins, |(_, began)| began);
        POLLED.set(Some((self.address(), began)));
    }

    /// Counts the rest of the poll on this thread for none, unless a meter takes it.
    pub(crate) fn hold_poll() {
        POLLED.set(Some((0, processor_time())));
    }

    /// Returns whether the rest of the poll on this thread counts for none until a meter takes it.
    pub(crate) fn is_poll_held() -> bool {
        POLLED.get().is_some_and(|(meter, _)| meter == 0)
    }

    /// Counts no poll on this thread any more.
    pub(crate) fn forget_poll() {
        POLLED.set(None);
    }

    /// Counts the poll on this thread, which ends, if it is counted.
    pub(crate) fn end_poll(&self) {
        if let Some((_, began)) = POLLED.take() {
            let now = processor_time();
            self.note_cpu(now.saturating_sub(began));
            COUNTED.set(Some(now));
        }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn note_memory(&self, bytes: usize) {
        self.0.peak_memory.fetch_max(bytes as u64, Ordering::Relaxed);
        if !self.is_over() {
            self.charge_memory(bytes as u64);
        }
    }

    pub(crate) fn note_call(&self) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(budget) = &self.0.budget {
            budget.charge_call();
        }
    }

    pub(crate) fn note_in(&self, bytes: usize) {
        self.0.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_out(&self, bytes: usize) {
        self.0.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
        if let Some(budget) = &self.0.budget {
            budget.charge_out(bytes as u64);
        }
    }

    /// Adds a line to the log.
    pub(crate) fn line(&self, is_error: bool, text: &str) {
        let mut log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = log.bytes + text.len() as u64 + LINE_BYTES;
        if self.0.limits.is_none_or(|limits| bytes > limits.log_bytes) {
            self.reach(MeterLimit::Log);
            return;
        }
        log.bytes = bytes;
        log.lines.push(MeterLine { is_error, text: text.to_string() });
    }

    /// Fails once a limit was reached, so that the guest traps.
    ///
    /// # Errors
    ///
    /// The trap.
    pub(crate) fn check(&self) -> wasmtime::Result<()> {
        match self.reached() {
            None => Ok(()),
            Some(limit) => Err(wasmtime::format_err!("a limit of the program was reached: {limit:?}")),
        }
    }

    fn note_cpu(&self, used: Duration) {
        let before = self.0.cpu.fetch_add(nanos(used), Ordering::Relaxed);
        if self.0.limits.is_some_and(|limits| before.saturating_add(nanos(used)) > nanos(limits.cpu)) {
            self.reach(MeterLimit::Cpu);
        }
        if let Some(budget) = &self.0.budget {
            budget.charge_cpu(used);
        }
    }
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("number", &self.0.number).field("usage", &self.usage()).finish_non_exhaustive()
    }
}

thread_local! {
    /// The meter whose request is polled on this thread, by its address, and the thread's processor time when that was last counted.
    static POLLED: Cell<Option<(usize, Duration)>> = const { Cell::new(None) };
    /// The thread's processor time after the last poll that was counted.
    static COUNTED: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// The most that a poll is charged for what its thread did before it: waking up, choosing a task, reading the request, and the end of the
/// task before.
const LEAD: Duration = Duration::from_micros(50);

/// The thread's processor time from which a poll is counted. A thread of the program itself does other things between polls.
fn poll_begins() -> Duration {
    let now = processor_time();
    match COUNTED.get() {
        Some(counted) if !inline_poll::is_beginning() => counted.max(now.saturating_sub(LEAD)),
        _ => now,
    }
}

/// Runs a future, and counts the processor time of each poll, once even if it is a part of one that is counted by the same meter.
pub(crate) async fn counted<T>(meter: Option<&Meter>, future: impl Future<Output = T>) -> T {
    let Some(meter) = meter else { return future.await };
    let mut future = pin!(future);
    poll_fn(|cx| {
        let outer = POLLED.get();
        if outer.is_some_and(|(polled, _)| polled == meter.address()) {
            return future.as_mut().poll(cx);
        }
        let _restores = Polled(outer);
        let begins = if outer.is_none() { poll_begins() } else { processor_time() };
        POLLED.set(Some((meter.address(), begins)));
        let polled = future.as_mut().poll(cx);
        meter.end_poll();
        polled
    })
    .await
}

/// Restores what was polled before, also after a panic.
struct Polled(Option<(usize, Duration)>);

impl Drop for Polled {
    fn drop(&mut self) {
        POLLED.set(self.0);
    }
}

/// Runs a call, and counts the processor time of each poll. A guest that computes is polled anew each epoch. `trapped` makes the error of
/// a call that has reached a limit.
pub(crate) async fn metered<T, E>(
    meter: Option<&Meter>,
    trapped: impl Fn(wasmtime::Error) -> E,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let Some(meter) = meter else { return call.await };
    let mut call = pin!(counted(Some(meter), call));
    poll_fn(|cx| {
        let polled = call.as_mut().poll(cx);
        match (meter.check(), polled) {
            // Even if the guest has answered meanwhile.
            (Err(trap), _) => Poll::Ready(Err(trapped(trap))),
            (Ok(()), polled) => polled,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(cpu: Duration, log_bytes: u64) -> Meter {
        Meter::new(7, MeterLimits { cpu, log_bytes })
    }

    #[tokio::test]
    async fn processor_time_is_counted_and_ends_a_call() {
        let meter = meter(Duration::from_millis(20), 0);
        let spins = poll_fn(|cx| {
            let began = processor_time();
            while processor_time() - began < Duration::from_millis(5) {}
            cx.waker().wake_by_ref();
            Poll::<Result<(), wasmtime::Error>>::Pending
        });
        assert!(metered(Some(&meter), |trap| trap, spins).await.is_err());
        assert_eq!(meter.reached(), Some(MeterLimit::Cpu));
        let used = meter.usage().cpu;
        assert!(used >= Duration::from_millis(20) && used < Duration::from_millis(60), "{used:?}");
    }

    /// The permit of a request is dropped in its last poll.
    #[tokio::test]
    async fn a_meter_that_ends_in_a_poll_has_that_poll_and_no_time_twice() {
        let meter = Meter::counting(None);
        let seen = Cell::new(Duration::ZERO);
        let spin = || {
            let began = processor_time();
            while processor_time() - began < Duration::from_millis(10) {}
        };
        counted(
            Some(&meter),
            counted(Some(&meter), async {
                spin();
                meter.end();
                seen.set(meter.usage().cpu);
            }),
        )
        .await;
        assert!(seen.get() >= Duration::from_millis(10), "{seen:?}");
        assert!(meter.usage().cpu < Duration::from_millis(19), "{meter:?}");
        meter.reach(MeterLimit::Cpu);
        assert!(meter.check().is_ok());
    }

    #[test]
    fn the_first_limit_counts_and_a_log_line_that_does_not_fit_is_one() {
        let meter = meter(Duration::ZERO, 40);
        meter.line(false, "one");
        assert!(meter.check().is_ok());
        meter.line(true, "a line that does not fit");
        meter.reach(MeterLimit::Calls);
        assert_eq!((meter.reached(), meter.check().is_err()), (Some(MeterLimit::Log), true));
        assert_eq!(meter.take_log(), [MeterLine { is_error: false, text: "one".to_string() }]);
    }
}
