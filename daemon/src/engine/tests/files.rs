//! Tests files that are announced twice, late, or during other work.

use std::{
    fs::{self, File},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::{Duration, SystemTime},
};

use super::{Machine, messages, paths, projects, sources};
use crate::{
    capture::{format::Formats, open::file_stamp},
    clock,
    engine::{
        crash_tracker::CrashTracker,
        files::FileObservation,
        forgotten::Forgotten,
        memory_use::MemoryUse,
        reading::{ReadRequest, SavePolicy, SourceReader},
        record_locks::RecordLocks,
    },
    model::{
        Message, SessionKey, Timestamp,
        session::{Session, SessionId, State},
    },
    store::{FileStamp, NoteNamespace, Source, SourceKey, Store, Tally, Write, contract},
};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const COPY: &str = "p/22222222-0000-4000-8000-000000000000.jsonl";
const SUB_AGENT: &str = "p/11111111-0000-4000-8000-000000000000/subagents/agent-a.jsonl";

/// In Cursor's transcripts, only the prompts have times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_has_the_time_of_its_file_if_its_last_message_has_no_time() {
    let prompt = "<timestamp>Friday, Sep 4, 2020, 2:21 AM (UTC)</timestamp>\\n<user_query>Fix it</user_query>";
    let record = |role: &str, text: &str| {
        format!("{{\"role\":\"{role}\",\"message\":{{\"content\":\"{text}\"}}}}\n")
    };
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_600_000_000);
    let prompt_time = Timestamp::parse("2020-09-04T02:21:00Z").unwrap();
    for (text, wanted) in [
        (record("user", prompt), prompt_time),
        (record("user", prompt) + &record("assistant", "Done."), modified.into()),
    ] {
        let machine = Machine::new();
        let path = machine.path("app/agent-transcripts/s1/s1.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
        let run = machine.start();
        run.announce(&[path]).await;
        run.settle().await;
        let id = SessionId { agent: "cursor".to_owned(), id: "s1".to_owned() };
        let key = run.store.find_session(&id).unwrap().expect("the session is registered");
        assert_eq!(run.store.session(key).unwrap().unwrap().last_activity, wanted);
    }
}

/// The clock may have been wrong when the record was written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_is_not_later_than_its_arrival() {
    let machine = Machine::new();
    machine.append(OWN, "one");
    let text = fs::read_to_string(machine.path(OWN)).unwrap();
    let now = clock::now();
    let tomorrow = now.plus(Duration::from_secs(2 * 86_400)).to_string();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["timestamp"] = tomorrow.into();
    fs::write(machine.path(OWN), format!("{record}\n")).unwrap();
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    let source = sources(run.store.as_ref()).remove(0);
    let message = messages(run.store.as_ref(), &source).remove(0);
    let session = run.store.session(source.key.session).unwrap().unwrap();
    let latest = clock::now();
    assert!(message.at.is_some_and(|at| now <= at && at <= latest), "{:?}", message.at);
    assert!(session.last_activity <= latest);
    run.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_announced_twice_in_one_batch_is_registered_once() {
    let machine = Machine::new();
    let both = [OWN, SUB_AGENT].map(|path| machine.path(path));
    machine.append(OWN, "one");
    machine.append(SUB_AGENT, "two");
    let run = machine.start();
    run.announce(&[both.clone(), both.clone()].concat()).await;
    run.settle().await;
    machine.append(OWN, "three");
    machine.append(SUB_AGENT, "four");
    run.announce(&both).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(paths(&sources(store.as_ref())), both);
    assert_eq!(texts(store.as_ref()), ["one", "three", "two", "four"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_an_older_version_registered_twice_are_repaired() {
    let machine = Machine::new();
    let gone = "p/11111111-0000-4000-8000-000000000000/subagents/agent-b.jsonl";
    for (path, text) in [(OWN, "one"), (OWN, "two"), (SUB_AGENT, "three"), (SUB_AGENT, "four")] {
        machine.append(path, text);
    }
    let store = machine.store();
    let key = store.next_session_key().unwrap();
    let id = "11111111-0000-4000-8000-000000000000";
    let file = machine.path(OWN).display().to_string();
    let session = Session { state: State::Indexed, file, ..contract::session(key, id) };
    store.write(vec![Write::Session(Box::new(session))]).done().await.unwrap();
    // If a path is registered several times, the path index points to the last registration.
    let rows = [
        (OWN, None, vec!["one"]),
        (SUB_AGENT, Some("a"), vec!["three"]),
        (gone, Some("b"), vec!["five", "six"]),
        (OWN, None, vec![]),
        (SUB_AGENT, Some("a"), vec!["three", "four"]),
        (gone, Some("b"), vec!["five"]),
    ];
    for (number, (path, sub_agent, texts)) in (0..).zip(rows) {
        let source = read_to_the_end(&machine, SourceKey { session: key, number }, path, sub_agent);
        store.register_unchecked(&source);
        let message = |(seq, text): (u32, &str)| Message {
            text: text.to_owned(),
            ..contract::message(seq, 0)
        };
        let messages = (0..).zip(texts).map(message).collect();
        store.write(vec![Write::Messages { source: source.key, messages }]).done().await.unwrap();
    }
    store.close();

    for start in 0..2 {
        let run = machine.start();
        run.settle().await;
        let problems = run.engine.status().await.unwrap().problems;
        assert_eq!(problems.len(), usize::from(start == 0), "{problems:?}");
        let is_reported =
            problems.first().is_none_or(|problem| problem.starts_with("repaired 3 transcripts"));
        assert!(is_reported, "{problems:?}");
        let store = run.stop().await;
        let sources = sources(store.as_ref());
        let expected = [OWN, SUB_AGENT, gone].map(|path| machine.path(path));
        assert_eq!(paths(&sources), expected);
        let texts = texts(store.as_ref());
        assert_eq!(texts, ["one", "two", "three", "four", "five", "six"]);
        assert_eq!(store.totals().messages, 6);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_has_all_its_messages_after_a_restart() {
    let machine = Machine::new();
    let own = [machine.path(OWN)];
    let mut run = machine.start();
    for text in ["one", "two", "three"] {
        machine.append(OWN, text);
        run.announce(&own).await;
        run.settle().await;
    }
    run.stop().await;
    run = machine.start();
    let live = run.engine.live().await.unwrap();
    let messages =
        live.iter().filter_map(|session| session.content).map(|content| content.messages);
    assert_eq!(messages.collect::<Vec<_>>(), [3]);
    run.stop().await;
}

/// The checkpoint of a file is deleted when the episode of its session is evicted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_a_checkpoint_is_read_from_its_start_when_it_grows() {
    let machine = Machine::new();
    // The messages fill several batches.
    let expected: Vec<String> = (0..1_200).map(|number| number.to_string()).collect();
    expected[..1_100].iter().for_each(|text| machine.append(OWN, text));
    let store = machine.store();
    let key = store.next_session_key().unwrap();
    let id = "11111111-0000-4000-8000-000000000000";
    let file = machine.path(OWN).display().to_string();
    let session = Session { state: State::Indexed, file, ..contract::session(key, id) };
    let source = read_to_the_end(&machine, SourceKey { session: key, number: 0 }, OWN, None);
    let writes =
        vec![Write::Session(Box::new(session)), Write::Source { source, checkpoint: None }];
    store.write(writes).done().await.unwrap();
    store.close();

    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    assert_eq!(texts(run.store.as_ref()), [""; 0], "the file did not change");
    expected[1_100..].iter().for_each(|text| machine.append(OWN, text));
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    let problems = run.engine.status().await.unwrap().problems;
    assert_eq!(problems, [""; 0]);
    assert_eq!(texts(run.stop().await.as_ref()), expected);
}

#[tokio::test]
async fn a_file_whose_reading_was_stopped_counts_as_changed_after_the_restart() {
    let machine = Machine::new();
    machine.append(OWN, "one");
    let store: Arc<dyn Store> = Arc::new(machine.store());
    let key = SourceKey { session: SessionKey(1), number: 0 };
    let source = Source {
        offset: 0,
        stamp: FileStamp::default(),
        ..read_to_the_end(&machine, key, OWN, None)
    };
    let reader = reader(&machine, &store, true);
    let parse_context = machine.settings(store).parse_context;
    let read = tokio::task::spawn_blocking(move || {
        let format = Formats::default().of_agent("claude").unwrap();
        let request = ReadRequest {
            format,
            parse_context,
            source,
            state: None,
            from_start: false,
            save: SavePolicy::Now,
        };
        reader.read(request).unwrap()
    });
    let read = read.await.unwrap();
    assert_eq!(read.new_messages, 0);
    let path = read.source.path.into();
    let file = FileObservation::of(path);
    assert_ne!(file.stamp, Some(read.source.stamp), "the file was not read to its end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_copies_of_a_replaced_file_are_read_again_although_the_daemon_died_meanwhile() {
    let machine = Machine::new();
    machine.append(OWN, "one");
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    fs::copy(machine.path(OWN), machine.path(COPY)).unwrap();
    run.announce(&[machine.path(COPY)]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref()), ["one"]);
    fs::remove_file(machine.path(OWN)).unwrap();
    machine.append(OWN, "a longer text than before");

    // The daemon dies after it has read the replaced file.
    let source = sources(store.as_ref()).remove(0);
    let reader = reader(&machine, &store, false);
    let parse_context = machine.settings(store.clone()).parse_context;
    let read = tokio::task::spawn_blocking(move || {
        let format = Formats::default().of_agent("claude").unwrap();
        let (state, from_start, save) = (None, false, SavePolicy::WhenDue);
        reader.read(ReadRequest { format, parse_context, source, state, from_start, save }).unwrap()
    });
    assert!(read.await.unwrap().was_replaced);
    assert_eq!(store.notes(NoteNamespace::Rereads).unwrap().len(), 1);
    drop(store);

    let run = machine.start();
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref()), ["a longer text than before", "one"]);
    assert_eq!(store.notes(NoteNamespace::Rereads).unwrap(), []);
}

/// Returns a reader of transcripts. `is_stopping` means that the daemon stops.
fn reader(machine: &Machine, store: &Arc<dyn Store>, is_stopping: bool) -> SourceReader {
    SourceReader {
        projects: projects(store),
        memory_use: Arc::new(MemoryUse::load(store.clone()).unwrap()),
        store: store.clone(),
        locks: RecordLocks::default(),
        crash_tracker: CrashTracker::open(&machine.path("at_work.json"), clock::now()),
        forgotten: Arc::new(Forgotten::load(store.as_ref()).unwrap()),
        stop: AtomicBool::new(is_stopping),
        bytes: AtomicU64::new(0),
    }
}

/// Returns the record of a file that is read to its end.
fn read_to_the_end(
    machine: &Machine,
    key: SourceKey,
    path: &str,
    sub_agent: Option<&str>,
) -> Source {
    let path = machine.path(path);
    let stamp = path.metadata().map_or(FileStamp::default(), |metadata| file_stamp(&metadata));
    Source {
        key,
        path: path.display().to_string(),
        sub_agent: sub_agent.map(str::to_owned),
        stamp,
        offset: stamp.length,
        tally: Tally::default(),
    }
}

/// Returns the texts of the stored messages of all files.
fn texts(store: &dyn Store) -> Vec<String> {
    let sources = sources(store);
    let messages = sources.iter().flat_map(|source| messages(store, source));
    messages.map(|message| message.text).collect()
}
