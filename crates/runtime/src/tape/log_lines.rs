//! The log of a guest in lines, to compare that of another build with a recorded one.

use serde::Serialize;

use super::change::{Change, shown};
use crate::instance::guest_log::FRAME;

/// Bytes of a log that are kept, at most. A recorded one is smaller.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A line that a guest wrote to its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// True for a line of standard error.
    pub is_error: bool,
    /// The line, without its end.
    pub text: String,
}

/// The log of one request.
#[derive(Default)]
pub(super) struct LogLines {
    lines: Vec<LogLine>,
    bytes: usize,
}

impl LogLines {
    /// Adds a text that the guest wrote at once.
    pub(super) fn add(&mut self, is_error: bool, text: &[u8]) {
        if self.bytes.saturating_add(text.len()) > MOST_BYTES {
            return;
        }
        self.bytes += text.len();
        let text = String::from_utf8_lossy(text);
        self.lines.extend(text.lines().map(|line| LogLine { is_error, text: line.to_string() }));
    }

    /// The differences of another log, line by line. Frames of a stack have no part in it, because they are at other places in
    /// another build. With `is_cut`, the longer log is compared as far as the shorter one.
    pub(super) fn changes(&self, other: &Self, is_cut: bool) -> Vec<Change> {
        let (mut one, mut other) = (self.compared(), other.compared());
        if is_cut {
            let least = one.len().min(other.len());
            one.truncate(least);
            other.truncate(least);
        }
        let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
        let (mut one, mut other) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
        while let (Some((last, rest)), Some((other_last, other_rest))) = (one.split_last(), other.split_last())
            && last == other_last
        {
            (one, other) = (rest, other_rest);
        }
        let changed = (0..one.len().max(other.len())).map(|at| {
            let text = |line: &&LogLine| {
                let level = if line.is_error { "error" } else { "info" };
                shown(format!("{level} {}", line.text).as_bytes())
            };
            let (recorded, replayed) = (one.get(at).map(text), other.get(at).map(text));
            Change { part: format!("log line {}", same + at + 1), recorded, replayed }
        });
        changed.collect()
    }

    pub(super) fn into_lines(self) -> Vec<LogLine> {
        self.lines
    }

    fn compared(&self) -> Vec<&LogLine> {
        self.lines.iter().filter(|line| !line.text.starts_with(FRAME)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(one: &[&str], other: &[&str], is_cut: bool) -> Vec<String> {
        let [one, other] = [one, other].map(|texts| {
            let mut log = LogLines::default();
            for text in texts {
                log.add(text.starts_with('!'), text.as_bytes());
            }
            log
        });
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
        let each = one.changes(&other, is_cut).into_iter();
        each.map(|change| format!("{}: {} | {}", change.part, text(change.recorded), text(change.replayed))).collect()
    }

    #[test]
    fn added_lost_and_changed_lines_are_told() {
        let log = ["one\n", "two\nthree\n", "!four\n"];
        assert_eq!(changes(&log, &log, false), Vec::<String>::new());
        assert_eq!(changes(&log, &["one", "two", "three", "!four"], false), Vec::<String>::new());
        assert_eq!(changes(&log, &["one", "new", "two\nthree\n", "!four"], false), ["log line 2: - | info new"]);
        assert_eq!(changes(&log, &["one", "three", "!four"], false), ["log line 2: info two | -"]);
        assert_eq!(changes(&log[2..], &["four"], false), ["log line 1: error !four | info four"]);
        assert_eq!(changes(&log, &[], false).len(), 4);
        assert_eq!(changes(&["a", "a"], &["a"], false), ["log line 2: info a | -"]);
    }

    #[test]
    fn frames_and_the_end_of_a_log_that_was_cut_have_no_part_in_it() {
        let one = ["!Error: gone\n    at pay (app.js:1:2)\n", "after\n"];
        let other = ["!Error: gone\n    at settle (app.js:7:1)\n    at pay (app.js:9:2)\n"];
        assert_eq!(changes(&one, &other, true), Vec::<String>::new());
        assert_eq!(changes(&one, &other, false), ["log line 2: info after | -"]);
        assert_eq!(changes(&one, &["other"], true).len(), 1);
    }
}
