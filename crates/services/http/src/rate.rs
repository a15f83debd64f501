//! The limit of requests in a second.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Token bucket with this many requests per second and at once.
pub(super) struct RateLimit {
    per_second: f64,
    bucket: Mutex<Bucket>,
}

struct Bucket {
    tokens: f64,
    at: Instant,
}

impl RateLimit {
    pub(super) fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, bucket: Mutex::new(Bucket { tokens: per_second, at: Instant::now() }) }
    }

    /// Takes a token.
    ///
    /// # Errors
    ///
    /// The time until there is one.
    pub(super) fn take(&self) -> Result<(), Duration> {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let more = (now - bucket.at).as_secs_f64() * self.per_second;
        (bucket.tokens, bucket.at) = (self.per_second.min(bucket.tokens + more), now);
        if bucket.tokens < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.tokens) / self.per_second));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_at_once_as_in_a_second() {
        let limit = RateLimit::new(2);
        assert!(limit.take().is_ok() && limit.take().is_ok());
        let wait = limit.take().unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_millis(500), "{wait:?}");
    }
}
