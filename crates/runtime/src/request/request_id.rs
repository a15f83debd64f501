//! The identity of a request, in its response and in every log line about it.

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName};

/// The header that carries it, both ways.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest identity that is taken over from a client.
const MAX_BYTES: usize = 128;

/// The client's own `X-Request-Id` when it is fit for a log (visible ASCII, at most 128 bytes), else a new one of 32
/// hexadecimal digits.
pub(crate) fn of(headers: &HeaderMap) -> Arc<str> {
    let given = headers.get(&HEADER).and_then(|value| value.to_str().ok());
    match given {
        Some(id) if !id.is_empty() && id.len() <= MAX_BYTES && id.bytes().all(|byte| byte.is_ascii_graphic()) => {
            id.into()
        }
        _ => fresh(),
    }
}

/// Unique among processes by a random start, within one by a count. It is a name, not a secret.
fn fresh() -> Arc<str> {
    static START: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut id = String::with_capacity(32);
    // Writing to a string cannot fail.
    let _ = write!(id, "{:016x}{:016x}", *START, COUNT.fetch_add(1, Ordering::Relaxed));
    id.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_id_is_kept_when_it_is_fit_for_a_log() {
        let of = |id: &str| of(&HeaderMap::from_iter([(HEADER, id.parse().unwrap())]));
        assert_eq!(&*of("abc-123"), "abc-123");
        for unfit in ["", "a b", &"x".repeat(129)] {
            assert_eq!(of(unfit).len(), 32, "{unfit:?}");
        }
        assert_ne!(fresh(), fresh());
    }
}
