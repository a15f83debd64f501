//! Bounds on the parsers: the memory of all of them together, and the time of each.
//!
//! A parse tree takes up to two hundred times its statement. So each parser has a limit, and their number is limited.
//! Small statements, which nearly all are, never wait for large ones.

use std::sync::Arc;
use std::time::Duration;

use tenon_pg_grammar::{Bounds, Grammar, Interrupt, ParseError, Tree};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::SqlError;

/// Limit in bytes of a small statement.
const SMALL: usize = 16 << 10;

/// Number of parsers of small statements, and the memory of each.
const SMALL_PARSERS: usize = 4;
const SMALL_BOUNDS: Bounds = Bounds { heap: 8 << 20, tree: 8 << 20 };

/// The same for all other statements. A statement of 10 MiB in one text needs a heap of 105 MiB.
const LARGE_PARSERS: usize = 1;
const LARGE_BOUNDS: Bounds = Bounds { heap: 128 << 20, tree: 64 << 20 };

/// Memory of all parsers together, as `docs/sidecars.md` names it.
const TOTAL: usize = SMALL_PARSERS * SMALL_BOUNDS.total() + LARGE_PARSERS * LARGE_BOUNDS.total();
const _: () = assert!(TOTAL == 256 << 20);

/// The parsers of one sidecar.
pub(super) struct Parsers {
    grammar: Grammar,
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
    /// Time that a statement waits for a parser.
    wait: Duration,
}

/// Interrupts a parse when nobody waits for it any more.
struct Waiting(Interrupt);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fire();
    }
}

impl Parsers {
    pub(super) fn new(grammar: Grammar, wait: Duration) -> Self {
        let [small, large] = [SMALL_PARSERS, LARGE_PARSERS].map(|count| Arc::new(Semaphore::new(count)));
        Self { grammar, small, large, wait }
    }

    /// Returns what `read` makes of a statement's trees before `deadline`, or the reason why it has none.
    pub(super) async fn parse<R: Send + 'static>(
        &self,
        sql: &str,
        deadline: Instant,
        read: impl FnOnce(&[&Tree<'_>], &Interrupt) -> R + Send + 'static,
    ) -> Result<Result<R, String>, SqlError> {
        let (permits, bounds) =
            if sql.len() <= SMALL { (&self.small, SMALL_BOUNDS) } else { (&self.large, LARGE_BOUNDS) };
        let waits = deadline.min(Instant::now() + self.wait);
        let Ok(Ok(permit)) = timeout_at(waits, Arc::clone(permits).acquire_owned()).await else {
            return Err(SqlError::Busy);
        };
        let (grammar, text) = (self.grammar.clone(), sql.to_owned());
        let waiting = Waiting(grammar.interrupt());
        let interrupt = waiting.0.clone();
        let work = tokio::task::spawn_blocking(move || {
            let parsed = grammar.parse(&text, bounds, &interrupt, |trees| read(trees, &interrupt));
            // Another parse begins when this one has released its memory.
            drop(permit);
            parsed
        });
        match timeout_at(deadline, work).await {
            Ok(Ok(Ok(read))) => Ok(Ok(read)),
            Err(_) | Ok(Ok(Err(ParseError::Interrupted))) => Err(SqlError::TimedOut),
            Ok(Ok(Err(error))) => Ok(Err(error.to_string())),
            Ok(Err(error)) => Err(SqlError::Internal(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::tests::grammar;
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// A statement whose tree is as large as those of its size are.
    fn large() -> String {
        format!("SELECT 1{}", ",1".repeat(400_000))
    }

    #[tokio::test]
    async fn a_parse_ends_with_its_deadline_and_frees_its_parser() {
        let parsers = Parsers::new(grammar(), Duration::from_secs(60));
        let text = format!("SELECT '{}'", "x".repeat(SMALL));
        let interrupted = Arc::new(AtomicUsize::new(0));
        for _ in 0..=LARGE_PARSERS {
            let count = Arc::clone(&interrupted);
            let endless = move |_: &[&Tree<'_>], interrupt: &Interrupt| {
                let begun = Instant::now();
                while !interrupt.is_fired() && begun.elapsed() < Duration::from_secs(20) {
                    std::thread::yield_now();
                }
                count.fetch_add(usize::from(interrupt.is_fired()), Ordering::SeqCst);
            };
            let deadline = Instant::now() + Duration::from_secs(1);
            let parsed = parsers.parse(&text, deadline, endless).await;
            assert!(matches!(parsed, Err(SqlError::TimedOut)), "{parsed:?}");
        }
        assert_eq!(parsers.parse(&text, soon(), |trees, _| trees.len()).await.unwrap(), Ok(1));
        assert_eq!(interrupted.load(Ordering::SeqCst), LARGE_PARSERS + 1);
    }

    #[tokio::test]
    async fn the_parser_itself_ends_with_the_deadline() {
        let parsers = Parsers::new(grammar(), Duration::from_secs(60));
        let begun = Instant::now();
        let late = begun + Duration::from_millis(1);
        let parsed = parsers.parse(&large(), late, |trees, _| trees.len()).await;
        assert!(matches!(parsed, Err(SqlError::TimedOut | SqlError::Busy)), "{parsed:?}");
        assert_eq!(parsers.parse("SELECT 1", soon(), |trees, _| trees.len()).await.unwrap(), Ok(1));
    }

    #[tokio::test]
    async fn small_statements_do_not_wait_for_large_ones_and_those_not_for_ever() {
        let parsers = Parsers::new(grammar(), Duration::ZERO);
        let held = parsers.large.acquire().await.unwrap();
        assert_eq!(parsers.parse("SELECT 1", soon(), |trees, _| trees.len()).await.unwrap(), Ok(1));
        let parsed = parsers.parse(&large(), soon(), |trees, _| trees.len()).await;
        assert!(matches!(parsed, Err(SqlError::Busy)), "{parsed:?}");
        drop(held);
    }
}
