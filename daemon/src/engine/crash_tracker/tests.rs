use super::*;

const NOW: Timestamp = Timestamp::from_seconds(1_000_000);
const HOUR: Duration = Duration::from_secs(60 * 60);

fn session(id: &str) -> SessionId {
    SessionId { agent: "claude".to_owned(), id: id.to_owned() }
}

/// Opens the tracker as another process.
fn started(file: &Path, now: Timestamp) -> CrashTracker {
    CrashTracker::open_in(file, now, &uuid::Uuid::new_v4().to_string())
}

/// Simulates a process that dies while it works on sessions. `works` contains their ids and the
/// numbers of their bytes that were read before.
fn dies(file: &Path, works: &[(&str, u64)], now: Timestamp) {
    let crash_tracker = started(file, now);
    let begun: Vec<_> =
        works.iter().map(|(id, from)| crash_tracker.begin(&session(id), *from)).collect();
    begun.into_iter().for_each(std::mem::forget);
}

fn suspect(id: &str, is_tested: bool) -> Suspect {
    Suspect { session: session(id), is_tested }
}

fn quarantine(file: &Path, id: &str, now: Timestamp) -> Option<Quarantine> {
    started(file, now).quarantine(&session(id), now)
}

#[test]
fn a_session_is_quarantined_after_repeated_deaths_during_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("at_work.json");
    for deaths in 1..=QUARANTINE_DEATHS {
        dies(&file, &[("a", 7), ("b", u64::from(deaths))], NOW);
        let found = quarantine(&file, "a", NOW);
        assert_eq!(found.is_some(), deaths == QUARANTINE_DEATHS, "{deaths}");
        // The reading of this session makes progress each time.
        assert_eq!(quarantine(&file, "b", NOW), None);
    }
    let found = quarantine(&file, "a", NOW.plus(HOUR / 2));
    assert_eq!(found, Some(Quarantine { deaths: QUARANTINE_DEATHS, pause: HOUR }));
    assert_eq!(quarantine(&file, "a", NOW.minus(HOUR)), None, "the clock was set back");

    // The session is tried again, and then quarantined for longer.
    let later = NOW.plus(HOUR);
    assert_eq!(quarantine(&file, "a", later), None);
    dies(&file, &[("a", 7)], later);
    let found = quarantine(&file, "a", later.plus(HOUR));
    assert_eq!(found, Some(Quarantine { deaths: QUARANTINE_DEATHS + 1, pause: 2 * HOUR }));
    (0..100).for_each(|_| dies(&file, &[("a", 7)], later));
    assert_eq!(quarantine(&file, "a", later).map(|quarantine| quarantine.pause), Some(MAX_PAUSE));
    assert_eq!(started(&file, later.plus(MAX_NOTE_AGE)).suspects(), []);
}

#[test]
fn a_session_is_tested_after_two_deaths_during_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("at_work.json");
    dies(&file, &[("a", 7)], NOW);
    assert_eq!(started(&file, NOW).suspects(), [suspect("a", false)]);
    dies(&file, &[("a", 7)], NOW);
    // Kills during other work do not count.
    (0..100).for_each(|_| dies(&file, &[], NOW));
    assert_eq!(quarantine(&file, "a", NOW), None);
    let crash_tracker = started(&file, NOW);
    assert_eq!(crash_tracker.suspects(), [suspect("a", true)]);
    crash_tracker.begin(&session("a"), 7).done();
    assert_eq!(crash_tracker.suspects(), [], "one successful test is enough");
}

#[test]
fn a_restart_of_the_engine_in_the_same_process_is_not_a_death() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("at_work.json");
    dies(&file, &[("a", 7)], NOW);
    for _ in 0..=QUARANTINE_DEATHS {
        let crash_tracker = CrashTracker::open(&file, NOW);
        std::mem::forget(crash_tracker.begin(&session("a"), 7));
        std::mem::forget(crash_tracker.begin(&session("b"), 7));
    }
    assert_eq!(CrashTracker::open(&file, NOW).suspects(), [suspect("a", false)]);
}

#[test]
fn work_that_ended_counts_no_deaths() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("at_work.json");
    (0..QUARANTINE_DEATHS).for_each(|_| dies(&file, &[("a", 7), ("b", 7)], NOW));
    let crash_tracker = started(&file, NOW);
    assert_eq!(crash_tracker.suspects(), [suspect("a", true), suspect("b", true)]);
    crash_tracker.begin(&session("a"), 7).done();
    {
        let _interrupted = crash_tracker.begin(&session("b"), 7);
    }
    assert_eq!(quarantine(&file, "a", NOW), None);
    assert!(
        quarantine(&file, "b", NOW).is_some(),
        "an interrupted test does not clear the session"
    );
    let crash_tracker = started(&file, NOW);
    crash_tracker.try_again(&session("b"));
    assert_eq!(crash_tracker.quarantine(&session("b"), NOW), None);
    std::mem::forget(crash_tracker.begin(&session("b"), 7));
    assert!(quarantine(&file, "b", NOW).is_some());
    let crash_tracker = started(&file, NOW);
    crash_tracker.forget(&session("b"));
    assert_eq!(started(&file, NOW).suspects(), []);
}

#[test]
fn the_file_format_is_stable_and_an_unreadable_file_counts_as_empty() {
    let text = format!(
        r#"{{"version":1,"program":"{}","process":"p","sessions":[{{"agent":"claude","id":"a","from":7,"at_work":true,"deaths":2,"last":5}}]}}"#,
        env!("CARGO_PKG_VERSION")
    );
    let note = CrashNote { from: 7, in_progress: true, deaths: 2, last: 5 };
    let notes = CrashNotes(BTreeMap::from([(session("a"), note)]));
    assert_eq!(notes.to_text("p"), text.as_bytes());
    // Earlier versions did not write the name of the process.
    for (text, process) in [(text.clone(), "p"), (text.replace(r#""process":"p","#, ""), "")] {
        let read = CrashNotes::of_text(text.as_bytes());
        assert_eq!(read, (CrashNotes(notes.0.clone()), process.to_owned()));
    }
    let others = [
        text.replace("\"version\":1", "\"version\":2"),
        text.replace("\"program\":\"", "\"program\":\"0"),
        text[..text.len() / 2].to_owned(),
        String::new(),
    ];
    for other in others {
        let nothing = (CrashNotes::default(), String::new());
        assert_eq!(CrashNotes::of_text(other.as_bytes()), nothing, "{other}");
    }
    let folder = tempfile::tempdir().unwrap();
    let crash_tracker = CrashTracker::open(&folder.path().join("no/such"), NOW);
    crash_tracker.begin(&session("a"), 0).done();
}

#[test]
fn a_file_that_was_too_long_does_not_make_later_writes_long() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("at_work.json");
    let too_long = 2 * usize::try_from(MAX_BYTES).unwrap();
    std::fs::write(&file, vec![0; too_long]).unwrap();
    dies(&file, &[("a", 7)], NOW);
    let text = std::fs::read(&file).unwrap();
    assert!(text.len() < 1_000, "{} bytes", text.len());

    // An older version has filled the file with spaces.
    let filled = [text.clone(), vec![b' '; 100_000]].concat();
    std::fs::write(&file, filled).unwrap();
    let (state, _) = open(&file, "next").unwrap();
    assert_eq!(state.length, text.trim_ascii_end().len());
    assert_eq!(state.notes.0.len(), 1);
}
