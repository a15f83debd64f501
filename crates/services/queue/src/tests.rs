//! The routes of queues, on SQLite.

use tenon_service::testing::{NONE, Tested};

use crate::KIND;

/// Numbers that a JSON reader writes in another way.
const NUMBERS: &str = "[0.36788125622167067,44991844480302180000,12345678901234567890123,1.50,-0]";

#[tokio::test]
async fn bodies_keep_their_numbers() {
    let queue = Tested::open(&KIND).await;
    for body in [NUMBERS, "null", "\"a b\"", "{\"a\": 1.0}"] {
        let sent = queue.ask("POST /queue/q", &NONE, &format!("{{\"messages\":[{{\"body\":{body}}}]}}")).await;
        assert_eq!(sent.status, 200, "{}", sent.body);
        let leased = queue.ask("POST /queue/q/lease", &NONE, "{\"max\":1}").await.body;
        assert!(leased.contains(&format!("\"body\":{body},")), "{leased}");
    }
    for wrong in ["{\"messages\":[1]}", "{\"messages\":[{}]}", "{\"messages\":1}", "[]"] {
        assert_eq!(queue.ask("POST /queue/q", &NONE, wrong).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_lease_has_as_many_messages_as_fit_and_at_least_one() {
    let queue = Tested::open(&KIND).await;
    // Four of 3 MB fit into 10 MiB with three, and one of nearly 10 MiB is alone.
    for size in [3_000_000, 3_000_000, 3_000_000, 3_000_000, 10_485_700, 100, 100] {
        let message = format!("{{\"messages\":[{{\"body\":\"{}\"}}]}}", "x".repeat(size));
        assert_eq!(queue.ask("POST /queue/q", &NONE, &message).await.status, 200);
    }
    for count in [3, 1, 1, 2, 0] {
        let leased = queue.ask("POST /queue/q/lease", &NONE, "{\"max\":100}").await;
        assert_eq!((leased.status, leased.body.matches("\"receipt\"").count()), (200, count));
    }
}

#[tokio::test]
async fn a_path_that_is_no_text_is_a_problem() {
    let queue = Tested::open(&KIND).await;
    for target in ["POST /queue/%FF", "POST /queue/%FF/lease"] {
        let answer = queue.ask(target, &NONE, "{}").await;
        assert_eq!((answer.status, answer.header("content-type")), (400, "application/problem+json"), "{target}");
    }
}
