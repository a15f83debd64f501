//! The routes of queues, on SQLite.

use crate::testing::{NONE, Tested};

/// Numbers that a JSON reader writes in another way.
const NUMBERS: &str = "[0.36788125622167067,44991844480302180000,12345678901234567890123,1.50,-0]";

#[tokio::test]
async fn bodies_keep_their_numbers() {
    let queue = Tested::open("queue").await;
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
async fn a_path_that_is_no_text_is_a_problem() {
    let queue = Tested::open("queue").await;
    for target in ["POST /queue/%FF", "POST /queue/%FF/lease"] {
        let answer = queue.ask(target, &NONE, "{}").await;
        assert_eq!((answer.status, answer.header("content-type")), (400, "application/problem+json"), "{target}");
    }
}
