//! The kinds of service. Each is a crate in a folder beside this one, and one entry here, from which sidecars, the development
//! services, their errors and the commands of `tenon-server` are made. The command line of `tenon` and the documentation
//! have their table in `cli/src/embed/sidecar-kinds.ts`.

use tenon_service::kind::listed;
use tenon_service::{Kind, ServicesError};

/// All kinds.
pub(crate) static KINDS: [&Kind; 6] = [
    &tenon_service_sql::KIND,
    &tenon_service_kv::KIND,
    &tenon_service_storage::KIND,
    &tenon_service_queue::KIND,
    &tenon_service_cron::KIND,
    &tenon_service_http::KIND,
];

/// The kinds that a sidecar can be of, in the order of the documentation.
pub fn sidecar_kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.into_iter()
}

/// Finds a kind by its name.
///
/// # Errors
///
/// An unknown name; the error lists the kinds.
pub(crate) fn kind_named(name: &str) -> Result<&'static Kind, ServicesError> {
    let names = KINDS.map(|kind| kind.name);
    let wrong = || ServicesError::Config(format!("`{name}` is not a kind of sidecar: use {}", listed(&names)));
    KINDS.into_iter().find(|kind| kind.name == name).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use tenon_service::sqlite_file::SqliteFile;
    use tenon_service::testing::{NONE, Tested};

    use super::*;

    fn kind(name: &str) -> &'static Kind {
        kind_named(name).unwrap()
    }

    #[test]
    fn kinds_and_their_stores() {
        assert_eq!(kind("kv").name, "kv");
        let error = kind_named("cache").err().unwrap().to_string();
        assert_eq!(error, "`cache` is not a kind of sidecar: use sql, kv, storage, queue, cron or http");
        let queue = kind("queue");
        for (url, scheme) in
            [("postgresql://a/b", "postgres://"), ("sqlite:a.db", "sqlite:"), ("rediss://a", "redis://")]
        {
            assert_eq!(queue.store(url).unwrap().schemes[0], scheme);
        }
        for url in ["sqlite:", "mysql://secret", "redis", ""] {
            let error = queue.store(url).err().unwrap().to_string();
            assert!(error.contains("postgres://user@host/database, redis://") && !error.contains("secret"), "{error}");
        }
    }

    /// Each kind closes its connections while the others write, which must not release their locks.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn kinds_share_a_file() {
        let sql = Tested::open(kind("sql")).await;
        let (queue, first, second) =
            tokio::join!(sql.beside(kind("queue")), sql.beside(kind("kv")), sql.beside(kind("kv")));
        let statement = |sql: &str| format!("{{\"sql\":\"{sql}\"}}");
        let created = sql.ask("POST /sql/execute", &NONE, &statement("CREATE TABLE t (a INTEGER)")).await;
        assert_eq!(created.status, 200, "{}", created.body);
        let rows = async {
            for _ in 0..40 {
                let sent = statement("INSERT INTO t SELECT count(*) FROM t");
                let answer = sql.ask("POST /sql/execute", &NONE, &sent).await;
                assert_eq!(answer.status, 200, "{}", answer.body);
                // Its connection is closed.
                let sent = statement("CREATE TEMP TABLE u (a)");
                assert_eq!(sql.ask("POST /sql/execute", &NONE, &sent).await.status, 200);
            }
        };
        let messages = async {
            for _ in 0..40 {
                let answer = queue.ask("POST /queue/q", &NONE, "{\"messages\":[{\"body\":1}]}").await;
                assert_eq!(answer.status, 200, "{}", answer.body);
            }
        };
        let counted = |kv: Tested| async move {
            for _ in 0..40 {
                let answer = kv.ask("POST /kv/a", &NONE, "{\"incr\":1}").await;
                assert_eq!(answer.status, 200, "{}", answer.body);
            }
            kv
        };
        let (.., kv, _) = tokio::join!(rows, messages, counted(first), counted(second));
        assert_eq!(kv.ask("GET /kv/a", &NONE, "").await.body, "80");
        let path = sql.folder.path().join("test.db");
        let file = SqliteFile::open(&path, "", 0, None).unwrap();
        let found = file.call(|db| {
            let intact: String = db.one("PRAGMA integrity_check", &[], |row| row.read(0))?;
            let rows: i64 = db.one("SELECT count(DISTINCT a) FROM t", &[], |row| row.read(0))?;
            Ok((intact, rows, db.one("SELECT count(*) FROM messages", &[], |row| row.read::<i64>(0))?))
        });
        assert_eq!(found.await.unwrap(), ("ok".to_owned(), 40, 40));
    }

    #[tokio::test]
    async fn values_of_json_are_charged_before_they_are_parsed() {
        let [queue, kv, sql, cron] = ["queue", "kv", "sql", "cron"].map(|name| Tested::open(kind(name)));
        let (queue, kv, sql, cron) = tokio::join!(queue, kv, sql, cron);
        let empty = format!("{{\"a\":[{}]}}", vec!["{\"\":0}"; 1_000_000].join(","));
        for (service, target) in [
            (&queue, "POST /queue/q"),
            (&queue, "POST /queue/q/lease"),
            (&queue, "POST /queue/q/done"),
            (&queue, "POST /queue/q/retry"),
            (&kv, "POST /kv"),
            (&kv, "POST /kv/a"),
            (&sql, "POST /sql/query"),
            (&sql, "POST /sql/execute"),
            (&sql, "POST /sql/batch"),
            (&sql, "POST /sql/transaction"),
            (&cron, "POST /cron"),
            (&cron, "PUT /cron-jobs"),
            (&cron, "PATCH /cron/a"),
            (&cron, "POST /cron-runs/lease"),
            (&cron, "POST /cron-runs/done"),
        ] {
            let answer = service.ask(target, &NONE, &empty).await;
            assert_eq!(answer.status, 413, "{target}: {}", answer.body);
            assert!(answer.body.contains("too many values"), "{target}: {}", answer.body);
        }
    }
}
