//! Tests of behaviour that only this backend has.

use super::*;
use crate::{
    GraphStore as _, Store as _, StoreHealth, contract,
    model::{Episode, EpisodeId, graph::FactKey, session::Session},
};

#[test]
fn the_store_follows_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    contract::check(&|| Box::new(SledStore::open(folder.path()).unwrap()));
    assert_eq!(blobs(folder.path()), 0);
}

#[test]
fn long_values_overwritten_often_leave_no_blob_and_no_large_page() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let session = contract::session(crate::model::SessionKey(1), "a");
    let source = contract::source_of(&session, 0);
    for round in 0..200u32 {
        let state: Vec<u8> = (0..60_000u32).map(|at| (at ^ round).wrapping_mul(97) as u8).collect();
        let checkpoint = Some(state);
        let write = Write::Source { source: source.clone(), checkpoint };
        store.write(vec![write]).wait().unwrap();
    }
    assert_eq!(blobs(folder.path()), 0);
    // 200 x 60 KB = 12 MB were written.
    assert!(store.quota().disk_bytes() < 40 << 20, "{} bytes", store.quota().disk_bytes());
}

#[test]
fn rows_that_are_written_as_they_are_change_the_heads_of_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let stored = [1, 2].map(crate::model::SessionKey);
    let sessions =
        stored.map(|key| Write::Session(Box::new(contract::session(key, &key.0.to_string()))));
    store.write(sessions.into()).wait().unwrap();
    let heads = || {
        let mut found = Vec::new();
        store.visit_session_heads(&mut |key, _| found.push(key)).unwrap();
        found
    };
    assert_eq!(heads(), stored);
    store.writer.queue_rows(vec![(keys::session(stored[0]), None)]).wait().unwrap();
    assert_eq!(heads(), stored[1..]);
}

#[test]
fn a_second_opening_is_refused_while_the_store_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let first = SledStore::open(folder.path()).unwrap();
    assert!(matches!(SledStore::open(folder.path()), Err(StoreError::Backend(_))));
    first.close();
    SledStore::open(folder.path()).unwrap();
}

#[test]
fn an_interrupted_opening_is_not_reported_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let key = store.next_session_key().unwrap();
    let session = contract::session(key, "a");
    store.write(vec![Write::Session(Box::new(session.clone()))]).wait().unwrap();
    store.close();
    for unfinished in ["snap.0000000000000001.generating", "snap.7FFFFFFFFFFFFFFF.generating"] {
        fs::write(folder.path().join(unfinished), b"half a snapsh").unwrap();
    }
    let store = SledStore::open(folder.path()).unwrap();
    assert_eq!(store.session(key).unwrap(), Some(session));
}

#[test]
fn a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    store.tree.insert(keys::meta("version"), &99u32.to_be_bytes()).unwrap();
    store.close();
    let refused = SledStore::open(folder.path()).err();
    assert_eq!(refused, Some(StoreError::TooNew("version 99, known is 1".to_owned())));
}

#[test]
fn a_table_of_a_newer_version_is_not_reported_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    store.tree.insert(b"?text", b"of a newer version").unwrap();
    let refused = store.bytes_to_clean(&Vec::new());
    assert_eq!(refused, Err(StoreError::TooNew("table `?`".to_owned())));
}

#[test]
fn a_store_of_an_older_version_gets_the_current_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    store.tree.insert(keys::meta("version"), &0u32.to_be_bytes()).unwrap();
    store.close();
    let store = SledStore::open(folder.path()).unwrap();
    let version = store.tree.get(keys::meta("version")).unwrap();
    let known = u32::from(envelope::VERSION).to_be_bytes();
    assert_eq!(
        version.as_deref(),
        Some(known.as_slice()),
        "an older program must refuse this store"
    );
}

/// Returns the number of values in separate files, which sled neither syncs nor deletes.
fn blobs(folder: &Path) -> usize {
    folder.join("blobs").read_dir().unwrap().count()
}

#[test]
fn text_above_the_limit_is_refused_until_the_store_is_reopened() {
    const LIMIT: u64 = 32 << 20;
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open_within(folder.path(), LIMIT).unwrap();
    let key = store.next_session_key().unwrap();
    let session = contract::session(key, "a");
    let source = contract::source_of(&session, 0).key;
    let text = |seq: u32| {
        let messages = (0..64).map(|at| contract::noise(seq * 64 + at, 4_000)).collect();
        vec![Write::Messages { source, messages }]
    };
    let mut seq = 0;
    let refused = loop {
        assert!(store.quota().disk_bytes() <= LIMIT, "{}", store.quota().disk_bytes());
        match store.write(text(seq)).wait() {
            Ok(_) => seq += 1,
            Err(error) => break error,
        }
    };
    assert!(refused.to_string().contains("limits.database_bytes"), "{refused}");
    assert!(matches!(&*store.quota().health().borrow(), StoreHealth::TextRefused(_)));
    // Even if there is space again, a later message must not be stored without the earlier ones.
    store.quota().set_limit(1 << 30);
    assert_eq!(store.quota().shortage(), None);
    assert_eq!(store.write(text(seq)).wait().err(), Some(refused));
    store.write(vec![Write::Session(Box::new(session.clone()))]).wait().unwrap();
    assert_eq!(store.session(key).unwrap(), Some(session));
    store.close();
    let store = SledStore::open_within(folder.path(), 1 << 30).unwrap();
    store.write(text(seq)).wait().unwrap();
    assert_eq!(store.messages(source, 0, usize::MAX).unwrap().len(), (seq as usize + 1) * 64);
}

#[test]
fn an_empty_list_reports_that_an_earlier_list_was_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let session = contract::session(store.next_session_key().unwrap(), "a");
    store.tree.insert(keys::session(session.key), b"damaged").unwrap();
    let _ = store.write(vec![Write::Episode(Box::new(contract::episode(&session, 1)))]);
    let reported = store.write(Vec::new()).wait();
    assert!(matches!(reported, Err(StoreError::Damaged { .. })), "{reported:?}");
    assert!(store.write(Vec::new()).wait().is_ok());
}

#[test]
fn a_list_that_fails_halfway_changes_no_counter() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let damaged = contract::session(store.next_session_key().unwrap(), "a");
    let new = contract::session(store.next_session_key().unwrap(), "b");
    store.tree.insert(keys::session(damaged.key), b"damaged").unwrap();
    let counters = || (store.totals(), store.outbox_end());
    let before = counters();
    let episode = Write::Episode(Box::new(contract::episode(&damaged, 1)));
    let failed = store.write(vec![Write::Session(Box::new(new)), episode]).wait();
    assert!(matches!(failed, Err(StoreError::Damaged { .. })), "{failed:?}");
    assert_eq!(counters(), before);
}

#[test]
fn sessions_after_a_damaged_session_are_visited() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let keys = [1, 2, 3].map(crate::model::SessionKey);
    for key in keys {
        let session = contract::session(key, &key.0.to_string());
        store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    }
    store.damage_session(keys[1]);
    let mut found = Vec::new();
    let visited = store.visit_sessions(&mut |session| {
        found.push(session.key);
        true
    });
    assert!(matches!(visited, Err(StoreError::Damaged { .. })), "{visited:?}");
    assert_eq!(found, [keys[0], keys[2]]);
    let mut count = 0;
    let visit = &mut |_| {
        count += 1;
        count < 2
    };
    assert_eq!(store.visit_undamaged_sessions(visit), Ok(()));
    assert_eq!(count, 2);
}

#[test]
fn counters_of_an_older_version_are_counted_again_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let session = contract::session(store.next_session_key().unwrap(), "a");
    store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    store.tree.remove(keys::meta("counters")).unwrap();
    store.tree.insert(keys::meta("sessions"), &329u64.to_be_bytes()).unwrap();
    store.tree.insert(keys::meta("episodes"), &7u64.to_be_bytes()).unwrap();
    store.close();
    let store = SledStore::open(folder.path()).unwrap();
    assert_eq!((store.totals().sessions, store.totals().episodes), (1, 0));
    assert_eq!(store.totals_by_agent()["claude"].sessions.active, 1);
    store.write(vec![Write::OutboxConsumed(0)]).wait().unwrap();
    let marked = store.tree.get(keys::meta("counters")).unwrap();
    assert_eq!(marked.as_deref(), Some(3u64.to_be_bytes().as_slice()));
}

#[test]
fn the_loss_through_a_damaged_file_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let session = contract::session(crate::model::SessionKey(1), "a");
    let source = contract::source_of(&session, 0).key;
    let store = SledStore::open(folder.path()).unwrap();
    for seq in 0..300 {
        let messages = vec![contract::message(seq, 1_000)];
        store.write(vec![Write::Messages { source, messages }]).wait().unwrap();
    }
    let end = store.outbox_end();
    store.close();
    let file = folder.path().join("db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.fill(0);
    std::fs::write(&file, bytes).unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    assert!(store.lost() > 0);
    assert_eq!(store.outbox_end() + store.lost(), end);
    // The loss is reported once: after the next write the mark is correct again.
    store.write(vec![Write::Session(Box::new(session))]).wait().unwrap();
    store.close();
    assert_eq!(SledStore::open(folder.path()).unwrap().lost(), 0);
}

#[test]
fn messages_without_a_file_record_are_deleted_with_their_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let session = contract::session(crate::model::SessionKey(1), "a");
    let source = contract::source_of(&session, 0).key;
    let messages = (0..100).map(|seq| contract::message(seq, 10)).collect();
    let writes = vec![Write::Session(Box::new(session)), Write::Messages { source, messages }];
    store.write(writes).wait().unwrap();
    store.write(vec![Write::DropSession(source.session)]).wait().unwrap();
    assert_eq!(store.messages(source, 0, 9).unwrap(), []);
    assert_eq!(store.totals().messages, 0);
}

#[test]
fn messages_of_a_damaged_block_are_not_counted_after_they_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let session = contract::session(crate::model::SessionKey(1), "a");
    let sources = [0, 1].map(|number| contract::source_of(&session, number));
    let mut writes = vec![Write::Session(Box::new(session.clone()))];
    for source in sources.clone() {
        let messages = (0..200).map(|seq| contract::message(seq, 10)).collect();
        writes.push(Write::Messages { source: source.key, messages });
        writes.push(Write::Source { source, checkpoint: None });
    }
    store.write(writes).wait().unwrap();
    let key = [keys::messages(sources[0].key, 64), vec![0, 0]].concat();
    let mut value = store.tree.get(&key).unwrap().unwrap().to_vec();
    value[9] ^= 1;
    store.tree.insert(&key, value).unwrap();
    store.write(vec![Write::DropSession(session.key)]).wait().unwrap();
    assert_eq!(store.totals().messages, 0);
}

#[test]
fn messages_behind_a_damaged_block_are_visited() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let session = crate::model::SessionKey(1);
    for number in [0, 1] {
        let messages = (0..200).map(|seq| contract::message(seq, 10)).collect();
        let source = crate::SourceKey { session, number };
        store.write(vec![Write::Messages { source, messages }]).wait().unwrap();
    }
    store.damage_block(crate::SourceKey { session, number: 0 }, 64);
    let visited = |number: Option<u32>| {
        let mut seen = Vec::new();
        let visited = store.visit_messages(session, number, &mut |message| seen.push(message.seq));
        (seen, matches!(visited, Err(StoreError::Damaged { .. })))
    };
    let left: Vec<u32> = (0..64).chain(128..200).collect();
    assert_eq!(visited(Some(0)), (left.clone(), true));
    assert_eq!(visited(Some(1)), ((0..200).collect(), false));
    assert_eq!(visited(None), (left.into_iter().chain(0..200).collect(), true));
}

#[test]
fn a_damaged_live_session_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let sessions = ["a", "b"].map(|id| contract::session(store.next_session_key().unwrap(), id));
    let writes = sessions.iter().map(|session| Write::Session(Box::new(session.clone())));
    store.write(writes.collect()).wait().unwrap();
    store.damage_session(sessions[0].key);
    assert_eq!(store.live_sessions().unwrap(), sessions[1..]);
    let ids = sessions.each_ref().map(|session| store.id_of(session.key).unwrap().unwrap());
    assert_eq!(ids, sessions.map(|session| session.id));
    assert_eq!(store.id_of(crate::model::SessionKey(99)), Ok(None));
}

#[test]
fn files_after_a_damaged_file_are_visited() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let sources = ["a", "b", "c"].map(|id| {
        contract::source_of(&contract::session(store.next_session_key().unwrap(), id), 0)
    });
    let writes =
        sources.iter().map(|source| Write::Source { source: source.clone(), checkpoint: None });
    store.write(writes.collect()).wait().unwrap();
    store.damage_source(sources[1].key);
    let mut visited = Vec::new();
    let result = store.visit_sources(&mut |source| {
        visited.push(source.key);
        true
    });
    assert!(matches!(result, Err(StoreError::Damaged { .. })), "{result:?}");
    assert_eq!(visited, [sources[0].key, sources[2].key]);
}

#[test]
fn an_episode_after_a_damaged_episode_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let episodes = [1, 2].map(|ended| {
        let mut session = contract::session(store.next_session_key().unwrap(), "a");
        session.id.id = ended.to_string();
        contract::episode(&session, ended)
    });
    let writes = episodes.iter().map(|episode| Write::Episode(Box::new(episode.clone())));
    store.write(writes.collect()).wait().unwrap();
    store.damage_episode(episodes[1].id);
    assert_eq!(store.newest_episodes(None, None, 9).unwrap(), episodes[..1]);
}

/// Makes a value of one piece incomplete.
fn remove_last_piece(store: &SledStore, key: &keys::Key) {
    for piece in store.tree.scan_prefix(key).keys() {
        store.tree.insert(piece.unwrap(), &[0]).unwrap();
    }
}

#[test]
fn a_damaged_episode_of_another_session_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let [(one, _), (_, episode)] = ["one", "two"].map(|id| {
        let mut session = contract::session(store.next_session_key().unwrap(), id);
        store.write(vec![Write::Session(Box::new(session.clone()))]).wait().unwrap();
        let episode = contract::episode(&session, i64::from(id.as_bytes()[0]));
        contract::index_with_statements(&store, &mut session, &episode, contract::statements(1));
        (session.key, episode.id)
    });
    store.damage_session(one);
    store.damage_episode(episode);
    store.write(vec![Write::DropSession(one)]).wait().unwrap();
    assert_eq!(store.totals().episodes, 1);
    assert!(matches!(store.episode(episode), Err(StoreError::Damaged { .. })));
}

#[test]
fn an_episode_with_damaged_statements_can_be_deleted_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let mut session = contract::session(store.next_session_key().unwrap(), "a");
    store.write(vec![Write::Session(Box::new(session.clone()))]).wait().unwrap();
    let fact = contract::statements(1).claims[0].key;
    let damages: [fn(FactKey, EpisodeId) -> keys::Key; 3] = [
        |_, episode| keys::episode(episode),
        |_, episode| keys::episode_index(episode),
        |fact, episode| keys::claims(fact, episode),
    ];
    let has_rows = |episode: EpisodeId| {
        let rows = store.tree.iter().map(|row| row.unwrap().0);
        let mut rows =
            rows.filter(|key| ![keys::table::META, keys::table::OUTBOX].contains(&key[0]));
        rows.any(|key| key.windows(16).any(|part| part == episode.0.as_bytes()))
    };
    for (at, damaged) in damages.into_iter().enumerate() {
        let [first, second] = [1, 2].map(|ended| contract::episode(&session, ended));
        let index = |session: &mut Session, episode: &Episode| {
            contract::index_with_statements(&store, session, episode, contract::statements(1));
        };
        index(&mut session, &first);
        // The episode is written again with the same id, and then replaced by another one.
        for episode in [&first, &second] {
            store.damage(&damaged(fact, first.id));
            index(&mut session, episode);
            assert_eq!(store.episode(episode.id).unwrap().as_ref(), Some(episode), "{at}");
            assert!(!store.entities_and_facts_of(episode.id).unwrap().is_empty(), "{at}");
            assert_eq!(store.totals().episodes, 1, "{at}");
        }
        assert!(!has_rows(first.id), "{at}");
        if at > 0 {
            store.damage(&damaged(fact, second.id));
        }
        store.write(vec![Write::DropEpisode(second.id)]).wait().unwrap();
        assert!(!has_rows(second.id), "{at}");
        assert_eq!(store.totals().episodes, 0, "{at}");
    }
}

#[test]
fn a_session_with_damaged_records_is_deleted_completely() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let add = |id: &str, age: i64| {
        let mut session = contract::session(store.next_session_key().unwrap(), id);
        let source = contract::source_of(&session, 0);
        let messages = (0..200).map(|seq| contract::message(seq, 10)).collect();
        let writes = vec![
            Write::Session(Box::new(session.clone())),
            Write::Messages { source: source.key, messages },
            Write::Source { source, checkpoint: Some(vec![7; 9_000]) },
            Write::ForkKeys { session: session.key, records: vec![[7; 16]] },
        ];
        store.write(writes).wait().unwrap();
        let episode = contract::episode(&session, age);
        let statements = contract::statements(age);
        contract::index_with_statements(&store, &mut session, &episode, statements);
        (session.key, episode)
    };
    let rows = || -> Vec<Vec<u8>> {
        let keys = store.tree.iter().keys().map(|key| key.unwrap().to_vec());
        keys.filter(|key| ![keys::table::META, keys::table::OUTBOX].contains(&key[0])).collect()
    };
    add("other", 1);
    let (before, totals) = (rows(), store.totals());
    for at in 0..8 {
        let id = format!("session-{at}");
        let (session, episode) = add(&id, 2);
        let fact = contract::statements(2).claims[0].key;
        let damaged = [
            vec![keys::session(session)],
            vec![keys::sources_of(session)],
            vec![keys::checkpoints_of_session(session)],
            vec![keys::episode(episode.id)],
            vec![keys::episode_index(episode.id)],
            vec![keys::claims(fact, episode.id)],
            vec![keys::session(session), keys::episode(episode.id)],
            vec![keys::session(session)],
        ];
        damaged[at].iter().for_each(|key| store.damage(key));
        if at == 7 {
            remove_last_piece(&store, &keys::episode(episode.id));
        }
        store.write(vec![Write::DropSession(session)]).wait().unwrap();
        assert_eq!(rows(), before, "{at}");
        assert_eq!(store.totals(), totals, "{at}");
    }
}

#[test]
fn the_latest_sessions_of_an_agent_are_known_after_later_sessions_were_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let sessions: Vec<_> = (0..10)
        .map(|number| {
            let key = store.next_session_key().unwrap();
            let last_activity = crate::model::Timestamp::from_seconds(number);
            crate::model::session::Session {
                last_activity,
                ..contract::session(key, &number.to_string())
            }
        })
        .collect();
    let put = |session: &crate::model::session::Session| Write::Session(Box::new(session.clone()));
    store.write(sessions.iter().map(put).collect()).wait().unwrap();
    let mut writes: Vec<Write> =
        sessions[7..].iter().map(|session| Write::DropSession(session.key)).collect();
    writes.push(put(&sessions[0]));
    store.write(writes).wait().unwrap();
    let latest = &store.totals_by_agent()["claude"].latest;
    assert_eq!(latest.last().map(|(_, key)| *key), Some(sessions[6].key));
}
