//! Listeners: bounded queues of records, which another thread takes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::record::{LogRecord, Value};
use crate::{LogError, OutputLayer, filtered, level_of, outputs_changed, shows, subscribe};

/// Limits of a listener's queue: records, and bytes of their texts.
const MAX_RECORDS: usize = 2_000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

static QUEUES: RwLock<Vec<Weak<Queue>>> = RwLock::new(Vec::new());

/// A receiver of this process's records, from [`listen`] until it is dropped.
pub struct Listener {
    queue: Arc<Queue>,
}

/// Makes a listener for records of a level and above. `wake` is called on the thread that logs, once for all records that
/// come before the next [`Listener::take`]. It must not block.
///
/// # Errors
///
/// A level that does not exist.
pub fn listen(level: &str, wake: impl Fn() + Send + Sync + 'static) -> Result<Listener, LogError> {
    let level = level_of(level)?;
    let queue =
        Arc::new(Queue { level, waiting: Mutex::default(), woken: AtomicBool::new(false), wake: Box::new(wake) });
    subscribe();
    change(|queues| queues.push(Arc::downgrade(&queue)));
    Ok(Listener { queue })
}

impl Listener {
    /// Takes the waiting records. If the queue was full, the last record tells how many were dropped.
    #[must_use]
    pub fn take(&self) -> Vec<LogRecord> {
        self.queue.woken.store(false, Ordering::Release);
        let Waiting { records, dropped, .. } = std::mem::take(&mut *self.queue.waiting());
        let mut records: Vec<_> = records.into();
        if dropped > 0 {
            let mut record = LogRecord::new(&Level::WARN, "log");
            record.message = format!("{dropped} log records were dropped: they came faster than they were taken");
            record.fields.insert("dropped".to_string(), Value::Number(dropped.into()));
            records.push(record);
        }
        records
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        change(|queues| queues.retain(|queue| !std::ptr::eq(queue.as_ptr(), Arc::as_ptr(&self.queue))));
    }
}

struct Queue {
    level: LevelFilter,
    waiting: Mutex<Waiting>,
    /// Set from a call of `wake` until the records are taken.
    woken: AtomicBool,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<LogRecord>,
    bytes: usize,
    dropped: u32,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, record: LogRecord) {
        let mut waiting = self.waiting();
        let bytes = waiting.bytes + record.size();
        if waiting.records.len() >= MAX_RECORDS || bytes > MAX_BYTES {
            waiting.dropped = waiting.dropped.saturating_add(1);
            return;
        }
        waiting.bytes = bytes;
        waiting.records.push_back(record);
        drop(waiting);
        if !self.woken.swap(true, Ordering::AcqRel) {
            (self.wake)();
        }
    }
}

/// Makes the layer that passes events to all listeners.
pub(crate) fn layer<S>() -> OutputLayer<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    filtered(ToListeners, || queues().iter().map(|queue| queue.level).max())
}

struct ToListeners;

impl<S: Subscriber> Layer<S> for ToListeners {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        for queue in queues() {
            if shows(queue.level, event.metadata()) {
                queue.add(LogRecord::of(event));
            }
        }
    }
}

fn queues() -> Vec<Arc<Queue>> {
    let queues = QUEUES.read().unwrap_or_else(PoisonError::into_inner);
    queues.iter().filter_map(Weak::upgrade).collect()
}

fn change(how: impl FnOnce(&mut Vec<Weak<Queue>>)) {
    how(&mut QUEUES.write().unwrap_or_else(PoisonError::into_inner));
    outputs_changed();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_listener_gets_records_of_its_level_and_learns_of_dropped_ones() {
        let woken = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&woken);
        let listener = listen("info", move || {
            counted.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        tracing::info!(module = "shop", answer = 42_u64, "one");
        tracing::debug!("beneath the level");
        tracing::info!(target: "object_store::client::retry", "an attempt");
        tracing::warn!(yes = true, "two");
        assert_eq!(woken.load(Ordering::Relaxed), 1, "once until the records are taken");
        let records = listener.take();
        assert_eq!(records.iter().map(|record| record.message.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(
            (records[0].module.as_deref(), records[0].fields["answer"].clone()),
            (Some("shop"), Value::Number(42.0))
        );
        assert_eq!((records[1].level.as_str(), records[1].fields["yes"].clone()), ("warn", Value::Bool(true)));

        for _ in 0..MAX_RECORDS + 3 {
            tracing::info!("many");
        }
        let records = listener.take();
        assert_eq!(records.len(), MAX_RECORDS + 1);
        assert_eq!(records[MAX_RECORDS].fields["dropped"], Value::Number(3.0));

        drop(listener);
        assert!(queues().is_empty());
        assert_eq!(listen("loud", || ()).err(), Some(LogError::Level("loud".to_string())));
    }
}
