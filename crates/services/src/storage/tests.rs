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
