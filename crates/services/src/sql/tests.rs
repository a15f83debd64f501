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
