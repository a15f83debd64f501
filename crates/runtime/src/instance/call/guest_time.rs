//! The time that a guest has for its answer, over all calls into it.

use std::time::Duration;

use tokio::time::Instant;

use crate::body::arriving::Given;

/// Time until a guest must have answered, or must have made the next piece of its answer.
///
/// It passes while the guest computes or waits, however often it is called, and not while it waits for its client. Only a
/// piece of the request's body begins it anew, because the guest cannot make one itself.
pub(crate) struct GuestTime {
    ends: Instant,
    limit: Duration,
}

impl GuestTime {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { ends: Instant::now() + limit, limit }
    }

    pub(crate) fn ends(&self) -> Instant {
        self.ends
    }

    /// Reports whether the guest must not be called again.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.ends
    }

    /// Counts out the time since `began`, in which the client was waited for, and which ended with `given`.
    pub(crate) fn waited(&mut self, began: Instant, given: &Given) {
        let now = Instant::now();
        self.ends = match given {
            Given::Piece(piece) if !piece.is_empty() => now + self.limit,
            _ => self.ends + now.duration_since(began),
        };
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn only_a_piece_of_the_body_begins_it_anew() {
        let limit = Duration::from_secs(3600);
        let mut time = GuestTime::new(limit);
        let (ends, moment) = (time.ends(), Duration::from_secs(60));
        for given in [Given::End, Given::Broken, Given::Nothing, Given::Piece(Bytes::new())] {
            time.waited(Instant::now(), &given);
            assert!(time.ends() < ends + moment, "{given:?}");
        }
        let waited = Duration::from_secs(1000);
        time.waited(Instant::now() - waited, &Given::Nothing);
        assert!(time.ends() >= ends + waited && time.ends() < ends + waited + moment, "the client was waited for");
        time.waited(Instant::now() - waited, &Given::Piece(Bytes::from_static(b"x")));
        assert!(time.ends() >= Instant::now() + limit - moment && time.ends() <= Instant::now() + limit);
        assert!(!time.is_over() && GuestTime::new(Duration::ZERO).is_over());
    }
}
