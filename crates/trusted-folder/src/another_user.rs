//! The condition of tests that act as another user.

use std::fs;

/// A user who owns nothing.
pub(crate) const USER: u32 = 12_345;

/// Returns true if this process may become [`USER`], and give files away: it belongs to root, in a namespace with that user. Otherwise it prints that a
/// test is left out.
#[expect(clippy::print_stderr, reason = "reports why a test is left out")]
pub(crate) fn is_possible() -> bool {
    let is_possible =
        rustix::process::geteuid().is_root() && fs::read_to_string("/proc/self/uid_map").is_ok_and(has_user);
    if !is_possible {
        eprintln!("skipped: only root with all users of the machine can become another user");
    }
    is_possible
}

/// Returns true if a range of a namespace contains the user. A line has the first user, the same user outside, and their number.
fn has_user(ranges: String) -> bool {
    ranges.lines().any(|line| {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first.saturating_add(count)).contains(&USER))
    })
}
