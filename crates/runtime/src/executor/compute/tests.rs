use std::thread::{current, sleep};

use super::*;

const CLASS: Class = Class(0);

/// A share that is not crowded by those of other tests.
fn alone() -> Arc<Share> {
    Share::among(Box::leak(Box::new(Windows::new())))
}

const LONG: Duration = Duration::from_millis(10);

/// Computes for so much processor time: on a busy machine, the thread may get only a part of the time that passes.
fn compute(duration: Duration) {
    let watch = Stopwatch::start(Duration::ZERO);
    while watch.took() < duration {}
}

/// Yields so many times after computing for that long, and returns the names of the threads.
async fn computing(times: usize, duration: Duration) -> Vec<String> {
    let mut threads = Vec::new();
    for _ in 0..times {
        threads.push(current().name().unwrap_or_default().to_string());
        compute(duration);
        tokio::task::yield_now().await;
    }
    threads
}

#[tokio::test]
async fn what_computes_goes_on_elsewhere_and_what_waits_stays() {
    let share = alone();
    // The system takes the thread away for longer than is brief.
    let brief = share.run(Class(1), async {
        let began = current().id();
        sleep(LONG);
        tokio::time::sleep(Duration::from_millis(1)).await;
        began == current().id()
    });
    assert!(brief.await);
    for _ in 1..STREAK {
        let threads = share.run(CLASS, computing(5, LONG)).await;
        assert_ne!(threads[0], "tenon-guest");
        assert!(threads[1..].iter().all(|name| name == "tenon-guest"), "{threads:?}");
    }
    // Timers and tasks work there.
    let waited = share.run(CLASS, async {
        computing(1, LONG).await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        tokio::spawn(async { 5 }).await.unwrap()
    });
    assert_eq!(waited.await, 5);
    // The last calls were long: the next one begins there, and that of another class does not.
    assert_eq!(share.run(CLASS, computing(1, Duration::ZERO)).await, ["tenon-guest"]);
    assert_ne!(share.run(Class(2), computing(1, Duration::ZERO)).await, ["tenon-guest"]);
}

#[tokio::test]
async fn what_is_dropped_ends_and_a_panic_is_that_of_the_caller() {
    let share = alone();
    let (alive, ended) = oneshot::channel::<()>();
    let endless = share.run(CLASS, async move {
        let _alive = alive;
        computing(usize::MAX, LONG).await
    });
    assert!(tokio::time::timeout(LONG * 2, endless).await.is_err());
    assert!(tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap().is_err());
    let panics: tokio::task::JoinHandle<()> = tokio::spawn(share.run(CLASS, async {
        computing(2, LONG).await;
        resume_unwind(Box::new("meant"))
    }));
    assert!(panics.await.unwrap_err().is_panic());
}

/// A guest that does not yield keeps the thread that polls it, and no other one.
#[tokio::test]
async fn a_running_call_is_dropped_without_waiting_for_it() {
    let share = alone();
    let (alive, mut ended) = oneshot::channel::<()>();
    let (started, is_started) = oneshot::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    let stubborn = share.run(CLASS, async move {
        let _alive = alive;
        computing(1, LONG).await;
        started.send(()).unwrap();
        // Ends with the test, or when the test fails.
        let _ = goes_on.recv();
        std::future::pending::<()>().await;
    });
    let mut stubborn = Box::pin(stubborn);
    tokio::select! {
        () = stubborn.as_mut() => unreachable!("it never ends"),
        _ = is_started => {}
    }
    drop(stubborn);
    assert!(ended.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Empty), "it still runs");
    go_on.send(()).unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap().is_err());
}

#[test]
fn the_module_that_has_used_least_is_next() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let task = |share: &Arc<Share>| {
        Arc::new(Task {
            future: Mutex::default(),
            state: AtomicU8::new(QUEUED),
            cancelled: AtomicBool::new(false),
            share: Arc::clone(share),
            runtime: runtime.handle().clone(),
        })
    };
    let (mut queue, many, one) = (Queue::default(), Share::new(), Share::new());
    for _ in 0..10 {
        queue.push(task(&many));
    }
    let mut turns = Vec::new();
    for turn in 0..8 {
        // One module comes later, and each time again.
        if turn >= 3 && !queue.modules.iter().any(|(share, _)| Arc::ptr_eq(share, &one)) {
            queue.push(task(&one));
        }
        let next = queue.pop().unwrap();
        next.share.used.fetch_add(5, Ordering::Relaxed);
        turns.push(Arc::ptr_eq(&next.share, &one));
    }
    assert_eq!(turns[..3], [false; 3]);
    assert_eq!(turns[3..].iter().filter(|is_one| **is_one).count(), 3, "{turns:?}");
}

/// More calls than threads in each, so that both always want to compute.
#[tokio::test]
async fn modules_that_compute_share_the_threads_by_their_weights() {
    let shares = [alone(), alone(), alone()];
    shares[2].weigh(2);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let computed: [Arc<AtomicU64>; 3] = std::array::from_fn(|_| Arc::default());
    let mut running = Vec::new();
    for (share, computed) in shares.iter().zip(&computed) {
        for _ in 0..2 * threads + 1 {
            let computed = Arc::clone(computed);
            running.push(tokio::spawn(share.run(CLASS, async move {
                loop {
                    let watch = Stopwatch::start(Duration::ZERO);
                    compute(Duration::from_millis(2));
                    computed.fetch_add(nanos(watch.took()), Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            })));
        }
    }
    // Until all of them are on the threads for guests.
    tokio::time::sleep(LONG * 20).await;
    let before = computed.each_ref().map(|computed| computed.load(Ordering::Relaxed));
    tokio::time::sleep(LONG * 300).await;
    let [one, other, twice] = std::array::from_fn(|index| computed[index].load(Ordering::Relaxed) - before[index]);
    running.iter().for_each(tokio::task::JoinHandle::abort);
    // Within a twentieth of the whole.
    let whole = one + other + twice;
    for (share, weight) in [(one, 1), (other, 1), (twice, 2)] {
        let fair = whole * weight / 4;
        assert!(share.abs_diff(fair) < whole / 20, "{one} {other} {twice}");
    }
}

#[test]
fn requests_that_differ_in_a_number_are_of_one_class() {
    let class = |path: &str| Class::of(&Method::GET, path);
    assert_eq!(class("/users/1"), class("/users/20"));
    assert_ne!(class("/users/1"), class("/users/ada"));
    assert_ne!(class("/users/1"), class("/users/1/2"));
    assert_ne!(class("/users/1"), Class::of(&Method::PUT, "/users/1"));
}

#[tokio::test]
async fn a_few_long_calls_of_a_class_are_accidents() {
    let share = alone();
    let slow = || async {
        compute(LONG);
        current().name().map(str::to_string)
    };
    for _ in 0..STREAK {
        assert_ne!(share.run(CLASS, slow()).await.as_deref(), Some("tenon-guest"));
    }
    assert_eq!(share.run(CLASS, slow()).await.as_deref(), Some("tenon-guest"));
}
