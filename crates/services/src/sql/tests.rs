//! The routes of SQL, on SQLite.

use crate::testing::{NONE, Tested};

#[tokio::test]
async fn a_transaction_begins_without_a_body() {
    let sql = Tested::open("sql").await;
    let begun = sql.ask("POST /sql/transaction", &NONE, "").await;
    assert_eq!(begun.status, 201, "{}", begun.body);
    let named = [("tenon-transaction", begun.header("tenon-transaction"))];
    assert_eq!(sql.ask("DELETE /sql/transaction", &named, "").await.status, 204);
    for (body, status) in [("{\"isolation\":\"none\"}", 400), (" ", 400)] {
        assert_eq!(sql.ask("POST /sql/transaction", &NONE, body).await.status, status, "{body:?}");
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_even_without_statements() {
    let sql = Tested::open("sql").await;
    let (first, empty) = ("{\"statements\":[{\"sql\":\"SELECT 1\"}]}", "{\"statements\":[]}");
    let keyed = async |key, body| sql.ask("POST /sql/batch", &[("idempotency-key", key)], body).await;
    assert_eq!(keyed("a", first).await.status, 200);
    assert_eq!(keyed("b", empty).await.body, "{\"results\":[]}");
    assert_eq!(keyed("b", empty).await.header("idempotent-replayed"), "true");
    for (key, body) in [("a", empty), ("b", first)] {
        let refused = keyed(key, body).await;
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("\"detail\":\"this Idempotency-Key"), "{}", refused.body);
    }
    assert_eq!(sql.ask("POST /sql/batch", &NONE, empty).await.body, "{\"results\":[]}");
}
