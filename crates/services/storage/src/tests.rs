//! The routes of storage, on a folder.

use tenon_service::testing::{NONE, Tested};

use crate::KIND;

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_copy_is_a_file_of_its_own_with_its_own_time() {
    let storage = Tested::open(&KIND).await;
    storage.ask("PUT /storage/a/from", &[("x-meta-a", "b")], "content").await;
    assert_eq!(storage.ask("POST /storage/b/to?copy=a/from", &NONE, "").await.status, 201);
    assert_eq!(storage.ask("GET /storage/b/to", &NONE, "").await.header("x-meta-a"), "b");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100_000);
    std::fs::File::options()
        .append(true)
        .open(storage.folder.path().join("a/from"))
        .unwrap()
        .set_modified(old)
        .unwrap();
    for status in [201, 204, 204] {
        assert_eq!(storage.ask("POST /storage/a/to?copy=a/from", &NONE, "").await.status, status);
    }
    assert_eq!(names(&storage.folder.path().join("a")), ["from", "to"]);
    let source = storage.ask("GET /storage/a/from", &NONE, "").await;
    let copy = storage.ask("GET /storage/a/to", &NONE, "").await;
    assert_eq!(copy.body, "content");
    assert_ne!(copy.header("last-modified"), source.header("last-modified"));
    assert_ne!(copy.header("etag"), source.header("etag"));
    for path in ["a/from", "a/to"] {
        assert_eq!(storage.ask(&format!("DELETE /storage/{path}"), &NONE, "").await.status, 204);
    }
    assert_eq!(storage.ask("PUT /storage/a", &NONE, "").await.status, 201);
    assert_eq!(storage.ask("POST /storage/c?copy=none", &NONE, "").await.status, 404);
}

#[tokio::test]
async fn a_condition_that_is_no_text_changes_nothing() {
    let storage = Tested::open(&KIND).await;
    storage.ask("PUT /storage/a", &NONE, "first").await;
    for method in ["PUT", "DELETE", "GET"] {
        let answer = storage.ask(&format!("{method} /storage/a"), &[("if-match", b"\"\xe9\"")], "second").await;
        assert_eq!(answer.status, 412, "{method}");
    }
    assert_eq!(storage.ask("GET /storage/a", &NONE, "").await.body, "first");
}

#[tokio::test]
async fn an_unchanged_object_has_no_length() {
    let storage = Tested::open(&KIND).await;
    storage.ask("PUT /storage/a", &NONE, "content").await;
    for method in ["GET", "HEAD"] {
        let answer = storage.ask(&format!("{method} /storage/a"), &[("if-none-match", "*")], "").await;
        assert_eq!((answer.status, answer.header("content-length")), (304, ""), "{method}");
    }
    assert_eq!(storage.ask("HEAD /storage/a", &NONE, "").await.header("content-length"), "7");
}

#[tokio::test]
async fn a_presigned_write_names_the_address_of_the_object() {
    let storage = Tested::open(&KIND).await;
    let signed = storage.ask("POST /storage-url", &NONE, "{\"path\":\"a b/c\",\"method\":\"PUT\"}").await.body;
    let url = serde_json::from_str::<serde_json::Value>(&signed).unwrap()["url"].as_str().unwrap().to_owned();
    let path = &url[url.find("/storage-url/").unwrap()..];
    let written = storage.ask(&format!("PUT {path}"), &NONE, "content").await;
    assert_eq!((written.status, written.header("location")), (201, "/storage/a%20b/c"));
    assert_eq!(storage.ask(&format!("GET {}", written.header("location")), &NONE, "").await.body, "content");
}
