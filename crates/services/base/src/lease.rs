//! Leases of queues and cron: ids, the delay before the next attempt, and times for JSON.

use std::io;
use std::time::Duration;

/// The first delay before the next attempt; it doubles with each attempt.
const BACKOFF: Duration = Duration::from_secs(1);

/// The longest such delay.
const MAX_BACKOFF: Duration = Duration::from_secs(15 * 60);

/// Returns the delay after this many attempts.
pub fn backoff(attempts: u64) -> Duration {
    let doubled = u32::try_from(attempts.saturating_sub(1)).ok().and_then(|times| 2_u32.checked_pow(times));
    doubled.and_then(|times| BACKOFF.checked_mul(times)).map_or(MAX_BACKOFF, |delay| delay.min(MAX_BACKOFF))
}

/// Makes an unguessable id: 128 bits of the system's randomness, in hexadecimal digits.
///
/// # Errors
///
/// The system has no randomness.
pub fn secret_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    let filled = rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system has no random numbers"))?;
    Ok(hex::encode(bytes))
}

/// Formats milliseconds since 1970 as ISO 8601.
pub fn iso(millis: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(millis).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_128_bits() {
        let (one, other) = (secret_id().unwrap(), secret_id().unwrap());
        assert_ne!(one, other);
        assert!([&one, &other].iter().all(|id| id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit())));
    }

    #[test]
    fn delays_double() {
        let seconds: Vec<u64> = [1, 2, 3, 11, 100].map(|attempts| backoff(attempts).as_secs()).into();
        assert_eq!(seconds, [1, 2, 4, 900, 900]);
    }
}
