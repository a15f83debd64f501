//! Reports of the end of work, while the sidecar is away.

use super::*;

/// A message that is leased for three seconds, and the first reports of whose end fail.
struct Reported {
    queue: Arc<Service>,
    routes: Recorded,
    lines: Lines,
    consumer: Consumer,
    reports: Arc<AtomicUsize>,
    _folder: TempDir,
}

async fn reported(failures: usize, status: StatusCode) -> Reported {
    let folder = tempfile::tempdir().unwrap();
    let reports = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reports);
    let refuse = move |path: &str| {
        (path.ends_with("/done") && counted.fetch_add(1, Ordering::Relaxed) < failures).then_some(status)
    };
    let queue = service(refusing_sidecar("queue", &folder, refuse).await);
    let routes = Recorded::new("shop", |_, _| Ok(StatusCode::NO_CONTENT));
    routes.become_ready();
    let messages = Queue {
        name: "mail".to_string(),
        options: QueueOptions { visibility_ms: 3_000, ..options("shop", 1, 9) },
        service: Arc::clone(&queue),
        routes: routes.clone(),
    };
    let lines = Lines::default();
    let consumer = Consumer::start(messages, lines.report());
    post(&queue, "/queue/mail", json!({ "messages": [{ "body": 1 }] })).await;
    Reported { queue, routes, lines, consumer, reports, _folder: folder }
}

impl Reported {
    /// Waits until the queue is empty, and closes the consumer. Returns the counts of calls and reports, and the log.
    async fn ended(self) -> (usize, usize, Vec<String>) {
        until(&self.queue, "/queue", |all| all["queues"] == json!([])).await;
        self.consumer.close().await;
        (self.routes.count(), self.reports.load(Ordering::Relaxed), self.lines.all())
    }
}

#[tokio::test]
async fn the_end_of_work_is_reported_again_while_the_sidecar_is_away() {
    let ended = reported(2, StatusCode::SERVICE_UNAVAILABLE).await.ended().await;
    assert_eq!(ended, (1, 3, vec![]));
}

#[tokio::test]
async fn work_is_done_again_when_its_end_is_not_known_before_its_lease_ends() {
    let ended = reported(3, StatusCode::SERVICE_UNAVAILABLE).await.ended().await;
    // After 0, 500 and 1,500 ms; the next would come after the lease.
    let line = "Queue: a message of the queue mail could not be settled: it answered 503";
    assert_eq!(ended, (2, 4, vec![line.to_string()]));
}

#[tokio::test]
async fn a_report_that_the_sidecar_refuses_is_not_repeated() {
    let ended = reported(1, StatusCode::UNAUTHORIZED).await.ended().await;
    let line = "Queue: a message of the queue mail could not be settled: it answered 401";
    assert_eq!(ended, (2, 2, vec![line.to_string()]));
}

#[tokio::test]
async fn a_consumer_that_closes_reports_once_more() {
    let Reported { queue, routes, lines, consumer, reports, _folder } =
        reported(usize::MAX, StatusCode::BAD_GATEWAY).await;
    when(|| reports.load(Ordering::Relaxed) == 1).await;
    consumer.close().await;
    assert_eq!((routes.count(), reports.load(Ordering::Relaxed)), (1, 2));
    assert_eq!(lines.all(), ["Queue: a message of the queue mail could not be settled: it answered 502"]);
    let leased = json!([{ "name": "mail", "ready": 0, "delayed": 0, "leased": 1 }]);
    until(&queue, "/queue", |all| all["queues"] == leased).await;
}

#[tokio::test]
async fn an_end_that_the_sidecar_knows_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let queue = service(sidecar("queue", &folder).await);
    let routes = Recorded::new("shop", |_, _| Ok(StatusCode::NO_CONTENT));
    let messages =
        Queue { name: "mail".to_string(), options: options("shop", 1, 2), service: Arc::clone(&queue), routes };
    post(&queue, "/queue/mail", json!({ "messages": [{ "body": 1 }] })).await;
    let message = messages.lease(1).await.unwrap().pop().unwrap();
    let end = messages.handle(message).await;
    messages.settle(&end).await.unwrap();
    // As when the answer was lost.
    messages.settle(&end).await.unwrap();
}
