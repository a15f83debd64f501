//! A request's place in a trace (W3C Trace Context, level 1).

use http::{HeaderMap, HeaderName, HeaderValue};

/// The header that carries it, both ways.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("traceparent");

/// The `traceparent` of a request if it is well-formed, to pass on in its calls.
pub(crate) fn parent(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(&HEADER).filter(|value| is_well_formed(value.as_bytes())).cloned()
}

/// `version-trace_id-parent_id-flags`, in lower-case hexadecimal digits; neither identity is all zeros.
fn is_well_formed(value: &[u8]) -> bool {
    let hex = |range: std::ops::Range<usize>| value[range].iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    let zero = |range: std::ops::Range<usize>| value[range].iter().all(|c| *c == b'0');
    value.len() == 55
        && [2, 35, 52].iter().all(|at| value[*at] == b'-')
        && hex(0..2)
        && &value[..2] != b"ff"
        && hex(3..35)
        && !zero(3..35)
        && hex(36..52)
        && !zero(36..52)
        && hex(53..55)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_well_formed_is_passed_on() {
        let of = |value: &'static str| parent(&HeaderMap::from_iter([(HEADER, HeaderValue::from_static(value))]));
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(of(good).unwrap(), good);
        for bad in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
