use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use super::*;
use crate::{
    model::{Message, Role, SessionKey, transcript::Origin},
    passage::PassageKind,
    rank::{HitLocation, Scope},
    testing::{TestIndex, card, day, keys, message, search, user_messages},
};

fn episode(session: u64, title: &str) -> IndexChange {
    let fields = vec![EpisodeField { kind: PassageKind::Title, text: title.to_owned() }];
    IndexChange::Episode { card: card(session), fields, branches: Vec::new() }
}

/// Builds a message of another file of the session.
fn from_source(session: u64, source: u32, text: &str) -> IndexChange {
    let origin = Origin { source, line: 1 };
    let messages = vec![Message { origin, ..message(Role::Agent, text) }];
    IndexChange::Messages { card: card(session), messages }
}

#[test]
fn a_message_is_found_at_once_and_after_it_is_written() {
    let index = TestIndex::new();
    assert_eq!(index.find("quicksilver"), [0; 0]);
    index.apply(user_messages(card(7), &["pour the quicksilver"]));
    assert_eq!(index.find("quicksilver"), [7]);
    index.apply(user_messages(card(8), &["more quicksilver please"]));
    assert_eq!(index.find("quicksilver").len(), 2);
    index.index.commit().unwrap();
    assert_eq!(index.find("quicksilver").len(), 2);
}

#[test]
fn layers_that_were_written_are_not_written_again_if_the_segments_cannot_be_opened() {
    let index = TestIndex::with([user_messages(card(7), &["pour the quicksilver"])]);
    let search = &index.index;
    let (frozen, position) = search.write().freeze(&search.tantivy).unwrap().unwrap();
    let mut writer = search.new_writer().unwrap();
    search.write_layers(&mut writer, frozen, position).unwrap();
    drop(writer);
    let error = tantivy::TantivyError::SystemError("too many open files".to_owned());
    assert!(search.note_written(Err(error), frozen, position).is_err());
    assert_eq!((search.applied(), index.find("quicksilver")), (position, vec![7]));
    search.commit().unwrap();
    assert_eq!(search.passages_of(SessionKey(7)).unwrap(), 1);
}

#[test]
fn a_hit_contains_the_location_of_the_message() {
    let index = TestIndex::with([
        user_messages(card(1), &["first", "second", "the third one is it"]),
        from_source(1, 4, "a sub-agent speaks"),
        episode(1, "a title for the list"),
    ]);
    let place = |question: &str| index.search(question).sessions[0].passages[0].place;
    assert_eq!(place("third"), HitLocation::Message { source: 0, seq: 2 });
    assert_eq!(place("sub-agent speaks"), HitLocation::Message { source: 4, seq: 0 });
    assert_eq!(place("title list"), HitLocation::Episode { field: 0 });
}

/// Checks the results of a sequence of changes, with commits after different changes.
#[test]
fn results_do_not_depend_on_when_commits_happen() {
    let changes: Vec<IndexChange> = vec![
        user_messages(card(1), &["apple", "banana"]),
        from_source(1, 1, "cherry"),
        user_messages(card(2), &["apple date"]),
        episode(1, "elderberry"),
        IndexChange::DropSource { session: SessionKey(1), source: 0 },
        user_messages(card(1), &["fig"]),
        episode(1, "grape"),
        user_messages(card(3), &["apple"]),
        IndexChange::DropSession { session: SessionKey(2) },
        user_messages(card(2), &["honeydew"]),
        IndexChange::DropEpisode { session: SessionKey(1) },
        IndexChange::DropSession { session: SessionKey(3) },
    ];
    let steps: [(&str, &[u64], &[u64]); 9] = [
        ("apple", &[1, 2], &[]),
        ("banana", &[1], &[]),
        ("cherry", &[1], &[1]),
        ("date", &[2], &[]),
        ("elderberry", &[1], &[]),
        ("fig", &[], &[1]),
        ("grape", &[], &[]),
        ("honeydew", &[], &[2]),
        ("", &[1, 2], &[1, 2]),
    ];
    let check = |index: &TestIndex, at_end: bool, commits: &[bool]| {
        for (question, midway, last) in &steps {
            let wanted: BTreeSet<u64> =
                if at_end { last.iter() } else { midway.iter() }.copied().collect();
            let found: BTreeSet<u64> = index.find(question).into_iter().collect();
            assert_eq!(found, wanted, "{question:?} with commits {commits:?}, at end: {at_end}");
        }
    };
    for pattern in [0_u32, 0xfff, 0b1, 0b10000, 0b1000_1000_1000, 0b0101_0101_0101, 0b10_0000] {
        let commits: Vec<bool> = (0..changes.len()).map(|step| pattern >> step & 1 == 1).collect();
        let index = TestIndex::new();
        for (step, change) in changes.iter().enumerate() {
            if step == 4 {
                check(&index, false, &commits);
            }
            index.apply(change.clone());
            if commits[step] {
                index.index.commit().unwrap();
            }
        }
        check(&index, true, &commits);
        index.index.commit().unwrap();
        check(&index, true, &commits);
        index.index.release_memory().unwrap();
        check(&index, true, &commits);
    }
}

#[test]
fn an_opened_index_contains_the_committed_changes_and_their_position() {
    let index =
        TestIndex::with([user_messages(card(1), &["apple"]), user_messages(card(2), &["banana"])]);
    assert_eq!(index.index.applied(), Position(0));
    assert_eq!(index.index.commit().unwrap(), Position(2));
    index.apply(user_messages(card(3), &["never written"]));
    let TestIndex { index, folder, .. } = index;
    assert_eq!(index.applied(), Position(2));
    drop(index);
    let index = SearchIndex::open(folder.path()).unwrap();
    assert_eq!(index.applied(), Position(2));
    let find = |question: &str| keys(&search(&index, question, &Scope::default(), None));
    assert_eq!(find("apple"), [1]);
    assert_eq!(find("written"), [0; 0]);
    index.pass(Position(9));
    assert_eq!(index.commit().unwrap(), Position(9));
    assert_eq!(index.commit().unwrap(), Position(9));
}

/// Covers all ways in which two commits and a crash can happen while an episode is replaced. The
/// outbox repeats the changes that were not written.
#[test]
fn a_replaced_episode_is_found_once_after_a_crash_at_any_step() {
    let changes = [
        episode(1, "apple"),
        user_messages(card(1), &["banana"]),
        episode(1, "cherry"),
        IndexChange::DropSource { session: SessionKey(1), source: 0 },
        user_messages(card(1), &["date"]),
        episode(1, "elderberry"),
    ];
    let end = changes.len();
    let deaths = (0..=end).flat_map(|first| {
        (first..=end)
            .flat_map(move |second| (second..=end).map(move |death| (first, second, death)))
    });
    for (first, second, death) in deaths {
        let index = TestIndex::new();
        for (step, change) in changes[..death].iter().enumerate() {
            if step == first || step == second {
                index.index.commit().unwrap();
            }
            index.apply(change.clone());
        }
        let TestIndex { index, folder, .. } = index;
        drop(index);
        let index = match SearchIndex::open(folder.path()) {
            // The process died before anything was written, so the index is created again.
            Err(OpenError::Unfilled) => SearchIndex::create(folder.path()).unwrap(),
            opened => opened.unwrap(),
        };
        let known = index.applied().0 as usize;
        for (step, change) in changes.iter().enumerate().skip(known) {
            index.apply(change.clone(), Position(step as u64 + 1));
        }
        for commit in [false, true] {
            if commit {
                index.commit().unwrap();
            }
            for (question, passages) in
                [("apple", 0), ("banana", 0), ("cherry", 0), ("date", 1), ("elderberry", 1)]
            {
                let found = search(&index, question, &Scope::default(), None);
                let found: usize = found.sessions.iter().map(|hit| hit.passages.len()).sum();
                let when = format!("written at {first} and {second}, died at {death}");
                assert_eq!(found, passages, "{question}, {when}, written in the end: {commit}");
            }
        }
    }
}

#[test]
fn the_latest_card_of_a_session_replaces_earlier_cards() {
    let agents = |agent: &str| Card { agent: agent.to_owned(), ..card(1) };
    let index = TestIndex::with([user_messages(agents("claude"), &["apple"])]);
    for commit in [false, true] {
        if commit {
            index.index.commit().unwrap();
        }
        assert_eq!(index.find("agent:claude"), [1]);
    }
    index.apply(user_messages(agents("codex"), &[]));
    assert_eq!((index.find("agent:claude").len(), index.find("agent:codex")), (0, vec![1]));
    index.index.commit().unwrap();
    assert_eq!((index.find("agent:claude").len(), index.find("apple agent:codex")), (0, vec![1]));
}

#[test]
fn a_long_message_is_found_by_its_end() {
    let text = format!("{} zebra", "filler words of no use ".repeat(2_000));
    let index =
        TestIndex::with([user_messages(card(1), &[&text]), user_messages(card(2), &["a zebra"])]);
    assert_eq!(index.find("zebra").len(), 2);
    assert_eq!(index.search("useless fillers").sessions[0].passages.len(), 1);
}

#[test]
fn the_backlog_is_full_after_many_changes_and_empty_after_a_commit() {
    let index = TestIndex::new();
    assert!(!index.index.backlog().is_full());
    let text = "word ".repeat(20_000);
    for key in 1..=100 {
        index.apply(user_messages(card(key), &[&text]));
    }
    assert!(index.index.backlog().is_full());
    index.index.commit().unwrap();
    assert_eq!(index.index.backlog(), Backlog { bytes: 0 });
    // Many short passages count, too.
    for key in 1..=5_000 {
        index.apply(user_messages(card(key), &["word"]));
    }
    assert!(index.index.backlog().is_full());
}

#[test]
fn searches_changes_and_commits_run_concurrently() {
    let TestIndex { index, folder: _folder, .. } = TestIndex::new();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let searches = threads.spawn(|| {
            let mut most = 0;
            while !is_done.load(Ordering::Relaxed) {
                let found = search(&index, "apple", &Scope::default(), None).total;
                assert!(found >= most, "{found} after {most}");
                most = found;
            }
        });
        let commits = threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                index.commit().unwrap();
            }
        });
        for key in 1..=200 {
            index.apply(user_messages(card(key), &["an apple a day"]), Position(key));
        }
        is_done.store(true, Ordering::Relaxed);
        searches.join().unwrap();
        commits.join().unwrap();
    });
    assert_eq!(search(&index, "apple", &Scope::default(), None).total, 200);
}

#[test]
fn entities_are_found_in_their_own_index() {
    let namespace = crate::model::Namespace::from_number(3);
    let thing =
        |number, name, text| IndexChange::entity_or_fact(number, namespace, day(3, 1), name, text);
    let index = TestIndex::with([
        thing(u64::MAX, "AuthService", "Checks tokens and issues new ones."),
        thing(5, "token bucket", "Limits how often a client may ask."),
    ]);
    assert_eq!(index.find("auth service"), [u64::MAX]);
    assert_eq!(index.find("token")[0], 5);
    index.apply(thing(5, "leaky bucket", "Limits how often a client may ask."));
    assert_eq!(index.find("token"), [u64::MAX]);
}

#[test]
fn a_folder_without_a_usable_index_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(SearchIndex::open(folder.path()), Err(OpenError::Missing(_))));
    assert!(matches!(
        SearchIndex::open(&folder.path().join("not there")),
        Err(OpenError::Missing(_))
    ));
    let _ = SearchIndex::create(folder.path()).unwrap();
    assert!(matches!(SearchIndex::open(folder.path()), Err(OpenError::Unfilled)));
    fs::write(folder.path().join("VERSION"), "graphitid search 999\n").unwrap();
    assert!(matches!(SearchIndex::open(folder.path()), Err(OpenError::OtherVersion(_))));
    fs::write(folder.path().join("VERSION"), [0xff; 100]).unwrap();
    assert!(matches!(SearchIndex::open(folder.path()), Err(OpenError::OtherVersion(_))));
}

#[test]
fn creating_an_index_removes_the_files_of_the_old_index() {
    let TestIndex { index, folder, .. } = TestIndex::with([user_messages(card(1), &["apple"])]);
    index.commit().unwrap();
    drop(index);
    fs::write(folder.path().join("meta.json"), "garbage").unwrap();
    let index = SearchIndex::create(folder.path()).unwrap();
    assert_eq!(index.applied(), Position(0));
    assert_eq!(search(&index, "apple", &Scope::default(), None).total, 0);
}

/// Empties, truncates and overwrites each file of an index, flips a bit of it, and removes it.
#[test]
fn damage_is_found_on_opening() {
    let TestIndex { index, folder, .. } = TestIndex::with([
        user_messages(card(1), &["apple banana", "cherry"]),
        user_messages(card(2), &["date"]),
    ]);
    index.commit().unwrap();
    index.apply(user_messages(card(3), &["elderberry"]), Position(3));
    index.apply(IndexChange::DropSession { session: SessionKey(2) }, Position(4));
    index.commit().unwrap();
    drop(index);
    let damages: [fn(&mut Vec<u8>); 4] = [
        Vec::clear,
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.fill(0xa5),
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x40;
        },
    ];
    let mut found = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        // Neither file affects searches.
        if name.ends_with(".lock") || name == ".managed.json" {
            continue;
        }
        let whole = fs::read(&file).unwrap();
        for damage in damages {
            let mut bytes = whole.clone();
            damage(&mut bytes);
            fs::write(&file, bytes).unwrap();
            assert!(SearchIndex::open(folder.path()).is_err(), "{name}");
            found += 1;
        }
        fs::remove_file(&file).unwrap();
        assert!(SearchIndex::open(folder.path()).is_err(), "{name} removed");
        fs::write(&file, whole).unwrap();
    }
    assert!(found > 20);
    let index = SearchIndex::open(folder.path()).unwrap();
    assert_eq!(search(&index, "apple", &Scope::default(), None).total, 1);
}

#[test]
fn a_purge_removes_the_files_of_merged_segments() {
    let index = TestIndex::new();
    for session in 1..=3 {
        index.apply(user_messages(card(session), &["apple", "banana", "cherry"]));
        index.index.commit().unwrap();
    }
    index.apply(IndexChange::DropSession { session: SessionKey(2) });
    index.index.purge().unwrap();
    assert_eq!(index.find("apple").len(), 2);
    let segments = index.index.tantivy.searchable_segment_metas().unwrap();
    let searched: BTreeSet<String> = segments.iter().map(|it| it.id().uuid_string()).collect();
    for entry in fs::read_dir(index.folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let segment = name.split_once('.').map(|(segment, _)| segment).filter(|it| it.len() == 32);
        assert!(segment.is_none_or(|segment| searched.contains(segment)), "{name}");
    }
}
