//! Permits for running requests: limits in total and for each module, and a short queue before them. Modules share all of them
//! fairly (`pool.rs`), so that none keeps another out.
//!
//! A permit is taken per request and given back with it; a connection that is idle has none. A request that would not get one in
//! time is refused as it arrives: a client that knows at once can try another server.

pub(crate) mod idle;
pub(crate) mod pool;
pub(crate) mod slots;
pub(crate) mod warm;
pub(crate) mod watch;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;

use crate::admission::pool::{Member, Pool, PoolPermit};
use crate::config::{Limits, ms, size};
use crate::metering::Metering;
use crate::request::problem::Problem;
use crate::telemetry::metrics::Metrics;

/// The permits of a runtime.
pub(crate) struct Admission {
    all: Arc<Pool>,
    queue: Arc<Pool>,
    /// Half of the permits: requests whose bodies arrive while they run take no more, because their clients decide how long they
    /// run.
    uploads: Arc<Pool>,
    hold_time: Arc<HoldTime>,
    timeout: Duration,
    metrics: Arc<Metrics>,
}

/// The mean time for which requests hold a permit until their answer is there. How long its body and that of an upload take is decided
/// by one client, and is left out, because others would be refused for it.
#[derive(Default)]
struct HoldTime {
    /// A mean in nanoseconds in which the last ones weigh most.
    mean: AtomicU64,
    /// How many requests have ended.
    requests: AtomicU64,
}

impl HoldTime {
    /// The last request's share of the mean, as a power of two.
    const SHARE: u32 = 3;

    fn add(&self, duration: Duration) {
        let new = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // Two at once may lose one of them, which changes little.
        let mean = self.mean.load(Ordering::Relaxed);
        let next = if mean == 0 { new } else { mean - (mean >> Self::SHARE) + (new >> Self::SHARE) };
        self.mean.store(next, Ordering::Relaxed);
    }

    fn ended(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// How long the last of `queued` requests waits for one of `permits`.
    fn wait(&self, queued: usize, permits: usize) -> Duration {
        let nanos = u128::from(self.mean.load(Ordering::Relaxed)) * queued as u128 / permits.max(1) as u128;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The permits of one module.
pub(crate) struct ModulePermits {
    running: Arc<Member>,
    waiting: Arc<Member>,
    uploads: Arc<Member>,
    hold_time: Arc<HoldTime>,
}

impl ModulePermits {
    /// Gives up the shares of a module that does not serve. Its last requests, which may go on for long, keep their permits.
    pub(crate) fn give_up(&self) {
        for member in [&self.running, &self.waiting, &self.uploads] {
            member.set(0, 0);
        }
    }
}

impl Drop for ModulePermits {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Permission to run a request: a permit of the runtime and one of the module. Dropping it releases both.
pub(crate) struct Permit {
    /// Before the others: no request runs once all have been told.
    metering: Option<Arc<Metering>>,
    _pool: PoolPermit,
    _running: Counted,
    upload: Option<PoolPermit>,
    hold_time: [Arc<HoldTime>; 2],
    since: Instant,
    /// True when its time is part of the mean, or is left out.
    is_timed: AtomicBool,
}

impl Permit {
    /// Notes that the answer is there, whose body may go on.
    pub(crate) fn answered(&self) {
        if !self.is_timed.swap(true, Ordering::Relaxed) {
            let duration = self.since.elapsed();
            self.hold_time.iter().for_each(|hold_time| hold_time.add(duration));
        }
    }

    /// Has the request metered until the permit is dropped.
    pub(crate) fn metered_by(&mut self, metering: Arc<Metering>) {
        self.metering = Some(metering);
    }

    /// The metering of the request, which goes on for as long as somebody has it.
    pub(crate) fn metering(&self) -> Option<Arc<Metering>> {
        self.metering.clone()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.answered();
        self.hold_time.iter().for_each(|hold_time| hold_time.ended());
    }
}

/// Adds one to a gauge for as long as it lives.
pub(crate) struct Counted(Gauge);

impl Counted {
    pub(crate) fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Admission {
    pub(crate) fn new(limits: &Limits, metrics: Arc<Metrics>) -> Self {
        let all = size(limits.max_concurrent);
        Self {
            all: Pool::new(all),
            queue: Pool::new(size(limits.max_queued)),
            uploads: Pool::new(all.div_ceil(2)),
            hold_time: Arc::default(),
            timeout: ms(limits.queue_timeout_ms),
            metrics,
        }
    }

    /// The permits of a module with these limits and this weight: those of the module before it, if there is one.
    ///
    /// A module that may run less than the server has the same share of the queue, so that its requests do not fill the
    /// queue for others.
    pub(crate) fn permits(
        &self,
        limits: &Limits,
        weight: u32,
        before: Option<&Arc<ModulePermits>>,
    ) -> Arc<ModulePermits> {
        let concurrent = limits.concurrent_per_module();
        let queued = limits.max_queued.saturating_mul(concurrent).div_ceil(limits.max_concurrent.max(1));
        let permits = before.cloned().unwrap_or_else(|| {
            Arc::new(ModulePermits {
                running: self.all.member(),
                waiting: self.queue.member(),
                uploads: self.uploads.member(),
                hold_time: Arc::default(),
            })
        });
        permits.running.set(weight, size(concurrent));
        permits.waiting.set(weight, size(queued));
        permits.uploads.set(weight, self.uploads.all());
        permits
    }

    /// A permit for a request of a client to the module whose permits are `module`. No client is one that nothing bounds.
    ///
    /// # Errors
    ///
    /// [`Problem::Overloaded`] when the queue is full or too slow, or when no permit came free in time.
    pub(crate) async fn admit(&self, module: &ModulePermits, client: Option<IpAddr>) -> Result<Permit, Problem> {
        match self.at_once(module, client) {
            Some(permit) => Ok(permit),
            // Boxed, so that a request that need not wait does not move the space for this future.
            None => Box::pin(self.admit_later(module, client)).await,
        }
    }

    async fn admit_later(&self, module: &ModulePermits, client: Option<IpAddr>) -> Result<Permit, Problem> {
        let permit = self.queued(module, client, &module.running).await?;
        Ok(self.permit(permit, module))
    }

    /// Waits in the queue for a permit of the module in a pool.
    async fn queued(
        &self,
        module: &ModulePermits,
        client: Option<IpAddr>,
        pool: &Arc<Member>,
    ) -> Result<PoolPermit, Problem> {
        let ends = Instant::now() + self.timeout;
        let Some(_waiting) = module.waiting.try_take(client) else { return Err(Problem::Overloaded) };
        if self.wait(module) > self.timeout {
            return Err(Problem::Overloaded);
        }
        let _queued = Counted::new(&self.metrics.queued);
        tokio::time::timeout_at(ends.into(), pool.take(client)).await.map_err(|_| Problem::Overloaded)
    }

    /// A permit for a request whose body arrives while it runs.
    ///
    /// # Errors
    ///
    /// [`Problem::Overloaded`] as for any request. Such requests have half of the permits, and wait for those as well.
    pub(crate) async fn admit_upload(&self, module: &ModulePermits, client: Option<IpAddr>) -> Result<Permit, Problem> {
        let upload = match module.uploads.try_take(client) {
            Some(upload) => upload,
            None => self.queued(module, client, &module.uploads).await?,
        };
        let mut permit = self.admit(module, client).await?;
        permit.upload = Some(upload);
        permit.is_timed = AtomicBool::new(true);
        Ok(permit)
    }

    /// How long a request is likely to wait that is the last in the queue.
    fn wait(&self, module: &ModulePermits) -> Duration {
        let of_module = module.hold_time.wait(module.waiting.taken(), module.running.most());
        let of_all = self.hold_time.wait(self.queue.taken(), self.all.all());
        // Where the server has permits left, only the module's own count.
        if self.all.has_spare() { of_module } else { of_module.max(of_all) }
    }

    fn at_once(&self, module: &ModulePermits, client: Option<IpAddr>) -> Option<Permit> {
        module.running.try_take(client).map(|permit| self.permit(permit, module))
    }

    fn permit(&self, permit: PoolPermit, module: &ModulePermits) -> Permit {
        Permit {
            metering: None,
            _pool: permit,
            _running: Counted::new(&self.metrics.running),
            upload: None,
            hold_time: [Arc::clone(&self.hold_time), Arc::clone(&module.hold_time)],
            since: Instant::now(),
            is_timed: AtomicBool::new(false),
        }
    }

    /// How many requests were served so far; none while one runs.
    pub(crate) fn idle(&self) -> Option<u64> {
        (self.all.taken() == 0).then(|| self.hold_time.requests.load(Ordering::Relaxed))
    }

    /// The number of free permits.
    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.all.all() - self.all.taken()
    }

    /// Takes permits away until the result is dropped.
    #[cfg(test)]
    pub(crate) fn occupy(&self, permits: usize) -> Vec<PoolPermit> {
        self.all.occupy(permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_that_would_not_be_served_in_time_is_refused_as_it_arrives() {
        let limits = Limits { max_concurrent: 2, max_queued: 100, queue_timeout_ms: 60_000, ..Limits::default() };
        let admission = Admission::new(&limits, Arc::new(Metrics::new()));
        let permits = admission.permits(&limits, 1, None);
        let running = [admission.admit(&permits, None).await.unwrap(), admission.admit(&permits, None).await.unwrap()];
        // A permit comes free once in half an hour.
        permits.hold_time.add(Duration::from_secs(3_600));
        assert_eq!(admission.admit(&permits, None).await.err(), Some(Problem::Overloaded));
        // Nothing is known of a module that has not served yet, and a module that serves fast waits.
        for fast in [admission.permits(&limits, 1, None), permits] {
            fast.hold_time.mean.store(1_000, Ordering::Relaxed);
            let mut waiting = std::pin::pin!(admission.admit(&fast, None));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(waiting.as_mut().poll(&mut context).is_pending());
        }
        drop(running);
        assert_eq!(admission.free(), 2);
    }

    #[tokio::test]
    async fn bodies_of_clients_are_no_part_of_the_mean() {
        let limits = Limits { max_concurrent: 4, ..Limits::default() };
        let admission = Admission::new(&limits, Arc::new(Metrics::new()));
        let permits = admission.permits(&limits, 1, None);
        let mut streamed = admission.admit(&permits, None).await.unwrap();
        streamed.answered();
        let mut upload = admission.admit_upload(&permits, None).await.unwrap();
        streamed.since -= Duration::from_secs(1);
        upload.since -= Duration::from_secs(1);
        drop((streamed, upload));
        assert!(permits.hold_time.wait(1, 1) < Duration::from_millis(30));
        assert_eq!(admission.idle(), Some(2));
        drop(admission.admit(&permits, None).await.unwrap());
        let mut whole = admission.admit(&permits, None).await.unwrap();
        whole.since -= Duration::from_millis(80);
        drop(whole);
        assert!(permits.hold_time.wait(1, 1) >= Duration::from_millis(10));
    }

    #[test]
    fn the_mean_follows_the_last_requests() {
        let hold_time = HoldTime::default();
        hold_time.add(Duration::from_millis(800));
        assert_eq!(hold_time.wait(4, 2), Duration::from_millis(1_600));
        for _ in 0..100 {
            hold_time.add(Duration::from_millis(8));
        }
        let wait = hold_time.wait(1, 1);
        assert!((7..12).contains(&wait.as_millis()), "{wait:?}");
    }
}
