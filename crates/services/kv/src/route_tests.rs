//! The routes of key-value, on SQLite.

use tenon_service::testing::{NONE, Tested};

use crate::KIND;

#[tokio::test]
async fn entity_tags_are_compared_as_http_says() {
    let kv = Tested::open(&KIND).await;
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

#[tokio::test]
async fn conditions_hold_for_every_request_on_a_key() {
    let kv = Tested::open(&KIND).await;
    let etag = kv.ask("PUT /kv/a", &NONE, "1").await.header("etag").to_owned();
    let requests = [("GET /kv/a", ""), ("PATCH /kv/a?ttl=9", ""), ("POST /kv/a", "{\"incr\":1}"), ("DELETE /kv/a", "")];
    for (target, body) in requests {
        assert_eq!(kv.ask(target, &[("if-match", "\"other\"")], body).await.status, 412, "{target}");
        let seen = kv.ask(target, &[("if-none-match", etag.as_str())], body).await.status;
        assert_eq!(seen, if target.starts_with("GET") { 304 } else { 412 }, "{target}");
    }
    let kept = kv.ask("GET /kv/a", &[("if-match", etag.as_str())], "").await;
    assert_eq!((kept.body.as_str(), kept.header("etag"), kept.header("x-cache-ttl")), ("1", etag.as_str(), ""));
    assert_eq!(kv.ask("PATCH /kv/a?ttl=9", &[("if-match", etag.as_str())], "").await.status, 204);
    let counted = kv.ask("POST /kv/a", &[("if-match", etag.as_str())], "{\"incr\":1}").await;
    assert_eq!((counted.status, counted.body.as_str()), (200, "{\"value\":2}"));
    assert_eq!(kv.ask("DELETE /kv/a", &[("if-match", etag.as_str())], "").await.status, 412);
    assert_eq!(kv.ask("DELETE /kv/a", &[("if-match", "*")], "").await.status, 204);
    // An absent entry is 404, except where the request would make it.
    for (target, body) in requests {
        let status = kv.ask(target, &[("if-match", "*")], body).await.status;
        assert_eq!(status, if target.starts_with("POST") { 412 } else { 404 }, "{target}");
    }
    assert_eq!(kv.ask("POST /kv/a", &[("if-none-match", "*")], "{\"incr\":1}").await.status, 200);
    assert_eq!(kv.ask("POST /kv/a", &[("if-none-match", "*")], "{\"incr\":1}").await.status, 412);
}
