//! The bytes that one request causes in the log, as one sum (`max_log_bytes`): its module's output, and the host's lines
//! about its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tenon_visible::shown_bytes;

/// Bytes that a line counts at least: each has a time, a level, and the names of its module and its request.
const LINE_BYTES: usize = 64;

/// Bytes that the log gets of the reason why a request failed, whatever its module has logged before.
pub(crate) const REASON_BYTES: usize = 4 * 1024;

/// The bytes that a request may still log. Clones share them.
#[derive(Clone)]
pub(crate) struct LogBudget(Arc<Budget>);

struct Budget {
    left: AtomicUsize,
    /// True once a line did not fit.
    is_over: AtomicBool,
}

/// The part of a line that the log gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fit<'a> {
    pub(crate) text: &'a str,
    /// True for the first line that does not fit as a whole.
    pub(crate) ends_here: bool,
}

impl LogBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        // Where nothing may be logged, nothing is left out either.
        Self(Arc::new(Budget { left: AtomicUsize::new(bytes), is_over: AtomicBool::new(bytes == 0) }))
    }

    /// Reports whether a line did not fit, so that no further one does.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Relaxed)
    }

    /// Takes the bytes of a line. None when nothing of it may be logged.
    pub(crate) fn take<'a>(&self, text: &'a str) -> Option<Fit<'a>> {
        if self.is_over() {
            return None;
        }
        let cost = text.chars().map(shown_bytes).sum::<usize>().max(LINE_BYTES);
        let less = |left: usize| Some(left.saturating_sub(cost));
        let before = self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or(0);
        if before >= cost {
            return Some(Fit { text, ends_here: false });
        }
        let ends_here = !self.0.is_over.swap(true, Ordering::Relaxed);
        Some(Fit { text: cut(text, before), ends_here })
    }

    #[cfg(test)]
    pub(crate) fn left(&self) -> usize {
        self.0.left.load(Ordering::Relaxed)
    }
}

/// The beginning of a text that takes so many bytes in the log.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let mut ends = text.char_indices().scan(0, |sum, (at, c)| {
        *sum += shown_bytes(c);
        Some((*sum, at))
    });
    ends.find(|(sum, _)| *sum > bytes).map_or(text, |(_, at)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_one_sum_and_short_ones_count_as_well() {
        let budget = LogBudget::new(200);
        let whole = |text| Some(Fit { text, ends_here: false });
        assert_eq!(budget.take(""), whole(""));
        assert_eq!(budget.clone().take("x"), whole("x"));
        assert_eq!(budget.left(), 200 - 2 * LINE_BYTES);
        let text = "é".repeat(100);
        let fit = budget.take(&text).unwrap();
        assert_eq!((fit.text.len(), fit.ends_here), (72, true));
        assert_eq!(budget.take("x"), None);
        assert_eq!(LogBudget::new(0).take("x"), None);
        // A character that is escaped counts as it is written.
        let hidden = "\u{202e}".repeat(100);
        assert_eq!(LogBudget::new(80).take(&hidden).map(|fit| fit.text.chars().count()), Some(10));
    }
}
