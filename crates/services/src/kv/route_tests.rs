//! The routes of key-value, on SQLite.

use crate::testing::{NONE, Tested};

#[tokio::test]
async fn entity_tags_are_compared_as_http_says() {
    let kv = Tested::open("kv").await;
    let etag = kv.ask("PUT /kv/a", &NONE, "first").await.header("etag").to_owned();
    let weak = format!("W/{etag}");
    let strict = [("if-match", "\"*\""), ("if-match", weak.as_str()), ("if-none-match", weak.as_str())];
    for condition in strict {
        assert_eq!(kv.ask("PUT /kv/a", &[condition], "second").await.status, 412, "{condition:?}");
    }
    let unchanged = kv.ask("GET /kv/a", &[("if-none-match", weak.as_str())], "").await;
    assert_eq!((unchanged.status, unchanged.header("etag")), (304, etag.as_str()));
    assert_eq!(kv.ask("PUT /kv/a", &[("if-match", etag.as_str())], "second").await.status, 204);
    assert_eq!(kv.ask("PUT /kv/a", &[("if-match", "*")], "third").await.status, 204);
}
