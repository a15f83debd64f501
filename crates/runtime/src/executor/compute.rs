//! Threads for guests that compute, as many as processors.
//!
//! Most calls take less time than to wake another thread, so each begins where it is made: among the server's own tasks. One that
//! computes for longer would hold those up, and goes on here. The threads are slightly niced: the system lets the server's
//! threads run first, which never wait behind a guest then. Modules take turns by the time that they have used. A module whose brief
//! calls crowd out those of others goes there as well (`crowding.rs`).
//!
//! ```text
//!  Share::run ─► polled in place ─► ready, or waits: stays there
//!                     └─► took longer than BRIEF ─► Pool: the module that has used least goes on, for one epoch
//! ```
//!
//! Timers and sockets that a guest waits for belong to the server's runtime, wherever the guest runs.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use http::Method;
use tenon_memory::PerProcess;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::executor::crowding::{self, Crowding, Windows};
use crate::executor::stopwatch::{Stopwatch, nanos};
use crate::executor::thread::{prefer_others, processor_time};

/// A call that computes for longer goes on elsewhere. The server may have to poll 61 calls (tokio's `event_interval`) before it
/// looks at its sockets.
const BRIEF: Duration = Duration::from_micros(300);

/// Number of slow calls in a row after which a class starts on the compute threads. A single slow call may be a garbage
/// collection.
const STREAK: u8 = 4;

/// The streak while other modules compute at the same time.
const STREAK_IN_COMPANY: u8 = 2;

/// The time for which they do so, in durations of the last call.
const PAUSE: u32 = 40;

/// Number of classes of requests. Two requests in one class only cost time.
const CLASSES: usize = 64;

/// A module's share of the threads.
pub(crate) struct Share {
    /// Nanoseconds that its calls have computed here, by its weight. It starts at the least value among the computing modules.
    used: AtomicU64,
    /// How many times the time of a module with weight 1 it gets while both compute.
    weight: AtomicU32,
    classes: [ClassState; CLASSES + 1],
    crowding: Crowding,
    began: Instant,
}

#[derive(Default)]
struct ClassState {
    /// Polls in a row that took long.
    long: AtomicU8,
    /// Nanoseconds since the share was made.
    elsewhere_until: AtomicU64,
}

/// Requests that are likely to take as long as each other: with the same method and path, but for numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(usize);

impl Class {
    /// The pieces after the head of a streamed answer.
    pub(crate) const STREAM: Self = Self(CLASSES);

    /// The class of a request.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        method.hash(&mut hasher);
        for segment in path.split('/') {
            let is_number = segment.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { "0" } else { segment }.hash(&mut hasher);
        }
        Self(usize::try_from(hasher.finish() % CLASSES as u64).unwrap_or(0))
    }
}

impl Share {
    pub(crate) fn new() -> Arc<Self> {
        Self::among(&crowding::ALL)
    }

    fn among(all: &'static Windows) -> Arc<Self> {
        let classes = std::array::from_fn(|_| ClassState::default());
        Arc::new(Self {
            used: AtomicU64::new(0),
            weight: AtomicU32::new(1),
            classes,
            crowding: Crowding::new(all),
            began: Instant::now(),
        })
    }

    /// Runs a future: in place as long as it is polled briefly, and on the threads for guests from then on. It is dropped with
    /// the result; one that is being polled is dropped after this poll. Needs a Tokio runtime.
    pub(crate) fn run<T: Send + 'static>(
        self: &Arc<Self>,
        class: Class,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Run<T> {
        Run { share: Arc::clone(self), class, state: State::Here(Box::pin(future)) }
    }

    fn goes_elsewhere(&self, class: Class) -> bool {
        let until = self.classes[class.0].elsewhere_until.load(Ordering::Relaxed);
        (until != 0 && until > nanos(self.began.elapsed())) || self.crowding.is_crowding()
    }

    /// Gives it another weight from now on.
    pub(crate) fn weigh(&self, weight: u32) {
        self.weight.store(weight, Ordering::Relaxed);
    }

    pub(crate) fn weight(&self) -> u32 {
        self.weight.load(Ordering::Relaxed)
    }

    /// Takes note of how long a future of this class was polled.
    fn note(&self, class: Class, took: Duration, streak: u8) {
        self.crowding.note(took);
        let state = &self.classes[class.0];
        let before = state.long.load(Ordering::Relaxed);
        if took <= BRIEF {
            if before > 0 {
                state.long.store(0, Ordering::Relaxed);
            }
            return;
        }
        let long = before.saturating_add(1);
        state.long.store(long, Ordering::Relaxed);
        if long >= streak {
            let until = self.began.elapsed() + took * PAUSE;
            state.elsewhere_until.store(nanos(until), Ordering::Relaxed);
        }
    }
}

/// A future that is polled in place or on the threads for guests.
pub(crate) struct Run<T> {
    share: Arc<Share>,
    class: Class,
    state: State<T>,
}

enum State<T> {
    Here(Pin<Box<dyn Future<Output = T> + Send>>),
    Elsewhere(Elsewhere<T>),
    Over,
}

impl<T: Send + 'static> Future for Run<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Self { share, class, state } = &mut *self;
        if let State::Here(future) = state {
            if !share.goes_elsewhere(*class) {
                let watch = Stopwatch::start(BRIEF);
                let polled = future.as_mut().poll(cx);
                let has_company = share.crowding.has_company();
                let took = if has_company { watch.passed() } else { watch.took() };
                share.note(*class, took, if has_company { STREAK_IN_COMPANY } else { STREAK });
                if polled.is_ready() || took <= BRIEF {
                    return polled;
                }
            }
            if let State::Here(future) = std::mem::replace(state, State::Over) {
                *state = State::Elsewhere(Elsewhere::start(share, future));
            }
        }
        match state {
            State::Elsewhere(elsewhere) => elsewhere.poll(cx),
            _ => Poll::Pending,
        }
    }
}

/// The outcome of a future on the threads for guests, which ends when this is dropped.
struct Elsewhere<T> {
    outcome: oneshot::Receiver<std::thread::Result<T>>,
    task: Arc<Task>,
}

impl<T: Send + 'static> Elsewhere<T> {
    fn start(share: &Arc<Share>, mut future: Pin<Box<dyn Future<Output = T> + Send>>) -> Self {
        let (tell, outcome) = oneshot::channel();
        let mut tell = Some(tell);
        let told = std::future::poll_fn(move |cx| {
            let outcome = match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(value)) => Ok(value),
                Err(panic) => Err(panic),
            };
            // Nobody waits any more when this fails.
            let _ = tell.take().map(|tell| tell.send(outcome));
            Poll::Ready(())
        });
        let told: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(told);
        let task = Arc::new(Task {
            future: Mutex::new(Some(told)),
            state: AtomicU8::new(IDLE),
            cancelled: AtomicBool::new(false),
            share: Arc::clone(share),
            runtime: Handle::current(),
        });
        Arc::clone(&task).wake();
        Self { outcome, task }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        match Pin::new(&mut self.outcome).poll(cx) {
            Poll::Ready(Ok(Ok(value))) => Poll::Ready(value),
            Poll::Ready(Ok(Err(panic))) => resume_unwind(panic),
            // The task lives as long as this, and sends its outcome before it ends.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Drop for Elsewhere<T> {
    fn drop(&mut self) {
        self.task.cancel();
    }
}

/// A task waits for something, is in the queue, is polled, or is polled and to be polled again.
const IDLE: u8 = 0;
const QUEUED: u8 = 1;
const POLLED: u8 = 2;
const WOKEN: u8 = 3;

struct Task {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    state: AtomicU8,
    cancelled: AtomicBool,
    share: Arc<Share>,
    /// The Tokio runtime of its timers and sockets.
    runtime: Handle,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let next = |state| match state {
            IDLE => Some(QUEUED),
            POLLED => Some(WOKEN),
            _ => None,
        };
        if self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(IDLE) {
            POOL.push(self);
        }
    }
}

impl Task {
    fn future(&self) -> MutexGuard<'_, Option<Pin<Box<dyn Future<Output = ()> + Send>>>> {
        self.future.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the future and releases the request's resources. A thread for guests that polls it drops it after this poll, at most
    /// an epoch later, because a thread of the server must not wait for a guest.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        // Either this sees that the poll is over, or the thread that polls sees the flag.
        fence(Ordering::SeqCst);
        let dropped = match self.future.try_lock() {
            Ok(mut future) => future.take(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        };
        drop(dropped);
    }

    /// Drops the future if it was cancelled, and reports whether it was.
    fn drop_if_cancelled(&self) -> bool {
        fence(Ordering::SeqCst);
        let cancelled = self.cancelled.load(Ordering::Relaxed);
        if cancelled {
            let dropped = self.future().take();
            drop(dropped);
        }
        cancelled
    }

    fn poll(self: Arc<Self>) {
        let _context = self.runtime.enter();
        self.state.store(POLLED, Ordering::Release);
        if self.drop_if_cancelled() {
            return;
        }
        // Processor time, because no module is charged for time that the system gives to other threads.
        let began = processor_time();
        let waker = Waker::from(Arc::clone(&self));
        {
            let mut future = self.future();
            let polled = future.as_mut().map(|future| future.as_mut().poll(&mut Context::from_waker(&waker)));
            if polled.is_some_and(|polled| polled.is_ready()) {
                *future = None;
            }
        }
        self.drop_if_cancelled();
        let took = processor_time().saturating_sub(began);
        self.share.used.fetch_add(nanos(took) / u64::from(self.share.weight().max(1)), Ordering::Relaxed);
        self.share.crowding.note(took);
        if self.state.compare_exchange(POLLED, IDLE, Ordering::AcqRel, Ordering::Acquire).is_err() {
            self.state.store(QUEUED, Ordering::Release);
            POOL.push(self);
        }
    }
}

/// The threads of this process.
static POOL: LazyLock<Pool> = LazyLock::new(|| Pool {
    queue: Mutex::default(),
    pushed: Condvar::new(),
    runs: PerProcess::new().ok(),
    runs_without: AtomicBool::new(false),
});

struct Pool {
    queue: Mutex<Queue>,
    pushed: Condvar,
    /// True when the threads run in this process: one that was forked has none of its parent's. None where that cannot
    /// be known.
    runs: Option<PerProcess>,
    runs_without: AtomicBool,
}

/// Tasks to be polled, by the module that they belong to.
#[derive(Default)]
struct Queue {
    modules: Vec<(Arc<Share>, VecDeque<Arc<Task>>)>,
    /// Nanoseconds that the module had used which was last given a turn.
    turn: u64,
}

impl Queue {
    fn push(&mut self, task: Arc<Task>) {
        if let Some((_, tasks)) = self.modules.iter_mut().find(|(share, _)| Arc::ptr_eq(share, &task.share)) {
            return tasks.push_back(task);
        }
        // One that has not computed for a while has no claim to the time that it did not use.
        task.share.used.fetch_max(self.turn, Ordering::Relaxed);
        self.modules.push((Arc::clone(&task.share), VecDeque::from([task])));
    }

    /// The next task of the module that has used least.
    fn pop(&mut self) -> Option<Arc<Task>> {
        let modules = self.modules.iter().enumerate();
        let (used, index) = modules.map(|(index, (share, _))| (share.used.load(Ordering::Relaxed), index)).min()?;
        self.turn = self.turn.max(used);
        let (_, tasks) = &mut self.modules[index];
        let task = tasks.pop_front();
        if tasks.is_empty() {
            self.modules.swap_remove(index);
        }
        task
    }
}

impl Pool {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&'static self, task: Arc<Task>) {
        self.queue().push(task);
        self.pushed.notify_one();
        let is_first = match &self.runs {
            Some(runs) => runs.number().load(Ordering::Relaxed) == 0 && runs.number().swap(1, Ordering::Relaxed) == 0,
            None => !self.runs_without.swap(true, Ordering::Relaxed),
        };
        if is_first {
            self.start();
        }
    }

    fn start(&'static self) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            let started = std::thread::Builder::new().name("tenon-guest".to_string()).spawn(move || self.work());
            if let Err(error) = started {
                tracing::error!("no thread for guests that compute: {error}");
            }
        }
    }

    fn work(&self) {
        prefer_others();
        loop {
            let mut queue = self.queue();
            let task = loop {
                match queue.pop() {
                    Some(task) => break task,
                    None => queue = self.pushed.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(queue);
            // A panic of a poll is the caller's. One of dropping a cancelled call must not end this thread.
            if catch_unwind(AssertUnwindSafe(|| task.poll())).is_err() {
                tracing::error!("a call that was given up panicked as it was dropped");
            }
        }
    }
}

#[cfg(test)]
mod tests;
