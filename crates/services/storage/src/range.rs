//! One range of bytes (RFC 9110, section 14).

use std::ops::Range;

/// The request of a `Range` header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AskedRange {
    /// The whole object: no range, several, or an invalid one.
    Whole,
    /// A part.
    Part(Range<u64>),
    /// A part beyond the object's end.
    Unsatisfiable,
}

/// Reads `bytes=0-499`, `bytes=500-` or `bytes=-500` of an object of `size` bytes.
pub(crate) fn parse(header: Option<&str>, size: u64) -> AskedRange {
    let Some((unit, spec)) = header.and_then(|header| header.split_once('=')) else { return AskedRange::Whole };
    let Some((first, last)) = spec.trim().split_once('-') else { return AskedRange::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return AskedRange::Whole;
    }
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A position beyond 64 bits is beyond every object, too.
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let range = match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Some(first), None) if last.is_empty() => first..size,
        (None, Some(suffix)) if first.is_empty() => size.saturating_sub(suffix)..size,
        _ => return AskedRange::Whole,
    };
    if range.start < range.end { AskedRange::Part(range) } else { AskedRange::Unsatisfiable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (header, asked) in [
            ("bytes=0-0", AskedRange::Part(0..1)),
            ("bytes=2-", AskedRange::Part(2..10)),
            ("bytes=-3", AskedRange::Part(7..10)),
            ("bytes=-99", AskedRange::Part(0..10)),
            ("bytes=5-99999999999999999999", AskedRange::Part(5..10)),
            ("bytes=10-", AskedRange::Unsatisfiable),
            ("bytes=-0", AskedRange::Unsatisfiable),
            ("bytes=5-2", AskedRange::Whole),
            ("bytes=0-1,3-4", AskedRange::Whole),
            ("lines=0-1", AskedRange::Whole),
            ("bytes=a-b", AskedRange::Whole),
        ] {
            assert_eq!(parse(Some(header), 10), asked, "{header}");
        }
        assert_eq!(parse(Some("bytes=0-"), 0), AskedRange::Unsatisfiable);
        assert_eq!(parse(None, 10), AskedRange::Whole);
    }
}
