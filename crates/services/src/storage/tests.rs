//! The routes of storage, on a folder.

use crate::testing::{NONE, Tested};

#[tokio::test]
async fn a_condition_that_is_no_text_changes_nothing() {
    let storage = Tested::open("storage").await;
    storage.ask("PUT /storage/a", &NONE, "first").await;
    for method in ["PUT", "DELETE", "GET"] {
        let answer = storage.ask(&format!("{method} /storage/a"), &[("if-match", b"\"\xe9\"")], "second").await;
        assert_eq!(answer.status, 412, "{method}");
    }
    assert_eq!(storage.ask("GET /storage/a", &NONE, "").await.body, "first");
}

#[tokio::test]
async fn an_unchanged_object_has_no_length() {
    let storage = Tested::open("storage").await;
    storage.ask("PUT /storage/a", &NONE, "content").await;
    for method in ["GET", "HEAD"] {
        let answer = storage.ask(&format!("{method} /storage/a"), &[("if-none-match", "*")], "").await;
        assert_eq!((answer.status, answer.header("content-length")), (304, ""), "{method}");
    }
    assert_eq!(storage.ask("HEAD /storage/a", &NONE, "").await.header("content-length"), "7");
}
