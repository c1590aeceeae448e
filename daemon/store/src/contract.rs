//! The rules that every backend must follow. Each backend calls [`check`] in its tests.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::{
    AgentTotals, FileStamp, Note, NoteNamespace, OutboxChange, OutboxEntry, Reworded, SessionHead,
    Source, SourceKey, Store, Tally, Totals, TotalsByAgent, Write,
    graph::{ClaimPlace, ClaimRow, MentionRow, RenameEnd},
    model::{
        ActivityVector, CloseReason, ContentHash, EnhancedSessionSummary, Episode, EpisodeId,
        Message, Project, Role, SessionId, SessionKey, Timestamp,
        episode::{Author, MEMORY},
        graph::{
            Certainty, Claim, EntityId, EntityKind, EntityOrFact, FactKey, Mark, Mention,
            Observation, Relation, Rename, Stance, Statements, Subject, Watch,
        },
        session::{Content, Indexed, Session, State},
        summary::Outcome,
        transcript::Origin,
        vector::{Owner, Packed, Vectors},
    },
};

/// A function that opens the same store again.
pub type Reopen<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// Checks every rule with the store that `reopen` opens. The store must be empty at first.
pub fn check(reopen: Reopen<'_>) {
    totals_equal_a_recount(reopen().as_ref());
    sessions_are_found_by_key_id_and_prefix(reopen().as_ref());
    a_read_of_a_queued_session_returns_its_latest_write(reopen().as_ref());
    a_live_session_is_listed_until_it_is_indexed(reopen().as_ref());
    messages_are_read_from_any_number(reopen().as_ref());
    messages_written_again_replace_the_later_messages(reopen().as_ref());
    reworded_messages_have_their_new_text(reopen().as_ref());
    clearing_a_source_removes_its_messages_and_checkpoint(reopen().as_ref());
    a_path_is_registered_for_one_file(reopen().as_ref());
    the_path_of_a_dropped_source_can_be_registered_again(reopen().as_ref());
    messages_are_added_after_evicted_text(reopen().as_ref());
    a_checkpoint_of_any_size_survives(reopen);
    a_new_episode_replaces_the_old_episode(reopen().as_ref());
    an_episode_written_again_is_stored_once(reopen().as_ref());
    episodes_are_listed_latest_session_first(reopen().as_ref());
    a_fork_key_returns_all_its_sessions(reopen().as_ref());
    all_data_of_a_dropped_session_are_deleted(reopen().as_ref());
    statements_are_stored_and_deleted_with_their_episode(reopen().as_ref());
    statements_are_read_by_entity_or_fact_kind_project_and_time(reopen().as_ref());
    the_outbox_is_ordered_and_emptied(reopen().as_ref());
    notes_are_read_by_name_and_deleted_with_their_session(reopen);
    vectors_are_deleted_with_their_owner(reopen().as_ref());
    counters_survive(reopen);
    totals_of_agents_equal_a_recount(reopen);
}

fn sessions_are_found_by_key_id_and_prefix(store: &dyn Store) {
    let first = new_session(store, "aaaa-1");
    let second = new_session(store, "aaab-2");
    assert_eq!(store.session(first.key).unwrap().as_ref(), Some(&first));
    assert_eq!(store.find_session(&second.id).unwrap(), Some(second.key));
    let unknown = SessionId { agent: "codex".to_owned(), id: "aaaa-1".to_owned() };
    assert_eq!(store.find_session(&unknown).unwrap(), None);
    assert_eq!(store.sessions_with_prefix("aaa", 9).unwrap(), [first.key, second.key]);
    assert_eq!(store.sessions_with_prefix("aaab", 9).unwrap(), [second.key]);
    assert_eq!(store.sessions_with_prefix("aaa", 1).unwrap(), [first.key]);
    assert_eq!(store.sessions_with_prefix("aaa", 0).unwrap(), []);
    assert_eq!(store.sessions_with_prefix("", 9).unwrap(), [first.key, second.key]);
    let of_other_agents = ["a", "claude-2", "z"].map(|agent| {
        let id = SessionId { agent: agent.to_owned(), id: "aaac-3".to_owned() };
        let key = store.next_session_key().unwrap();
        let session = Session { key, id, ..session(key, "") };
        write(store, vec![Write::Session(Box::new(session.clone()))]);
        session
    });
    let mut found = store.sessions_with_prefix("aaac", 9).unwrap();
    found.sort_unstable();
    assert_eq!(found, of_other_agents.each_ref().map(|session| session.key));
    assert_eq!(store.sessions_with_prefix("aaa", 9).unwrap().len(), 5);
    assert_eq!(store.sessions_with_prefix("aaa", 4).unwrap().len(), 4);
    forget(store, &of_other_agents);
    let mut visited = Vec::new();
    let visit = &mut |session: Session| {
        visited.push(session.key);
        true
    };
    store.visit_sessions(visit).unwrap();
    assert_eq!(visited, [first.key, second.key]);
    forget(store, &[first, second]);
}

fn a_read_of_a_queued_session_returns_its_latest_write(store: &dyn Store) {
    let mut session = new_session(store, "queued");
    for messages in 0..200 {
        session.content = Some(Content { hash: ContentHash([1; 32]), messages });
        // The read must return the queued session before the write is applied.
        let _ = store.write(vec![Write::Session(Box::new(session.clone()))]);
        assert_eq!(store.session(session.key).unwrap().as_ref(), Some(&session));
    }
    forget(store, &[session]);
}

fn a_live_session_is_listed_until_it_is_indexed(store: &dyn Store) {
    let mut session = new_session(store, "live");
    assert_eq!(store.live_sessions().unwrap(), [session.clone()]);
    session.state = State::Indexed;
    write(store, vec![Write::Session(Box::new(session.clone()))]);
    assert_eq!(store.live_sessions().unwrap(), []);
    forget(store, &[session]);
}

fn messages_are_read_from_any_number(store: &dyn Store) {
    let session = new_session(store, "messages");
    let source = SourceKey { session: session.key, number: 0 };
    let other = SourceKey { session: session.key, number: 1 };
    let messages: Vec<Message> = (0..300).map(|seq| message(seq, 200)).collect();
    write(store, vec![messages_of(source, &messages[..120]), messages_of(other, &messages[..1])]);
    write(store, vec![messages_of(source, &messages[120..])]);
    for (from, limit) in [(0, 1_000), (0, 1), (63, 5), (64, 200), (119, 2), (299, 9), (300, 9)] {
        let end = messages.len().min(from + limit);
        let found = store.messages(source, u32::try_from(from).unwrap(), limit).unwrap();
        assert_eq!(found, messages[from..end], "from {from}, {limit}");
    }
    let long = [message(300, 900_000)];
    write(store, vec![messages_of(source, &long)]);
    assert_eq!(store.messages(source, 300, 1).unwrap(), long);
    forget(store, &[session]);
}

fn messages_written_again_replace_the_later_messages(store: &dyn Store) {
    let session = new_session(store, "again");
    let source = SourceKey { session: session.key, number: 0 };
    let messages: Vec<Message> = (0..100).map(|seq| message(seq, 40)).collect();
    write(store, vec![messages_of(source, &messages[..50])]);
    write(store, vec![messages_of(source, &messages[50..])]);
    let shorter = message(50, 7);
    write(store, vec![messages_of(source, std::slice::from_ref(&shorter))]);
    let mut wanted = messages[..50].to_vec();
    wanted.push(shorter);
    assert_eq!(store.messages(source, 0, 999).unwrap(), wanted);
    let last = store.outbox(0, 999).unwrap().pop().unwrap().what;
    assert_eq!(last, OutboxChange::Messages { source, from: 50, count: 1, overwrites: true });
    forget(store, &[session]);
}

fn reworded_messages_have_their_new_text(store: &dyn Store) {
    let session = new_session(store, "words");
    let source = SourceKey { session: session.key, number: 0 };
    let mut messages: Vec<Message> = (0..150).map(|seq| message(seq, 200)).collect();
    write(store, vec![messages_of(source, &messages)]);
    let total = store.totals().messages;
    let mut words = Vec::new();
    for (seq, length) in [(70u32, 9_000), (3, 10), (71, 0)] {
        let message = &mut messages[seq as usize];
        let is = "w".repeat(length);
        words.push(Reworded { seq, was: std::mem::replace(&mut message.text, is.clone()), is });
    }
    for (seq, was) in [(5, "something else"), (150, "nothing")] {
        words.push(Reworded { seq, was: was.to_owned(), is: "x".to_owned() });
    }
    write(store, vec![Write::Reword { source, words: words.clone() }]);
    assert_eq!(store.messages(source, 0, 999).unwrap(), messages);
    assert_eq!(store.totals().messages, total);
    let end = store.outbox_end();
    let last = store.outbox(end - 1, 9).unwrap().pop().unwrap().what;
    assert_eq!(last, OutboxChange::Messages { source, from: 3, count: 69, overwrites: true });
    // The same write changes nothing, because no message has its old text any more.
    write(store, vec![Write::Reword { source, words }]);
    assert_eq!(store.outbox_end(), end);
    forget(store, &[session]);
}

fn clearing_a_source_removes_its_messages_and_checkpoint(store: &dyn Store) {
    let session = new_session(store, "cleared");
    let source = source_of(&session, 0);
    let before = store.totals().messages;
    write(
        store,
        vec![
            Write::Source { source: source.clone(), checkpoint: Some(vec![1, 2, 3]) },
            messages_of(source.key, &[message(0, 10), message(1, 10)]),
        ],
    );
    write(store, vec![Write::ClearSource(source.key), messages_of(source.key, &[message(0, 5)])]);
    assert_eq!(store.messages(source.key, 0, 9).unwrap(), [message(0, 5)]);
    assert_eq!(store.checkpoint(source.key).unwrap(), None);
    assert_eq!(store.source_at(&source.path).unwrap(), Some(source));
    assert_eq!(store.totals().messages, before + 1);
    forget(store, &[session]);
}

fn a_path_is_registered_for_one_file(store: &dyn Store) {
    let session = new_session(store, "path");
    let first = Source { sub_agent: None, ..source_of(&session, 0) };
    let second = Source { path: first.path.clone(), ..source_of(&session, 1) };
    let write_of = |source: &Source| Write::Source { source: source.clone(), checkpoint: None };
    // Both writes in one list, then the second write in a later list.
    write(store, vec![write_of(&first), write_of(&second)]);
    write(store, vec![write_of(&second)]);
    assert_eq!(store.sources_of(session.key).unwrap(), std::slice::from_ref(&first));
    assert_eq!(store.source_at(&first.path).unwrap(), Some(first.clone()));
    let further = Source { offset: 9_999, ..first };
    write(store, vec![write_of(&further)]);
    assert_eq!(store.source_at(&further.path).unwrap(), Some(further));
    forget(store, &[session]);
}

fn the_path_of_a_dropped_source_can_be_registered_again(store: &dyn Store) {
    let session = new_session(store, "dropped-source");
    let first = source_of(&session, 1);
    let second = Source { path: first.path.clone(), ..source_of(&session, 2) };
    let write_of = |source: &Source| Write::Source { source: source.clone(), checkpoint: None };
    let before = store.totals().messages;
    write(store, vec![write_of(&first), messages_of(first.key, &[message(0, 10), message(1, 10)])]);
    write(store, vec![Write::DropSource(first.key), write_of(&second)]);
    assert_eq!(store.sources_of(session.key).unwrap(), std::slice::from_ref(&second));
    assert_eq!(store.source_at(&first.path).unwrap(), Some(second));
    assert_eq!(store.messages(first.key, 0, 9).unwrap(), []);
    assert_eq!(store.totals().messages, before);
    let last = store.outbox(0, 9_999).unwrap().pop().unwrap().what;
    assert_eq!(last, OutboxChange::SourceCleared(first.key));
    forget(store, &[session]);
}

/// Checks the totals after a list of writes in which a session occurs several times.
fn totals_equal_a_recount(store: &dyn Store) {
    let sessions = ["one", "two"].map(|id| session(store.next_session_key().unwrap(), id));
    let mut writes = Vec::new();
    for session in &sessions {
        for number in 0..3 {
            let source = source_of(session, number);
            writes.push(Write::Session(Box::new(session.clone())));
            writes.push(Write::Source { source: source.clone(), checkpoint: None });
            writes.push(messages_of(source.key, &[message(0, 10), message(1, 10)]));
        }
    }
    write(store, writes);
    check_totals(store);
    let mut indexed = sessions[0].clone();
    let made = episode(&indexed, 10);
    index(store, &mut indexed, &made);
    check_totals(store);
    let key = source_of(&indexed, 0).key;
    write(store, vec![Write::ClearSource(key), messages_of(key, &[message(0, 5)])]);
    check_totals(store);
    forget(store, &sessions);
    check_totals(store);
}

fn check_totals(store: &dyn Store) {
    let mut recount = Totals::default();
    let (mut sources, mut sessions) = (Vec::new(), Vec::new());
    let visit = &mut |session: Session| {
        recount.sessions += 1;
        sources.extend(store.sources_of(session.key).unwrap());
        sessions.push(session);
        true
    };
    store.visit_sessions(visit).unwrap();
    check_heads(store, &sessions);
    let messages = sources.iter().map(|source| store.messages(source.key, 0, 9_999).unwrap().len());
    recount.messages = messages.sum::<usize>() as u64;
    recount.episodes = store.newest_episodes(None, None, 9_999).unwrap().len() as u64;
    assert_eq!(store.totals(), recount);
    check_agent_totals(store, &sessions);
}

fn check_heads(store: &dyn Store, sessions: &[Session]) {
    let mut heads = Vec::new();
    store.visit_session_heads(&mut |key, head| heads.push((key, head.clone()))).unwrap();
    let tracked = sessions.iter().filter(|session| session.id.agent != MEMORY);
    let expected: Vec<_> =
        tracked.map(|session| (session.key, SessionHead::from(session))).collect();
    assert_eq!(heads, expected);
}

fn totals_of_agents_equal_a_recount(reopen: Reopen<'_>) {
    let store = reopen();
    let of_agent = |agent: &str, id: &str, state: State| {
        let key = store.next_session_key().unwrap();
        let id = SessionId { agent: agent.to_owned(), id: id.to_owned() };
        Session { id, state, ..session(key, "") }
    };
    let mut sessions = vec![
        of_agent("claude", "t-1", State::Active),
        of_agent("codex", "t-2", State::Inactive),
        of_agent("codex", "t-3", State::Indexed),
        of_agent(MEMORY, "t-4", State::Indexed),
    ];
    sessions[2].content = None;
    for session in &sessions[..3] {
        let sources = [source_of(session, 0), source_of(session, 1)];
        let sources = sources.map(|source| Write::Source { source, checkpoint: None });
        // A session that occurs twice in one list is counted once.
        let twice = [session, session].map(|session| Write::Session(Box::new(session.clone())));
        write(store.as_ref(), twice.into_iter().chain(sources).collect());
    }
    write(store.as_ref(), vec![Write::Session(Box::new(sessions[3].clone()))]);
    check_agent_totals(store.as_ref(), &sessions[..3]);
    // The counts of a file change with each read of it.
    let mut read = source_of(&sessions[0], 0);
    read.tally.read += 40;
    read.tally.skipped = [("progress".to_owned(), 3)].into();
    let mut ended = sessions[1].clone();
    ended.state = State::Indexed;
    let dropped = source_of(&sessions[1], 1).key;
    let writes = vec![
        Write::Source { source: read, checkpoint: None },
        Write::Session(Box::new(ended.clone())),
        Write::DropSource(dropped),
    ];
    write(store.as_ref(), writes);
    sessions[1] = ended;
    check_agent_totals(store.as_ref(), &sessions[..3]);
    let totals = store.totals_by_agent();
    drop(store);
    let store = reopen();
    assert_eq!(store.totals_by_agent(), totals);
    forget(store.as_ref(), &sessions);
    check_agent_totals(store.as_ref(), &[]);
}

/// Compares the totals of agents with `sessions`, which must be all sessions except the added
/// memories.
fn check_agent_totals(store: &dyn Store, sessions: &[Session]) {
    let mut recount = TotalsByAgent::new();
    for session in sessions {
        let totals = recount.entry(session.id.agent.clone()).or_default();
        totals.add_session(session);
        for source in store.sources_of(session.key).unwrap() {
            totals.tally.add(&source.tally);
        }
    }
    let mut totals = store.totals_by_agent();
    totals.retain(|_, totals| *totals != AgentTotals::default());
    assert_eq!(totals, recount);
}

fn messages_are_added_after_evicted_text(store: &dyn Store) {
    let session = new_session(store, "let-go");
    let source = source_of(&session, 0);
    let before = store.totals().messages;
    let messages: Vec<Message> = (0..100).map(|seq| message(seq, 300)).collect();
    let checkpoint = Some(vec![1, 2, 3]);
    write(
        store,
        vec![
            messages_of(source.key, &messages),
            Write::Source { source: source.clone(), checkpoint: checkpoint.clone() },
        ],
    );
    let (text, content) =
        (store.quota().text_bytes(session.key).unwrap(), store.quota().content_bytes().unwrap());
    assert!(text > 0 && text < content);
    write(store, vec![Write::DropText(source.key)]);
    assert_eq!(store.messages(source.key, 0, 999).unwrap(), []);
    assert_eq!(store.quota().text_bytes(session.key).unwrap(), 0);
    assert!(store.quota().content_bytes().unwrap() < content - text / 2);
    assert_eq!(store.totals().messages, before);
    assert_eq!(store.checkpoint(source.key).unwrap(), checkpoint);
    assert_eq!(store.sources_of(session.key).unwrap(), std::slice::from_ref(&source));
    let last = store.outbox(0, 9_999).unwrap().pop().unwrap().what;
    assert_eq!(last, OutboxChange::SourceCleared(source.key));
    write(store, vec![messages_of(source.key, &[message(100, 10)])]);
    assert_eq!(store.messages(source.key, 0, 999).unwrap(), [message(100, 10)]);
    forget(store, &[session]);
}

fn a_checkpoint_of_any_size_survives(reopen: Reopen<'_>) {
    let store = reopen();
    let session = new_session(store.as_ref(), "checkpoint");
    let source = source_of(&session, 3);
    for size in [100_000, 10, 0, 4_000, 8_000] {
        let bytes: Vec<u8> = (0..size).map(|at| (at * 7919 % 251) as u8).collect();
        let checkpoint = Some(bytes.clone());
        write(store.as_ref(), vec![Write::Source { source: source.clone(), checkpoint }]);
        assert_eq!(store.checkpoint(source.key).unwrap(), Some(bytes));
    }
    drop(store);
    let store = reopen();
    write(store.as_ref(), vec![Write::Source { source: source.clone(), checkpoint: None }]);
    assert_eq!(store.checkpoint(source.key).unwrap().map(|bytes| bytes.len()), Some(8_000));
    assert_eq!(store.source_at(&source.path).unwrap(), Some(source.clone()));
    assert_eq!(store.sources_of(session.key).unwrap(), [source]);
    assert_eq!(store.source_at("/elsewhere").unwrap(), None);
    forget(store.as_ref(), &[session]);
}

fn a_new_episode_replaces_the_old_episode(store: &dyn Store) {
    let mut session = new_session(store, "episode");
    let old = episode(&session, 10);
    index(store, &mut session, &old);
    assert_eq!(store.episode(old.id).unwrap(), Some(old.clone()));
    let new = episode(&session, 20);
    index(store, &mut session, &new);
    assert_eq!(store.episode(old.id).unwrap(), None);
    assert_eq!(store.episode(new.id).unwrap(), Some(new.clone()));
    assert_eq!(store.totals().episodes, 1);
    let out: Vec<OutboxChange> = store.outbox(0, 99).unwrap().into_iter().map(|o| o.what).collect();
    let tail = [
        OutboxChange::EpisodeDropped { id: old.id, session: session.key },
        OutboxChange::Episode(new.id),
    ];
    assert_eq!(out[out.len() - 2..], tail);
    assert_eq!(out[0], OutboxChange::Session(session.key));
    forget(store, &[session]);
    assert_eq!(store.totals().episodes, 0);
}

fn an_episode_written_again_is_stored_once(store: &dyn Store) {
    let mut session = new_session(store, "rewritten");
    let mut first = episode(&session, 1_000);
    first.summary.objective = "long ".repeat(3_000);
    index(store, &mut session, &first);
    let total = store.totals().episodes;
    let mut again = first.clone();
    again.summary.objective = "short".to_owned();
    again.author = Author::Model("some-model".to_owned());
    write(store, vec![Write::Episode(Box::new(again.clone()))]);
    assert_eq!(store.episode(first.id).unwrap(), Some(again.clone()));
    assert_eq!(store.totals().episodes, total);
    let listed = store.newest_episodes(Some(first.project.namespace()), None, 9).unwrap();
    assert_eq!(listed.iter().filter(|one| one.id == first.id).count(), 1);
    let last = store.outbox(0, 9_999).unwrap().pop().unwrap().what;
    assert_eq!(last, OutboxChange::Episode(first.id));
    forget(store, &[session]);
}

fn episodes_are_listed_latest_session_first(store: &dyn Store) {
    let mut sessions = Vec::new();
    let mut ids = Vec::new();
    for (name, project, ended) in [("p", "/a", 30), ("q", "/b", 10), ("r", "/a", 20)] {
        let mut session = new_session(store, name);
        session.project = Some(Project::new(project));
        let episode = episode(&session, ended);
        index(store, &mut session, &episode);
        ids.push(episode.id);
        sessions.push(session);
    }
    let listed = |project: Option<&str>, before, limit| -> Vec<EpisodeId> {
        let namespace = project.map(|path| Project::new(path).namespace());
        let found = store.newest_episodes(namespace, before, limit).unwrap();
        found.into_iter().map(|episode| episode.id).collect()
    };
    assert_eq!(listed(None, None, 9), [ids[0], ids[2], ids[1]]);
    assert_eq!(listed(None, None, 2), [ids[0], ids[2]]);
    assert_eq!(listed(Some("/a"), None, 9), [ids[0], ids[2]]);
    assert_eq!(listed(Some("/a"), Some(ids[0]), 9), [ids[2]]);
    assert_eq!(listed(None, Some(ids[2]), 9), [ids[1]]);
    forget(store, &sessions);
}

fn a_fork_key_returns_all_its_sessions(store: &dyn Store) {
    let (one, other) = (new_session(store, "original"), new_session(store, "fork"));
    let fork_keys = |session: &Session, records: &[u8]| Write::ForkKeys {
        session: session.key,
        records: records.iter().map(|byte| [*byte; 16]).collect(),
    };
    write(store, vec![fork_keys(&one, &[1, 2]), fork_keys(&other, &[2, 3])]);
    // A repeated fork key is stored once.
    write(store, vec![fork_keys(&other, &[3])]);
    let with = |byte: u8| store.sessions_with_fork_key([byte; 16]).unwrap();
    assert_eq!(with(1), [one.key]);
    assert_eq!(with(2), [one.key, other.key]);
    assert_eq!((with(3), with(4)), (vec![other.key], vec![]));
    assert_eq!(store.fork_keys_of(other.key).unwrap(), [[2; 16], [3; 16]]);
    forget(store, &[one, other]);
}

fn all_data_of_a_dropped_session_are_deleted(store: &dyn Store) {
    let before = store.totals();
    let mut session = new_session(store, "gone");
    let source = source_of(&session, 0);
    write(
        store,
        vec![
            Write::Source { source: source.clone(), checkpoint: Some(vec![9; 9_000]) },
            messages_of(source.key, &[message(0, 10)]),
            Write::ForkKeys { session: session.key, records: vec![[7; 16]] },
            Write::Note(Note {
                namespace: NoteNamespace::Forks,
                name: session.key.0.to_be_bytes().to_vec(),
                content: Some(b"of another".to_vec()),
            }),
            Write::note(NoteNamespace::KnownSecrets, &session.key.0.to_be_bytes(), &"hash"),
        ],
    );
    let episode = episode(&session, 5);
    index(store, &mut session, &episode);
    write(store, vec![Write::DropSession(session.key)]);
    assert_eq!(store.sessions_with_fork_key([7; 16]).unwrap(), []);
    assert_eq!(store.fork_keys_of(session.key).unwrap(), [] as [[u8; 16]; 0]);
    assert_eq!(
        store.note(NoteNamespace::KnownSecrets, &session.key.0.to_be_bytes()).unwrap(),
        None
    );
    assert_eq!(store.note(NoteNamespace::Forks, &session.key.0.to_be_bytes()).unwrap(), None);
    assert_eq!(store.session(session.key).unwrap(), None);
    assert_eq!(store.find_session(&session.id).unwrap(), None);
    assert_eq!(store.sources_of(session.key).unwrap(), []);
    assert_eq!(store.source_at(&source.path).unwrap(), None);
    assert_eq!(store.checkpoint(source.key).unwrap(), None);
    assert_eq!(store.messages(source.key, 0, 9).unwrap(), []);
    assert_eq!(store.episode(episode.id).unwrap(), None);
    assert_eq!(store.totals(), before);
    assert_ne!(store.next_session_key().unwrap(), session.key);
}

fn statements_are_stored_and_deleted_with_their_episode(store: &dyn Store) {
    let mut session = new_session(store, "says");
    let old = episode(&session, 10);
    index_with_statements(store, &mut session, &old, statements(10));
    let wanted = statements(10);
    assert_eq!(store.statements_of(old.id).unwrap(), wanted);
    let claim = &wanted.claims[0];
    let facts = |store: &dyn Store| -> Vec<Claim> {
        store.claims(claim.key).unwrap().into_iter().map(|attributed| attributed.what).collect()
    };
    assert_eq!(facts(store), std::slice::from_ref(claim));
    let marks = store.marks(wanted.marks[0].subject, Timestamp::MIN).unwrap();
    let marks: Vec<Mark> = marks.into_iter().map(|attributed| attributed.what).collect();
    assert_eq!(marks, wanted.marks);
    let mentions = store.mentions(claim.source).unwrap();
    assert_eq!((mentions[0].episode, mentions[0].created_at), (old.id, wanted.created_at));
    assert_eq!(mentions[0].what, wanted.mentions[0]);
    assert_eq!(store.renames(wanted.renames[0].from, RenameEnd::From).unwrap(), wanted.renames);
    assert_eq!(store.renames(wanted.renames[0].to, RenameEnd::To).unwrap(), wanted.renames);
    let entities_and_facts = vec![
        EntityOrFact::Entity(claim.source),
        EntityOrFact::Entity(claim.target),
        EntityOrFact::Fact(claim.key),
    ];
    let mut found = store.entities_and_facts_of(old.id).unwrap();
    found.sort_unstable();
    assert_eq!(found, entities_and_facts);
    let out = store.outbox(0, 99).unwrap();
    assert!(
        out.iter()
            .any(|entry| entry.what == OutboxChange::EntitiesAndFacts(entities_and_facts.clone())),
        "{out:?}"
    );

    // The new episode has no statements. The statements of the old episode are removed.
    let new = episode(&session, 20);
    index_with_statements(store, &mut session, &new, Statements::default());
    assert_eq!(facts(store), []);
    assert_eq!(store.marks(wanted.marks[0].subject, Timestamp::MIN).unwrap(), []);
    let out = store.outbox(0, 99).unwrap().pop().unwrap();
    assert_eq!(out.what, OutboxChange::EntitiesAndFacts(entities_and_facts));

    // The new episode gets statements. Then the episode is deleted with its session.
    let again = Write::Statements { episode: new.id, statements: Box::new(statements(20)) };
    write(store, vec![again]);
    assert_eq!(facts(store).len(), 1);
    forget(store, &[session]);
    let mut left = 0;
    let count = &mut |_| {
        left += 1;
        true
    };
    store.visit_entities_and_facts(count).unwrap();
    assert_eq!((left, store.mentions(claim.source).unwrap().len()), (0, 0));
    assert_eq!(store.renames(wanted.renames[0].from, RenameEnd::From).unwrap(), []);
}

fn vectors_are_deleted_with_their_owner(store: &dyn Store) {
    let kept = |store: &dyn Store| {
        let mut kept = Vec::new();
        let visit = &mut |vectors: Vectors| {
            kept.push(vectors);
            true
        };
        store.visit_vectors(visit).unwrap();
        kept
    };
    let put = |vectors: &Vectors| write(store, vec![Write::Vectors(Box::new(vectors.clone()))]);
    let mut session = new_session(store, "meant");
    let old = episode(&session, 10);
    index_with_statements(store, &mut session, &old, statements(10));
    let wanted = &statements(10).claims[0];
    let owners = [
        Owner::Session(session.key),
        Owner::EntityOrFact(EntityOrFact::Entity(wanted.source)),
        Owner::EntityOrFact(EntityOrFact::Fact(wanted.key)),
    ];
    // These vectors are so long that they are stored in several pieces.
    let made = owners.map(|owner| {
        let episode = matches!(owner, Owner::Session(_)).then_some(old.id);
        Vectors { episode, ..vectors(owner, 30) }
    });
    made.iter().for_each(put);
    assert_eq!(kept(store), made);
    put(&Vectors { episode: Some(old.id), ..vectors(owners[0], 1) });
    assert_eq!(kept(store)[0].vectors.len(), 1);

    // A new episode replaces the old episode. Late writes for the old episode are dropped.
    let new = episode(&session, 20);
    index_with_statements(store, &mut session, &new, Statements::default());
    assert_eq!(kept(store), []);
    made.iter().for_each(put);
    assert_eq!(kept(store), []);
    let of_new = Vectors { episode: Some(new.id), ..made[0].clone() };
    put(&of_new);
    assert_eq!(kept(store), std::slice::from_ref(&of_new));
    write(store, vec![Write::DropEpisode(new.id)]);
    assert_eq!(kept(store), []);
    put(&of_new);
    assert_eq!(kept(store), []);
    forget(store, &[session]);
    assert_eq!(kept(store), []);
}

fn statements_are_read_by_entity_or_fact_kind_project_and_time(store: &dyn Store) {
    let mut sessions = Vec::new();
    for (name, ended) in [("late", 30), ("early", 10)] {
        let mut session = new_session(store, name);
        let episode = episode(&session, ended);
        index_with_statements(store, &mut session, &episode, statements(ended));
        sessions.push(session);
    }
    let claim = &statements(10).claims[0];
    for place in [
        ClaimPlace::Around(claim.source),
        ClaimPlace::Around(claim.target),
        ClaimPlace::In(claim.namespace),
    ] {
        let mut times = Vec::new();
        let visit = &mut |row: ClaimRow| {
            assert_eq!((row.fact, row.relation), (claim.key, claim.relation));
            times.push(row.at);
            true
        };
        store.visit_claims(place, visit).unwrap();
        assert_eq!(times, [Timestamp::from_seconds(30), Timestamp::from_seconds(10)], "{place:?}");
    }
    let mut mentioned = Vec::new();
    let visit = &mut |row: MentionRow| {
        mentioned.push(row.entity);
        false
    };
    store.visit_mentions(claim.namespace, EntityKind::File, visit).unwrap();
    assert_eq!(mentioned.len(), 1);
    let attributed = store.claims(claim.key).unwrap();
    assert_eq!(
        attributed.iter().map(|attributed| attributed.what.at.micros()).collect::<Vec<_>>(),
        [10_000_000, 30_000_000]
    );
    let marks =
        store.marks(statements(10).marks[0].subject, Timestamp::from_seconds(1_000)).unwrap();
    assert_eq!(marks, [], "all marks are long before this time");
    assert_eq!(store.fact_numbered(claim.key.number()).unwrap(), Some(claim.key));
    assert_eq!(store.entity_numbered(claim.source.number()).unwrap(), Some(claim.source));
    assert_eq!(store.fact_numbered(7).unwrap(), None);
    forget(store, &sessions);
}

fn the_outbox_is_ordered_and_emptied(store: &dyn Store) {
    let session = new_session(store, "outbox");
    let end = store.outbox_end();
    let source = SourceKey { session: session.key, number: 0 };
    for seq in 0..3 {
        write(store, vec![messages_of(source, &[message(seq, 10)])]);
    }
    let waiting = store.outbox(end, 99).unwrap();
    let positions: Vec<u64> = waiting.iter().map(|outgoing| outgoing.position).collect();
    assert_eq!(positions, [end + 1, end + 2, end + 3]);
    assert_eq!(store.outbox(end + 1, 1).unwrap(), [waiting[1].clone()]);
    write(store, vec![Write::OutboxConsumed(end + 2)]);
    let left: Vec<OutboxEntry> = store.outbox(0, 99).unwrap();
    assert_eq!(left, waiting[2..]);
    forget(store, &[session]);
}

fn notes_are_read_by_name_and_deleted_with_their_session(reopen: Reopen<'_>) {
    let store = reopen();
    let session = new_session(store.as_ref(), "notes");
    let note = |namespace, name: &[u8], content: Option<&[u8]>| {
        Write::Note(Note { namespace, name: name.to_vec(), content: content.map(<[u8]>::to_vec) })
    };
    let key = session.key.0.to_be_bytes();
    let long = vec![7; 30_000];
    let writes = vec![
        note(NoteNamespace::Usage, b"b", Some(&long)),
        note(NoteNamespace::Usage, b"", Some(b"none")),
        note(NoteNamespace::Usage, b"ba", Some(b"longer name")),
        note(NoteNamespace::Awaiting, &key, Some(b"due")),
    ];
    write(store.as_ref(), writes);
    drop(store);
    let store = reopen();
    let named = |name: &[u8], content: &[u8]| (name.to_vec(), content.to_vec());
    let all = [named(b"", b"none"), named(b"b", &long), named(b"ba", b"longer name")];
    assert_eq!(store.notes(NoteNamespace::Usage).unwrap(), all);
    write(store.as_ref(), vec![note(NoteNamespace::Usage, b"b", Some(b"short"))]);
    assert_eq!(store.note(NoteNamespace::Usage, b"b").unwrap(), Some(b"short".to_vec()));
    assert_eq!(store.note(NoteNamespace::Usage, b"ba").unwrap(), Some(b"longer name".to_vec()));
    write(store.as_ref(), vec![note(NoteNamespace::Usage, b"b", None)]);
    assert_eq!(store.note(NoteNamespace::Usage, b"b").unwrap(), None);
    assert_eq!(store.note(NoteNamespace::Awaiting, &key).unwrap(), Some(b"due".to_vec()));
    forget(store.as_ref(), &[session]);
    assert_eq!(store.notes(NoteNamespace::Awaiting).unwrap(), []);
}

fn counters_survive(reopen: Reopen<'_>) {
    let store = reopen();
    let session = new_session(store.as_ref(), "counters");
    let source = SourceKey { session: session.key, number: 0 };
    write(store.as_ref(), vec![messages_of(source, &[message(0, 1), message(1, 1)])]);
    let (totals, end) = (store.totals(), store.outbox_end());
    drop(store);
    let store = reopen();
    assert_eq!((store.totals(), store.outbox_end()), (totals, end));
    assert!(store.next_session_key().unwrap() > session.key);
    forget(store.as_ref(), &[session]);
}

fn write(store: &dyn Store, writes: Vec<Write>) {
    store.write(writes).wait().unwrap();
}

fn forget(store: &dyn Store, sessions: &[Session]) {
    write(store, sessions.iter().map(|session| Write::DropSession(session.key)).collect());
    let end = store.outbox_end();
    write(store, vec![Write::OutboxConsumed(end)]);
}

fn new_session(store: &dyn Store, id: &str) -> Session {
    let session = Session { key: store.next_session_key().unwrap(), ..session(SessionKey(0), id) };
    write(store, vec![Write::Session(Box::new(session.clone()))]);
    session
}

fn index(store: &dyn Store, session: &mut Session, episode: &Episode) {
    session.indexed = Some(Indexed {
        episode: episode.id,
        hash: episode.content_hash,
        at: episode.created_at,
        reason: episode.reason.clone(),
    });
    session.state = State::Indexed;
    let writes =
        vec![Write::Episode(Box::new(episode.clone())), Write::Session(Box::new(session.clone()))];
    write(store, writes);
}

/// Stores an episode of a session, and its statements.
pub fn index_with_statements(
    store: &dyn Store,
    session: &mut Session,
    episode: &Episode,
    statements: Statements,
) {
    index(store, session, episode);
    let statements = Box::new(statements);
    write(store, vec![Write::Statements { episode: episode.id, statements }]);
}

fn messages_of(source: SourceKey, messages: &[Message]) -> Write {
    Write::Messages { source, messages: messages.to_vec() }
}

/// Returns a session with a value in every field except `indexed`.
pub fn session(key: SessionKey, id: &str) -> Session {
    Session {
        key,
        id: SessionId { agent: "claude".to_owned(), id: id.to_owned() },
        project: Some(Project::new("/home/ann/app")),
        file: format!("/t/{id}.jsonl"),
        state: State::Active,
        content: Some(Content { hash: ContentHash([3; 32]), messages: 12 }),
        indexed: None,
        started_at: Some(Timestamp::from_seconds(1_000)),
        last_activity: Timestamp::from_seconds(2_000),
    }
}

/// Returns a source with a value in every field. Number 0 has no `sub_agent`.
pub fn source_of(session: &Session, number: u32) -> Source {
    Source {
        key: SourceKey { session: session.key, number },
        path: format!("/t/{}-{number}.jsonl", session.id),
        sub_agent: (number > 0).then(|| format!("agent-{number}")),
        stamp: FileStamp { file: 77, length: 1_234, modified: 5 },
        offset: 1_200,
        tally: Tally {
            read: 10,
            skipped: [("progress".to_owned(), 4)].into(),
            repaired: 1,
            broken: 2,
            broken_bytes: 30,
            restarts: 1,
        },
    }
}

/// Returns a message with `length` bytes of text. Every fourth message has a tool, and all other
/// fields have values.
pub fn message(seq: u32, length: usize) -> Message {
    let text: String = format!("{seq} say something, ").chars().cycle().take(length).collect();
    Message {
        seq,
        origin: Origin { source: 0, line: u64::from(seq) * 3 + 1 },
        uuid: Some([seq as u8; 16]),
        role: Role::ALL[seq as usize % 4],
        at: Some(Timestamp::from_seconds(i64::from(seq))),
        text,
        tool: (seq % 4 == 2).then(|| "Bash".to_owned()),
        files: vec!["src/main.rs".to_owned()],
        branch: Some("main".to_owned()),
    }
}

/// Returns a message that does not compress well.
pub fn noise(seq: u32, length: usize) -> Message {
    let mut random = 88_172_645_463_325_252u64 ^ u64::from(seq);
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        char::from(33 + (random % 90) as u8)
    };
    Message { text: (0..length).map(|_| next()).collect(), ..message(seq, 0) }
}

/// Returns an episode of `session`, which ended at `ended` seconds.
pub fn episode(session: &Session, ended: i64) -> Episode {
    let ended_at = Timestamp::from_seconds(ended);
    Episode {
        id: EpisodeId::new(ended_at, [u8::try_from(session.key.0 % 200).unwrap(); 10]),
        session: session.key,
        session_id: session.id.clone(),
        project: session.project.clone().unwrap(),
        name: "Fix the login".to_owned(),
        summary: EnhancedSessionSummary {
            activity_vector: ActivityVector { fixing: 1.0, ..ActivityVector::default() },
            objective: "Fix the login".to_owned(),
            outcome: Outcome::Completed,
            phases: None,
            completed_tasks: Some(vec!["x".repeat(9_000)]),
            key_decisions: None,
            next_steps: None,
            errors_resolved: None,
            root_cause_analysis: None,
            config_changes: None,
            discoveries: None,
            topics: None,
            relations: None,
            outcome_reason: None,
            last_words: None,
            repository: None,
            preferences: None,
            known_failures: None,
            test_results: None,
            files_modified: None,
            mcp_tools_used: None,
            session_file: None,
            message_count: Some(3),
            duration_minutes: None,
        },
        author: Author::Evidence,
        file: session.file.clone(),
        content_hash: ContentHash([4; 32]),
        reason: CloseReason::Explicit(Some("story_complete".to_owned())),
        branches: vec!["main".to_owned()],
        started_at: Timestamp::from_seconds(1),
        ended_at,
        created_at: Timestamp::from_seconds(ended + 1),
        external: None,
        rules: 0,
    }
}

/// Returns `count` vectors of `owner`.
pub fn vectors(owner: Owner, count: i8) -> Vectors {
    let vector = |row: i8| Packed {
        scale: 0.25,
        numbers: (0..200).map(|number: i16| (number % 61) as i8 - row).collect(),
    };
    Vectors {
        owner,
        episode: None,
        model: "some model".to_owned(),
        texts: 7,
        vectors: (0..count).map(vector).collect(),
    }
}

/// Returns statements with a value in every field. All times are `at` seconds.
pub fn statements(at: i64) -> Statements {
    let namespace = Project::new("/home/ann/app").namespace();
    let at = Timestamp::from_seconds(at);
    let entity = |key: &str| EntityId::of(EntityKind::File, namespace, key);
    let subject = Subject::of("setting", namespace, "a");
    let mut ends = [entity("a"), entity("b")];
    ends.sort_unstable();
    let [source, target] = ends;
    let mention = |entity| Mention {
        entity,
        kind: EntityKind::File,
        namespace,
        name: "src/a.rs".to_owned(),
        at,
    };
    let ran = || Observation::Ran { command: 3, total: 4, failed: vec![5] };
    let observations = [
        Observation::Value(1),
        Observation::Seen,
        Observation::Solved,
        Observation::Succeeded,
        ran(),
    ];
    let chosen = [Observation::Chosen(vec![1]), Observation::PassedOver(vec![2])];
    let stances = [
        Stance::Value(1),
        Stance::Gone,
        Stance::Broken,
        Stance::Fails { test: 1, command: 2, total: 3 },
        Stance::Chosen(vec![1]),
        Stance::PassedOver(vec![2]),
        Stance::Supposed,
    ];
    Statements {
        created_at: at,
        mentions: vec![mention(source), mention(target)],
        claims: vec![Claim {
            key: FactKey::of(Relation::Resolved, source, target, "1"),
            namespace,
            relation: Relation::Resolved,
            source,
            target,
            others: vec![target],
            // Even the compressed text is longer than the maximum length of one value on disk.
            sentence: (0..3_000)
                .map(|number: u32| number.wrapping_mul(7_919).to_string())
                .collect(),
            at,
            certainty: Certainty::Hypothesis,
            watches: stances.map(|stance| Watch { subject, stance }).to_vec(),
            origins: vec![Origin { source: 1, line: 7 }],
            details: vec![("fix".to_owned(), "a".to_owned())],
        }],
        marks: observations
            .into_iter()
            .chain(chosen)
            .map(|says| Mark { subject, at, observation: says })
            .collect(),
        renames: vec![Rename { from: source, to: target, at }],
    }
}
