//! Requests that should be recorded and are not. Each is counted with its reason, and logged unless there are many.

use std::borrow::Cow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::seam::locked;

/// The kind of a reason for which a request is not recorded. Its name is a label of the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It is larger than a recording, or the folder, may be.
    Size,
    /// The bound of all requests and recordings that wait is used up.
    Busy,
    /// The module uses interfaces that are not recorded, or keeps memory between requests.
    Module,
    /// Its values cannot be masked.
    Mask,
    /// The module does something else with placeholders.
    Placeholders,
    /// A masked value, or a text that the module made of one, would be in the file.
    Repeated,
    /// The folder cannot be written.
    Write,
    /// A defect of the recorder.
    Internal,
}

impl Reason {
    const COUNT: usize = Self::Internal as usize + 1;

    /// The label of the metric.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Busy => "busy",
            Self::Module => "module",
            Self::Mask => "mask",
            Self::Placeholders => "placeholders",
            Self::Repeated => "repeated",
            Self::Write => "write",
            Self::Internal => "internal",
        }
    }
}

/// The reason for which a request is not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotRecorded {
    pub(super) reason: Reason,
    pub(super) why: Cow<'static, str>,
}

impl NotRecorded {
    pub(crate) fn new(reason: Reason, why: impl Into<Cow<'static, str>>) -> Self {
        Self { reason, why: why.into() }
    }
}

/// Lines of one kind of reason in a [`WINDOW`], at most: clients can cause them.
const LINES: u32 = 20;
const WINDOW: Duration = Duration::from_mins(1);

/// The log of requests that are not recorded.
#[derive(Default)]
pub(super) struct NotRecordedLog(Mutex<[Lines; Reason::COUNT]>);

/// The lines of one kind of reason.
#[derive(Clone, Copy, Default)]
struct Lines {
    /// The start of the window.
    since: Option<Instant>,
    written: u32,
    /// Requests without a line since the last one.
    unsaid: u64,
}

impl NotRecordedLog {
    /// Logs a request that is not recorded.
    pub(super) fn say(&self, module: &str, request_id: &str, NotRecorded { reason, why }: &NotRecorded) {
        match self.admit(*reason, Instant::now()) {
            Some(0) => tracing::warn!(module, request_id, "the request is not recorded: {why}"),
            Some(others) => tracing::warn!(
                module,
                request_id,
                others,
                "the request is not recorded: {why} (and others for reasons of this kind)"
            ),
            None => tracing::debug!(module, request_id, "the request is not recorded: {why}"),
        }
    }

    /// Returns how many requests had no line since the last one; none when this one has no line, either.
    fn admit(&self, reason: Reason, now: Instant) -> Option<u64> {
        let lines = &mut locked(&self.0)[reason as usize];
        let is_over = lines.since.is_none_or(|since| now.duration_since(since) >= WINDOW);
        if is_over {
            (lines.since, lines.written) = (Some(now), 0);
        }
        if lines.written == LINES {
            lines.unsaid += 1;
            return None;
        }
        lines.written += 1;
        Some(std::mem::take(&mut lines.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_reason_has_so_many_lines_a_minute_and_the_next_one_counts_the_others() {
        let (log, now) = (NotRecordedLog::default(), Instant::now());
        let admitted = |reason, at| (0..25).filter_map(|_| log.admit(reason, at)).collect::<Vec<_>>();
        assert_eq!(admitted(Reason::Mask, now), [0; 20]);
        // Those of another kind are not hidden.
        assert_eq!(admitted(Reason::Size, now), [0; 20]);
        assert!(admitted(Reason::Mask, now + WINDOW / 2).is_empty());
        let later = admitted(Reason::Mask, now + WINDOW);
        assert_eq!((later.len(), later[0], later[1]), (20, 30, 0));
    }
}
