//! Polls of connections count for requests: the reading of a head, the writing of an answer, and the request itself where it is polled
//! there.
//!
//! A poll counts for the last request that has come on its connection, and for none when that is not metered, such as one for the metrics.
//! The usage of a request is reported after the poll in which its answer was there, because this poll writes the answer.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::sync::Arc;

use crate::metering::Metering;
use crate::metering::meter::Meter;

thread_local! {
    /// True while a connection is polled on this thread.
    static IS_POLLED: Cell<bool> = const { Cell::new(false) };
    /// The request for which that poll counts, until it is answered.
    static REQUEST: RefCell<Option<Arc<Metering>>> = const { RefCell::new(None) };
    /// The meter of that request, or of the one before, whose streamed answer goes on.
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
    /// True when a request was answered in that poll.
    static IS_ANSWERED: Cell<bool> = const { Cell::new(false) };
}

/// Notes that another request has come on the connection on this thread. The poll counts for that one if it is adopted, and for none
/// otherwise.
pub(crate) fn begins() {
    if let Some(former) = METER.take() {
        former.end_poll();
        Meter::hold_poll();
    } else if Meter::is_poll_held() {
        // The request before was not metered, and this one does not have its time.
        Meter::hold_poll();
    }
    REQUEST.set(None);
}

/// Counts the poll of the connection on this thread, if there is one, for a request from its beginning on.
pub(crate) fn adopt(metering: &Arc<Metering>) {
    if !IS_POLLED.get() {
        return;
    }
    METER.set(Some(metering.meter.clone()));
    REQUEST.set(Some(Arc::clone(metering)));
    metering.meter.take_poll();
    IS_ANSWERED.set(false);
}

/// Notes that the answer of a request of the connection on this thread is there, which the rest of the poll writes.
pub(crate) fn answered() {
    IS_ANSWERED.set(true);
}

/// Serves a connection, and counts its polls. One of HTTP/2 has a task for each request, so it polls none itself.
pub(crate) async fn counted<T>(served: impl Future<Output = T>) -> T {
    let mut served = pin!(served);
    let (mut request, mut last) = (None, None);
    std::future::poll_fn(|cx| {
        let counted = ConnectionPoll::begin(request.take(), last.take());
        let polled = served.as_mut().poll(cx);
        request = counted.end(&mut last);
        polled
    })
    .await
}

/// The poll of a connection on this thread.
struct ConnectionPoll;

impl ConnectionPoll {
    /// Begins to count for a request without an answer, or one whose streamed answer goes on. Nothing is counted without one, until
    /// the next request comes.
    fn begin(request: Option<Arc<Metering>>, last: Option<Meter>) -> Self {
        IS_POLLED.set(true);
        IS_ANSWERED.set(false);
        let last = last.filter(|last| !last.is_over());
        let meter = request.as_ref().map(|request| request.meter.clone()).or(last);
        if let Some(meter) = &meter {
            meter.take_poll();
        }
        METER.set(meter);
        REQUEST.set(request);
        Self
    }

    /// Counts the poll, and returns the request that has no answer yet.
    fn end(self, last: &mut Option<Meter>) -> Option<Arc<Metering>> {
        let request = REQUEST.take();
        *last = METER.take();
        if let Some(meter) = last {
            meter.end_poll();
        }
        drop(self);
        request.filter(|_| !IS_ANSWERED.get())
    }
}

impl Drop for ConnectionPoll {
    /// Also after a panic.
    fn drop(&mut self) {
        IS_POLLED.set(false);
        Meter::forget_poll();
        METER.set(None);
        REQUEST.set(None);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use super::*;
    use crate::executor::thread::processor_time;
    use crate::metering::budget::Budget;
    use crate::metering::meter;
    use crate::metering::{RequestUsage, UsageListening};
    use crate::telemetry::metrics::Metrics;
    use crate::telemetry::module_info::{ModuleInfo, Warnings};
    use crate::telemetry::source_map::SourceMap;

    type Told = Arc<Mutex<Vec<RequestUsage>>>;

    fn metering(told: &Told, id: &str) -> Arc<Metering> {
        let (told, listening) = (Arc::clone(told), Arc::new(UsageListening::default()));
        listening.set(Some(Arc::new(move |usage| told.lock().unwrap().push(usage))));
        let info = Arc::new(ModuleInfo {
            name: "m".into(),
            metrics: Metrics::new().module("m"),
            source_map: SourceMap::none(),
            warnings: Warnings::default(),
        });
        Arc::new(Metering::begin(&listening, &Budget::of(None, None), &info, &id.into()).unwrap())
    }

    fn spin() {
        let began = processor_time();
        while processor_time() - began < Duration::from_millis(5) {}
    }

    /// Each poll takes 5 ms and more: before the request, in its guest, or after its answer.
    #[test]
    fn a_request_has_the_polls_of_its_connection_until_its_answer_is_written() {
        let told = Told::default();
        let mut poll = 0;
        let mut running = None;
        let mut served = Box::pin(counted(poll_fn(|cx| {
            poll += 1;
            match poll {
                // A request that goes on elsewhere.
                1 => {
                    let one = metering(&told, "one");
                    adopt(&one);
                    let guest = meter::counted(Some(&one.meter), async { spin() });
                    assert!(std::pin::pin!(guest).as_mut().poll(cx).is_ready());
                    spin();
                    running = Some(one);
                }
                // It has ended there, and its answer is written. The next one comes with it.
                2 => {
                    running = None;
                    answered();
                    spin();
                    assert!(told.lock().unwrap().is_empty());
                    let two = metering(&told, "two");
                    begins();
                    adopt(&two);
                    spin();
                    drop(two);
                    answered();
                    spin();
                    assert_eq!(told.lock().unwrap().len(), 1);
                }
                // Nobody's.
                _ => spin(),
            }
            Poll::<()>::Pending
        })));
        for told_after in [0, 2, 2] {
            assert!(served.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!(told.lock().unwrap().len(), told_after);
        }
        let told: Vec<_> = told
            .lock()
            .unwrap()
            .iter()
            .map(|RequestUsage { request_id, usage, .. }| (request_id.to_string(), usage.cpu.as_millis() / 5))
            .collect();
        assert_eq!(told, [("one".to_string(), 3), ("two".to_string(), 2)]);
    }

    /// A request that is not metered comes with another one, whose permit is kept, and after it.
    #[test]
    fn polls_of_requests_that_are_not_metered_count_for_none() {
        let told = Told::default();
        let [one, two] = ["one", "two"].map(|id| metering(&told, id));
        let mut poll = 0;
        let mut served = Box::pin(counted(poll_fn(|_| {
            poll += 1;
            match poll {
                1 => {
                    begins();
                    adopt(&one);
                    spin();
                    answered();
                    begins();
                    spin();
                    answered();
                    // A metered one after it has none of that time.
                    begins();
                    adopt(&two);
                    answered();
                    begins();
                    spin();
                    answered();
                }
                // The rest of its answer.
                2 => spin(),
                // The next one, which waits.
                3 => {
                    begins();
                    spin();
                }
                _ => spin(),
            }
            Poll::<()>::Pending
        })));
        for _ in 0..4 {
            assert!(served.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        drop(served);
        assert_eq!([&one, &two].map(Arc::strong_count), [1, 1]);
        drop((one, two));
        let used: Vec<_> = told.lock().unwrap().iter().map(|told| told.usage.cpu.as_millis() / 5).collect();
        assert_eq!(used, [1, 0]);
    }

    /// The polls of a streamed answer count although its head is there.
    #[test]
    fn a_stream_has_the_polls_until_its_end() {
        let told = Told::default();
        let stream = metering(&told, "stream");
        let mut served = Box::pin(counted(poll_fn(|_| {
            if Arc::strong_count(&stream) == 1 && stream.meter.usage().cpu == Duration::ZERO {
                adopt(&stream);
                answered();
            }
            spin();
            Poll::<()>::Pending
        })));
        for _ in 0..3 {
            assert!(served.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        drop(served);
        assert_eq!(Arc::strong_count(&stream), 1);
        drop(stream);
        assert_eq!(told.lock().unwrap()[0].usage.cpu.as_millis() / 5, 3);
    }
}
