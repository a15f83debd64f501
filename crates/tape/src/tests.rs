//! The format and the folder.

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use crate::*;

fn meta() -> Meta {
    Meta {
        component: [7; 32],
        module: "shop".to_string(),
        request_id: "0f8a-1".to_string(),
        time: 1_700_000_000_123_456_789,
        duration: 1_234,
        status: 200,
        kept: Kept::Share,
        limits: [128 << 20, 100_000],
        memory: Some(u128::MAX - 1),
        masked: vec!["authorization".to_string()],
        is_cut: false,
    }
}

fn field() -> impl Strategy<Value = Field> {
    ("[a-z-]{0,12}", proptest::collection::vec(any::<u8>(), 0..12))
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    proptest::collection::vec(field(), 0..4)
}

fn body() -> impl Strategy<Value = Option<Vec<u8>>> {
    proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40))
}

fn response() -> impl Strategy<Value = Response> {
    (any::<u16>(), fields(), body()).prop_map(|(status, headers, body)| Response { status, headers, body })
}

fn failure() -> impl Strategy<Value = Failure> {
    (0..6_usize, ".{0,8}").prop_map(|(reason, detail)| Failure { reason: Reason::ALL[reason], detail })
}

fn event() -> impl Strategy<Value = Event> {
    let number = any::<u32>;
    prop_oneof![
        ("[A-Z:a-z]{0,8}", ".{0,12}", fields(), body())
            .prop_map(|(method, path, headers, body)| Event::Enter(Request { method, path, headers, body })),
        response().prop_map(Event::Leave),
        ".{0,20}".prop_map(Event::Trap),
        any::<u64>().prop_map(Event::Monotonic),
        any::<u64>().prop_map(Event::Wall),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Event::RandomBytes),
        any::<u64>().prop_map(Event::RandomNumber),
        proptest::collection::vec((".{0,8}", ".{0,8}", any::<bool>()), 0..3).prop_map(|all| {
            let all = all.into_iter().map(|(name, value, is_secret)| Variable { name, value, is_secret });
            Event::Environment(all.collect())
        }),
        (number(), "[A-Z]{0,5}", ".{0,20}", fields(), body(), number(), proptest::option::of(any::<bool>())).prop_map(
            |(number, method, url, headers, body, limit, streamed)| {
                let (timeout_ms, max_bytes) = (limit, limit / 2);
                Event::Start(number, Call { method, url, headers, body, timeout_ms, max_bytes, streamed })
            }
        ),
        (number(), any::<bool>()).prop_map(|(timeout, has_any)| Event::Wait(timeout, has_any)),
        Just(Event::Take(None)),
        (number(), response()).prop_map(|(number, response)| Event::Take(Some((number, Ok(response))))),
        (number(), failure()).prop_map(|(number, failure)| Event::Take(Some((number, Err(failure))))),
        proptest::option::of(number()).prop_map(Event::Ready),
        (number(), proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(number, bytes)| Event::Read(number, Piece::Bytes(bytes))),
        (number(), any::<bool>())
            .prop_map(|(number, is_end)| Event::Read(number, if is_end { Piece::End } else { Piece::Later })),
        (number(), failure()).prop_map(|(number, failure)| Event::Read(number, Piece::Failed(failure))),
        (number(), body(), proptest::option::of(number()))
            .prop_map(|(number, piece, taken)| Event::Write(number, piece, taken)),
        number().prop_map(Event::Cancel),
        ".{0,20}".prop_map(Event::Refused),
        (any::<bool>(), proptest::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(error, text)| Event::Log(error, text)),
    ]
}

proptest! {
    #[test]
    fn a_tape_is_read_as_it_was_written(events in proptest::collection::vec(event(), 0..20)) {
        let tape = Tape { meta: meta(), events };
        let file = tape.file();
        prop_assert_eq!(Tape::read(&file).unwrap(), tape.clone());
        prop_assert_eq!(Tape::read(&file).unwrap().file(), file);
    }

    #[test]
    fn a_changed_or_shorter_file_is_refused(
        events in proptest::collection::vec(event(), 1..8),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
    ) {
        let file = Tape { meta: meta(), events }.file();
        let at = at.index(file.len());
        let mut changed = file.clone();
        changed[at] ^= 1 << bit;
        prop_assert!(Tape::read(&changed).is_err());
        prop_assert!(Tape::read(&file[..at]).is_err());
    }

    /// The checksum keeps no attacker out, so what it covers is read as strictly.
    #[test]
    fn events_of_a_stranger_are_read_strictly(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(events) = Encoder::decode(&bytes) {
            let mut encoder = Encoder::default();
            events.iter().for_each(|event| encoder.event(event));
            prop_assert_eq!(encoder.into_bytes(), bytes);
        }
    }
}

#[test]
fn a_small_request_takes_few_bytes_besides_its_bodies() {
    let text = |name: &str, value: &str| (name.to_string(), value.as_bytes().to_vec());
    let json = || text("content-type", "application/json");
    let mut events = vec![
        Event::Enter(Request {
            method: "GET".to_string(),
            path: "/items/17".to_string(),
            headers: vec![text("host", "shop.example"), text("accept", "*/*"), text("user-agent", "curl/8.14.1")],
            body: None,
        }),
        Event::Wall(1_700_000_000_123_456_789),
    ];
    let without = Tape { meta: meta(), events: events.clone() }.file().len();
    assert!(without < 200, "{without}");
    events.push(Event::Start(
        1,
        Call {
            method: "POST".to_string(),
            url: "sidecar:db/sql/query".to_string(),
            headers: vec![json()],
            body: Some(Vec::new()),
            timeout_ms: 0,
            max_bytes: 0,
            streamed: None,
        },
    ));
    events.push(Event::Wait(u32::MAX, true));
    events.push(Event::Take(Some((1, Ok(Response { status: 200, headers: vec![json()], body: Some(Vec::new()) })))));
    let with = Tape { meta: meta(), events }.file().len();
    assert!(with - without <= 40, "{}", with - without);
}

#[test]
fn a_file_of_another_version_and_another_file_are_told_apart() {
    let file = Tape { meta: meta(), events: Vec::new() }.file();
    let mut other = file.clone();
    other[8] = 9;
    assert_eq!(Tape::read(&other), Err(TapeError::Version(9)));
    assert_eq!(Tape::read(b"GIF89a"), Err(TapeError::NotATape));
    assert_eq!(Tape::read(&file[..20]), Err(TapeError::Damaged));
    assert_eq!(Tape::read_meta(&file), Ok(meta()));
}

#[test]
fn a_folder_stays_within_its_bytes_and_removes_the_oldest() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("recordings");
    let mut folder = TapeFolder::open(&path, 1_000, None).unwrap();
    for number in 0..10 {
        let meta = Meta { time: number * 1_000_000, ..meta() };
        assert_eq!(folder.write(&meta, &[number as u8; 300]).unwrap(), Written::Whole);
    }
    assert_eq!(folder.write(&meta(), &[0; 1_001]).unwrap(), Written::TooLarge);
    let read: Vec<_> = folder.files().map(|file| folder.read(&file.name).unwrap()[0]).collect();
    assert_eq!(read, [7, 8, 9]);
    let found = TapeFolder::open(&path, 1_000, None).unwrap();
    assert_eq!(found.files().collect::<Vec<_>>(), folder.files().collect::<Vec<_>>());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert!(folder.files().all(|file| mode(&path.join(file.name)) == 0o600));
    }
}

#[test]
fn old_files_are_removed() {
    let parent = tempfile::tempdir().unwrap();
    let mut folder = TapeFolder::open(&parent.path().join("r"), 1_000_000, Some(Duration::from_mins(1))).unwrap();
    // Written as if long ago, and removed with the next one.
    let (long_ago, now) = (Meta { time: 5, ..meta() }, std::time::SystemTime::now());
    folder.write(&long_ago, b"old").unwrap();
    let time = now.duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    folder.write(&Meta { time, ..meta() }, b"new").unwrap();
    assert_eq!(folder.files().count(), 1);
    assert_eq!(folder.remove_to(1_000_000, now + Duration::from_mins(2)).unwrap(), 1);
}

/// The folder that a process of its own writes to.
#[cfg(unix)]
const FOLDER: &str = "TENON_TAPE_FOLDER";

#[test]
#[cfg(unix)]
#[ignore = "the tests below run it in a process of its own"]
fn writes_until_it_is_killed() {
    use std::io::Write;
    let path = std::env::var_os(FOLDER).unwrap();
    let mut folder = TapeFolder::open(path.as_ref(), 200_000, None).unwrap();
    for number in 0_u64.. {
        let body = vec![7; if number.is_multiple_of(3) { 40_000 } else { 100 }];
        let tape = Tape { meta: Meta { time: number * 1_000_000, ..meta() }, events: vec![Event::Log(false, body)] };
        let line = match folder.write(&tape.meta, &tape.file()) {
            Ok(_) => "written".to_owned(),
            Err(error) => format!("refused: {error}"),
        };
        writeln!(std::io::stdout(), "{line}").unwrap();
    }
}

/// Runs it, and kills it after so many lines. Returns them.
#[cfg(unix)]
fn killed(path: &std::path::Path, shell: &str, lines: usize) -> Vec<String> {
    use std::io::{BufRead, BufReader};
    let mut child = std::process::Command::new("sh")
        .args(["-c", &format!(r#"{shell} exec "$0" "$@""#)])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "tests::writes_until_it_is_killed", "--ignored", "--nocapture"])
        .env(FOLDER, path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let printed = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let read = printed.filter(|line| line.starts_with("written") || line.starts_with("refused")).take(lines).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    read
}

/// Opens the folder, and reads every file.
#[cfg(unix)]
fn whole_tapes(path: &std::path::Path) -> usize {
    let folder = TapeFolder::open(path, 200_000, None).unwrap();
    let read = |file: crate::Listed| Tape::read(&folder.read(&file.name).unwrap()).unwrap();
    folder.files().map(read).collect::<Vec<_>>().len()
}

#[test]
#[cfg(unix)]
fn a_killed_process_leaves_whole_files() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("r");
    for round in 0..12 {
        killed(&path, "", 1 + 7 * round);
        assert!(whole_tapes(&path) > 0);
    }
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_whole_files() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("r");
    // No file may have more than 16 or 32 KiB, and the signal for a larger one is ignored.
    let lines = killed(&path, "trap '' XFSZ; ulimit -f 32;", 9);
    assert_eq!(lines.iter().filter(|line| line.starts_with("refused")).count(), 3, "{lines:?}");
    assert!(whole_tapes(&path) >= 6);
    let partial = std::fs::read_dir(&path).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        !name.to_string_lossy().ends_with(".tape") && entry.as_ref().unwrap().metadata().unwrap().len() > 40_000
    });
    assert_eq!(partial.count(), 0);
}
