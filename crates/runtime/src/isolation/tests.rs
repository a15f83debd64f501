//! Short campaigns for each build, and the one that `scripts/isolation.mjs` runs for as long as it is asked to.

use std::env;
use std::fmt::Display;
use std::io::Write;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Instant;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tenon_fixtures::random::{KEPT, Numbers};

use super::campaign::{Campaign, Outcome, Round};
#[cfg(target_os = "linux")]
use super::conditions::{Pressure, refuse_scans, swap_space};
use super::probe::Leave;
use crate::config::{Limits, ModuleSource, RuntimeConfig};
use crate::runtime::Runtime;

fn short() -> Campaign {
    Campaign {
        seed: 7,
        requests: 1_500,
        round: 750,
        folder: KEPT.into(),
        modules: 10,
        javascript: None,
        share: 4,
        leave: None,
        records: false,
        timeout_ms: 150,
    }
}

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn is_sound(outcome: &Outcome) {
    assert!(outcome.differences.is_empty(), "{:#?}", outcome.differences);
    assert!(outcome.made > 0 && outcome.left > 0, "{outcome:?}");
    assert!(outcome.restored > 0 && outcome.restored_streams > 0, "{outcome:?}");
}

#[test]
fn each_instance_is_what_a_fresh_one_is() {
    let outcome = tokio().block_on(short().run());
    is_sound(&outcome);
    assert!(outcome.sharing > 0, "{outcome:?}");
}

#[test]
fn each_recorded_request_is_replayed_to_the_byte() {
    let outcome = tokio().block_on(Campaign { records: true, ..short() }.run());
    is_sound(&outcome);
    assert!(outcome.replayed > 500 && outcome.replayed_memories > 100, "{outcome:?}");
}

/// The comparison finds the omitted parts.
#[test]
fn a_page_a_global_a_field_and_an_object_that_are_not_restored_are_found() {
    for (leave, expected) in [
        // The response of a random handler stands in the first page; whether it was called, in its second global.
        (Leave::Page(0), "memory 0 of instance"),
        (Leave::Global(1), "global 1 of instance"),
        (Leave::Field, "the host has"),
        (Leave::Object, "the collector's heap has 65536 bytes and not 0"),
        // The number of pieces stands in the first page of a module that streams.
        (Leave::Page(0), "streams, an instance that was restored: memory 0 of instance"),
    ] {
        let modules = if expected.starts_with("streams") { 0 } else { short().modules };
        let outcome = tokio().block_on(Campaign { leave: Some(leave), requests: 400, modules, ..short() }.run());
        assert!(
            outcome.differences.iter().any(|difference| difference.contains(expected)),
            "{leave:?}: {:#?}",
            outcome.differences
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn instances_are_fresh_where_page_tables_cannot_be_scanned() {
    in_a_process_of_its_own("campaign", "no-scan");
}

#[test]
#[cfg(target_os = "linux")]
fn instances_are_fresh_while_memory_is_paged_out() {
    in_a_process_of_its_own("campaign", "pressure");
}

#[test]
#[cfg(target_os = "linux")]
fn instances_are_fresh_in_a_process_that_was_forked() {
    in_a_process_of_its_own("campaign", "fork");
}

/// Runs one of the tests below, a short [`campaign`] in most cases, under some condition.
#[cfg(target_os = "linux")]
fn in_a_process_of_its_own(test: &str, condition: &str) {
    let test = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", &test, "--ignored", "--nocapture"])
        .env("TENON_ISOLATION_CONDITION", condition)
        .env("TENON_ISOLATION_REQUESTS", "600")
        .env("TENON_ISOLATION_MODULES", "6")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no difference"),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn setting<T: FromStr<Err: Display>>(name: &str, default: T) -> T {
    match env::var(format!("TENON_ISOLATION_{name}")) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("TENON_ISOLATION_{name}: {error}")),
        Err(_) => default,
    }
}

/// The part to leave out: "page", "global" with a number, "field" or "object".
fn leave(text: &str) -> Option<Leave> {
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let number = words.next().map_or(0, |number| number.parse().expect("a number after the part"));
    Some(match name {
        "page" => Leave::Page(number),
        "global" => Leave::Global(number),
        "field" => Leave::Field,
        "object" => Leave::Object,
        _ => panic!("TENON_ISOLATION_LEAVE: no such part: {text}"),
    })
}

fn print(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The campaign of `scripts/isolation.mjs`.
#[test]
#[ignore = "scripts/isolation.mjs runs it, and the tests above do under conditions that hold for a whole process"]
fn campaign() {
    let javascript: String = setting("JAVASCRIPT", String::new());
    let campaign = Campaign {
        seed: setting("SEED", 1),
        requests: setting("REQUESTS", 10_000),
        round: setting("ROUND", 10_000),
        folder: setting("FOLDER", KEPT.to_string()).into(),
        modules: setting("MODULES", 24),
        javascript: Some(javascript).filter(|path| !path.is_empty()).map(Into::into),
        share: setting("SHARE", 4),
        leave: leave(&setting("LEAVE", String::new())),
        records: setting("RECORD", false),
        timeout_ms: setting("TIMEOUT_MS", 150),
    };
    let began = Instant::now();
    let condition: String = setting("CONDITION", "none".to_string());
    let outcome = under(&condition, &campaign);
    let seconds = began.elapsed().as_secs_f64();
    let difference = if outcome.differences.is_empty() { "no difference" } else { "DIFFERENCES" };
    print(&format!(
        "{condition}: {difference} in {} comparisons ({} of restored instances, {} of made ones)\n\
         {} requests ({} to JavaScript, {} given up) to {} modules ({} restorable, {} more unusable) in {seconds:.0} s, seed {}\n\
         {} streamed answers, {} of them left before their end\n\
         {} requests were recorded and replayed, {} of them with their memory\n\
         {} requests ended before they asked for an instance, {} before they had it\n\
         answers by status: {:?}",
        outcome.restored + outcome.made,
        outcome.restored,
        outcome.made,
        outcome.requests,
        outcome.javascript,
        outcome.cancelled,
        outcome.modules,
        outcome.restorable,
        outcome.unusable,
        campaign.seed,
        outcome.streamed,
        outcome.left,
        outcome.replayed,
        outcome.replayed_memories,
        (outcome.requests + outcome.last).saturating_sub(outcome.asked),
        outcome.asked.saturating_sub(outcome.restored + outcome.made),
        outcome.statuses,
    ));
    if campaign.leave.is_some() {
        outcome.differences.iter().for_each(|difference| print(difference));
        assert!(!outcome.differences.is_empty(), "what was left out is not found");
        return;
    }
    is_sound(&outcome);
}

/// Runs a campaign under a condition that holds for the whole process.
#[cfg(target_os = "linux")]
fn under(condition: &str, campaign: &Campaign) -> Outcome {
    match condition {
        "none" => tokio().block_on(campaign.run()),
        "no-scan" => {
            refuse_scans().unwrap();
            tokio().block_on(campaign.run())
        }
        "pressure" => {
            let pressure = Pressure::start();
            let outcome = tokio().block_on(campaign.run());
            let (rounds, swapped, space) = (pressure.rounds(), pressure.swapped(), swap_space());
            print(&format!("paged out {rounds} times; at most {swapped} bytes at once in {space} bytes of swap space"));
            assert!(space == 0 || swapped > 0, "there is swap space, and nothing was swapped out");
            outcome
        }
        "fork" => forked(campaign),
        other => panic!("there is no condition {other}"),
    }
}

/// The conditions are Linux's.
#[cfg(not(target_os = "linux"))]
fn under(condition: &str, campaign: &Campaign) -> Outcome {
    assert_eq!(condition, "none");
    tokio().block_on(campaign.run())
}

/// Half of the requests in this process, the other half in one that is forked off, to the same modules and instances.
#[cfg(target_os = "linux")]
fn forked(campaign: &Campaign) -> Outcome {
    let (mut outcome, mut numbers) = (Outcome::default(), Numbers::new(campaign.seed));
    let half = campaign.requests / 2;
    let tokio_of_parent = tokio();
    let round = tokio_of_parent.block_on(async {
        let round = Round::begin(campaign, &mut numbers, &mut outcome).await;
        round.run(campaign, half, numbers.next_u64(), &mut outcome).await;
        round
    });
    drop(tokio_of_parent);
    let child = || {
        let mut outcome = Outcome::default();
        tokio().block_on(round.run(campaign, half, numbers.next_u64(), &mut outcome));
        print(&format!("in the child: {outcome:?}"));
        is_sound(&outcome);
    };
    if !in_a_child(child) {
        outcome.differences.push("the child found a difference".to_string());
    }
    outcome.requests += half;
    tokio().block_on(async { drop(round) });
    outcome
}

/// Runs a check in a forked process. No other thread of this process may hold a lock that the child uses: the threads
/// of Tokio are gone, and the test harness waits for its one test.
#[cfg(target_os = "linux")]
fn in_a_child(run: impl FnOnce()) -> bool {
    // SAFETY: no other thread holds a lock that the child uses, and the child ends without unwinding into the parent's frames.
    match unsafe { libc::fork() } {
        0 => {
            let sound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_ok();
            // SAFETY: it ends the child.
            unsafe { libc::_exit(i32::from(!sound)) }
        }
        child => {
            let mut status = 0;
            // SAFETY: the status is this function's.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            status == 0
        }
    }
}

/// Threads are not forked: without a clock of its own, a child would run this handler for ever.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "the test below runs it in a process of its own"]
fn spinning_in_a_child() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin.wasm");
    std::fs::write(&path, tenon_fixtures::spin()).unwrap();
    let limits = Limits { request_timeout_ms: 50, ..Limits::default() };
    let modules = vec![ModuleSource::from_path(path).unwrap()];
    let config = RuntimeConfig { modules, limits, ..RuntimeConfig::default() };
    let runtime = tokio().block_on(Runtime::new(config)).unwrap();
    assert!(in_a_child(|| {
        // SAFETY: it ends the child when nothing else does.
        unsafe { libc::alarm(20) };
        let request = Request::get("/run/spin/").header("host", "x").body(Full::new(Bytes::new())).unwrap();
        assert_eq!(tokio().block_on(runtime.handle(request)).status(), 504);
    }));
    print("no difference");
}

#[test]
#[cfg(target_os = "linux")]
fn a_guest_that_computes_is_timed_out_in_a_process_that_was_forked() {
    in_a_process_of_its_own("spinning_in_a_child", "none");
}
