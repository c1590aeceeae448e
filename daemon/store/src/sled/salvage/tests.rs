use std::{
    fs, panic,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use super::{files::copy_files, *};
use crate::{
    Note, Source, SourceKey, contract,
    model::{Message, graph::Statements},
};

const SESSIONS: u64 = 5;
const MESSAGES: u32 = 200;

/// Creates a store of sessions with some messages and an episode each, and closes it.
pub(super) fn filled(folder: &Path) {
    let store = SledStore::open(folder).unwrap();
    for number in 0..SESSIONS {
        let key = store.next_session_key().unwrap();
        let mut session = contract::session(key, &format!("session-{number}"));
        let source = contract::source_of(&session, 0);
        let messages: Vec<_> = (0..MESSAGES).map(|seq| contract::message(seq, 500)).collect();
        let episode = contract::episode(&session, 1);
        let writes = vec![
            Write::Messages { source: source.key, messages },
            Write::Source { source, checkpoint: Some(vec![7; 9_000]) },
        ];
        store.write(writes).wait().unwrap();
        contract::index_with_statements(&store, &mut session, &episode, contract::statements(1));
    }
    store.close();
}

pub(super) fn salvaged(damaged: &Path) -> (SledStore, Salvaged, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let left = open_damaged(damaged, &folder.path().join("work")).unwrap();
    let store = SledStore::open(&folder.path().join("new")).unwrap();
    let salvaged = store.salvage(&left).unwrap();
    (store, salvaged, folder)
}

/// Returns the key of a session of [`filled`].
pub(super) fn session_key(store: &SledStore, number: u64) -> SessionKey {
    let id = contract::session(SessionKey(0), &format!("session-{number}")).id;
    store.find_session(&id).unwrap().unwrap()
}

/// Returns the number of the first message of each block of a file.
pub(super) fn block_numbers(store: &SledStore, source: SourceKey) -> Vec<u32> {
    let keys = store.tree.scan_prefix(keys::messages_of(source)).keys();
    keys.filter_map(|key| keys::first_message_in(&key.unwrap())).collect()
}

/// Flips a bit in a row.
pub(super) fn damage(store: &SledStore, key: &[u8]) {
    let mut value = store.tree.get(key).unwrap().unwrap().to_vec();
    value[9] ^= 1;
    store.tree.insert(key, value).unwrap();
}

fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(prefix);
    entries.filter(named).collect()
}

#[test]
fn settings_and_snapshots_are_not_needed() {
    for broken in ["conf", "snap."] {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path());
        // sled records the positions of pages when it opens a database.
        SledStore::open(folder.path()).unwrap().close();
        let files = files(folder.path(), broken);
        assert!(!files.is_empty(), "{broken}");
        for file in files {
            fs::write(file, b"damaged").unwrap();
        }
        let (store, salvaged, _folder) = salvaged(folder.path());
        let messages = SESSIONS * u64::from(MESSAGES);
        let wanted = Salvaged { sessions: SESSIONS, messages, episodes: SESSIONS, ..salvaged };
        assert_eq!((salvaged, salvaged.unreadable), (wanted, 0), "{broken}");
        let mut sessions = Vec::new();
        store
            .visit_sessions(&mut |session| {
                sessions.push(session);
                true
            })
            .unwrap();
        for session in sessions {
            let source = &store.sources_of(session.key).unwrap()[0];
            assert_eq!(store.checkpoint(source.key).unwrap(), Some(vec![7; 9_000]));
            let messages = store.messages(source.key, 0, 1_000).unwrap();
            assert_eq!(messages.len(), MESSAGES as usize);
            let read = statements::read(&store.tree, session.indexed.as_ref().unwrap().episode);
            assert_eq!(read.unwrap(), contract::statements(1));
            let episode = store.episode(session.indexed.unwrap().episode).unwrap().unwrap();
            assert_eq!((episode.session, episode.session_id), (session.key, session.id));
        }
    }
}

#[test]
fn only_damaged_notes_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let namespace = NoteNamespace::Forgotten;
    let note = |name: &[u8]| {
        let (name, content) = (name.to_vec(), Some(b"1".to_vec()));
        Write::Note(Note { namespace, name, content })
    };
    store.write(vec![note(b"a"), note(b"b"), note(b"c")]).wait().unwrap();
    store.damage_note(namespace, b"b");
    assert!(matches!(store.notes(namespace), Err(StoreError::Damaged { .. })));
    let names = |store: &SledStore| {
        let notes = store.undamaged_notes(namespace).unwrap();
        notes.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let left = [b"a".to_vec(), b"c".to_vec()];
    assert_eq!(names(&store), left);
    store.close();
    let (store, salvaged, _folder) = salvaged(folder.path());
    assert_eq!(salvaged.unreadable, 1);
    assert_eq!(names(&store), left);
}

#[test]
fn only_unreadable_records_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let store = SledStore::open(folder.path()).unwrap();
    let whole = store.examine().unwrap();
    assert_eq!(whole.1, 0);
    // Damages one session, a block of messages of a second session, and the episode of a third.
    let session = |number: u64| session_key(&store, number);
    let source = SourceKey { session: session(1), number: 0 };
    let block = block_numbers(&store, source)[1];
    let lost = store.session(session(2)).unwrap().unwrap().indexed.unwrap().episode;
    let keys = [
        keys::session(session(0)),
        [keys::messages(source, block), vec![0, 0]].concat(),
        [keys::episode(lost), vec![0, 0]].concat(),
    ];
    keys.iter().for_each(|key| damage(&store, key));
    assert_eq!(store.examine().unwrap(), (whole.0, 3));
    store.close();
    let (store, salvaged, _folder) = salvaged(folder.path());
    assert_eq!(salvaged.unreadable, 3 + 1, "the damaged episode is counted twice");
    assert_eq!((salvaged.sessions, salvaged.episodes), (SESSIONS, SESSIONS - 1));
    let whole = SESSIONS * u64::from(MESSAGES);
    assert!((whole - 64..whole).contains(&salvaged.messages), "{salvaged:?}");
    // A session that lost its episode gets a new one later.
    let id = contract::session(SessionKey(0), "session-2").id;
    let key = store.find_session(&id).unwrap().unwrap();
    let state = store.session(key).unwrap().unwrap().state;
    assert_eq!(state, State::Unindexed(Unindexed::History));
}

#[test]
fn a_record_without_its_last_piece_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(folder.path()).unwrap();
    let notes = [b"a", b"b"].map(|name| Note {
        namespace: NoteNamespace::Learned,
        name: name.to_vec(),
        content: Some(contract::noise(0, 9_000).text.into_bytes()),
    });
    store.write(notes.map(Write::Note).into()).wait().unwrap();
    assert_eq!(store.examine().unwrap(), (2, 0));
    let first = keys::note(NoteNamespace::Learned, b"a");
    let last = store.tree.scan_prefix(&first).keys().next_back().unwrap().unwrap();
    store.tree.remove(last).unwrap();
    assert_eq!(store.examine().unwrap(), (2, 1));
    let second = keys::note(NoteNamespace::Learned, b"b");
    let last = store.tree.scan_prefix(&second).keys().next_back().unwrap().unwrap();
    store.tree.remove(last).unwrap();
    assert_eq!(store.examine().unwrap(), (2, 2), "the last record of the database counts, too");
}

#[test]
fn existing_sessions_are_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let (store, _, _folder) = salvaged(folder.path());
    let work = tempfile::tempdir().unwrap();
    let left = open_damaged(folder.path(), &work.path().join("work")).unwrap();
    let again = store.salvage(&left).unwrap();
    assert_eq!(again, Salvaged { known: SESSIONS, ..Salvaged::default() });
    assert_eq!(store.totals().sessions, SESSIONS);
}

#[test]
fn a_forgotten_session_that_was_read_again_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path());
    let store = SledStore::open(folder.path()).unwrap();
    let id = contract::session(SessionKey(0), "session-0").id;
    let key = store.find_session(&id).unwrap().unwrap();
    let namespace = NoteNamespace::Forgotten;
    let note = Note { namespace, name: name_of(&id), content: Some(vec![1]) };
    store.write(vec![Write::DropSession(key), Write::Note(note)]).wait().unwrap();
    store.close();
    let new = tempfile::tempdir().unwrap();
    let left = open_damaged(folder.path(), &new.path().join("work")).unwrap();
    let store = SledStore::open(&new.path().join("new")).unwrap();
    let again = contract::session(store.next_session_key().unwrap(), "session-0");
    store.write(vec![Write::Session(Box::new(again))]).wait().unwrap();
    let Salvaged { forgotten, known, sessions, .. } = store.salvage(&left).unwrap();
    assert_eq!((forgotten, known, sessions), (1, 0, SESSIONS - 1));
    assert_eq!(store.find_session(&id).unwrap(), None);
}

/// Number of sessions in a database whose copies are damaged, each copy at another position.
const MANY: u32 = 60;
/// Number of messages of each of these sessions.
const OF_EACH: u32 = 16;
/// Number of these positions.
const PLACES: usize = 20;
/// Number of bytes that are overwritten at a position.
const BAD: usize = 4 << 10;
/// Maximum duration of the check of one kind of damage.
const TIME_LIMIT: Duration = Duration::from_secs(120);

#[test]
fn wherever_the_log_is_damaged_the_rest_is_correct_and_the_loss_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let written = filled_with_many(folder.path());
    damage_everywhere(folder.path(), written);
}

#[test]
fn damage_is_reported_when_the_database_has_a_snapshot_too() {
    let folder = tempfile::tempdir().unwrap();
    let written = filled_with_many(folder.path());
    SledStore::open(folder.path()).unwrap().close();
    assert!(!files(folder.path(), "snap.").is_empty());
    damage_everywhere(folder.path(), written);
}

/// The written data of one session.
struct Written {
    session: Session,
    source: Source,
    checkpoint: Vec<u8>,
    messages: Vec<Message>,
    episode: Episode,
    statements: Statements,
}

fn filled_with_many(folder: &Path) -> Vec<Written> {
    let store = SledStore::open(folder).unwrap();
    let written = (0..MANY).map(|number| write_one(&store, number)).collect();
    store.close();
    written
}

/// Writes a session whose id, content and episode differ from those of all other sessions.
fn write_one(store: &SledStore, number: u32) -> Written {
    let key = store.next_session_key().unwrap();
    let mut session = contract::session(key, &format!("session-{number}"));
    let source = contract::source_of(&session, 0);
    let checkpoint = vec![number as u8; 9_000];
    let first = number * OF_EACH;
    let messages: Vec<Message> =
        (first..first + OF_EACH).map(|seq| contract::noise(seq, 1_500)).collect();
    let episode = contract::episode(&session, i64::from(number) + 1);
    let statements = contract::statements(i64::from(number));
    let writes = vec![
        Write::Session(Box::new(session.clone())),
        Write::Messages { source: source.key, messages: messages.clone() },
        Write::Source { source: source.clone(), checkpoint: Some(checkpoint.clone()) },
    ];
    store.write(writes).wait().unwrap();
    contract::index_with_statements(store, &mut session, &episode, statements.clone());
    Written { session, source, checkpoint, messages, episode, statements }
}

/// Damages the database file in `folder`, each time in another way, and checks the result.
fn damage_everywhere(folder: &Path, written: Vec<Written>) {
    let written = Arc::new(written);
    let whole = fs::read(folder.join("db")).unwrap();
    let mut with_loss = 0;
    for (damage, bytes) in damages(&whole) {
        let (folder, written) = (folder.to_owned(), written.clone());
        with_loss += u32::from(in_time(&damage, move || loses_data(&folder, &bytes, &written)));
    }
    // About half of the file is free space, where damage loses nothing.
    assert!(with_loss > 8, "only {with_loss} kinds of damage lose data");
}

/// Returns a description of each kind of damage, and the content of the damaged file.
fn damages(whole: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> {
    let length = whole.len();
    let places = (0..PLACES).map(move |place| place * length / PLACES);
    // The positions above rarely hit a page that every scan of the sessions reads. So the records of
    // one session are damaged, too.
    let is_record = move |at: &usize| whole[*at..].starts_with(b"/t/session-3.jsonl");
    let records: Vec<usize> = (0..length).filter(is_record).collect();
    assert!(!records.is_empty(), "the file contains no uncompressed session");
    let overwritten = places.chain(records).map(move |at| {
        let mut bytes = whole.to_vec();
        bytes[at..].iter_mut().take(BAD).for_each(|byte| *byte = !*byte);
        (format!("other bytes at {at} of {length}"), bytes)
    });
    let lengths = [0, 1, BAD, length / 3, length / 2, length * 9 / 10, length - 1];
    let cut = lengths.into_iter().map(move |at| (format!("cut at {at}"), whole[..at].to_vec()));
    overwritten.chain(cut)
}

/// Runs work on a thread named `what`, and panics if it does not end in time.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = mpsc::channel();
    let worker = thread::Builder::new().name(what.to_owned());
    let worker = worker.spawn(move || drop(done.send(work()))).unwrap();
    match ended.recv_timeout(TIME_LIMIT) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: not finished in time"),
        Err(RecvTimeoutError::Disconnected) => panic::resume_unwind(worker.join().unwrap_err()),
    }
}

/// Whether data is missing when the daemon or `graphiti repair` opens a database whose file contains
/// `bytes`.
fn loses_data(folder: &Path, bytes: &[u8], written: &[Written]) -> bool {
    let home = tempfile::tempdir().unwrap();
    let damaged = |name: &str| {
        let copy = home.path().join(name);
        copy_files(folder, &copy, |_| true).unwrap();
        fs::write(copy.join("db"), bytes).unwrap();
        copy
    };
    let opened = read_in_place(&damaged("db"), written);
    let store = SledStore::open(&home.path().join("new")).unwrap();
    let restored = match open_damaged(&damaged("db.damaged-1"), &home.path().join("work")) {
        Ok(left) => {
            let salvaged = store.salvage(&left).unwrap();
            let found = SalvageCounts::of(&store, written);
            assert_eq!(found.as_salvaged(), Salvaged { unreadable: 0, ..salvaged });
            let is_reported = opened.is_none() || left.lost() + salvaged.unreadable > 0;
            assert!(
                found.is_all() || is_reported,
                "the loss is not reported: {found:?}, {salvaged:?}"
            );
            found
        }
        Err(error) => {
            assert_message_has_a_remedy(&error);
            SalvageCounts::default()
        }
    };
    assert_is_writable(&store);
    !(restored.is_all() && opened.is_some_and(|opened| opened.is_all()))
}

/// Counts the readable content of the database without a repair; `None` if it cannot be opened.
fn read_in_place(folder: &Path, written: &[Written]) -> Option<SalvageCounts> {
    match SledStore::open(folder) {
        Ok(store) => {
            let found = SalvageCounts::of(&store, written);
            let is_reported = store.lost() + found.unreadable > 0;
            assert!(found.is_all() || is_reported, "the loss is not reported: {found:?}");
            store.close();
            Some(found)
        }
        Err(error) => {
            assert_message_has_a_remedy(&error);
            None
        }
    }
}

fn assert_message_has_a_remedy(error: &StoreError) {
    assert!(error.to_string().contains("graphiti repair"), "{error}");
}

/// Checks that new writes can be read again.
fn assert_is_writable(store: &SledStore) {
    let session = contract::session(store.next_session_key().unwrap(), "afterwards");
    let source = contract::source_of(&session, 0).key;
    let messages = vec![contract::message(0, 500)];
    let writes = vec![
        Write::Session(Box::new(session.clone())),
        Write::Messages { source, messages: messages.clone() },
    ];
    store.write(writes).wait().unwrap();
    assert_eq!(store.find_session(&session.id).unwrap(), Some(session.key));
    assert_eq!(store.session(session.key).unwrap(), Some(session));
    assert_eq!(store.messages(source, 0, 9).unwrap(), messages);
}

/// Counts the written records that are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SalvageCounts {
    sessions: u64,
    checkpoints: u64,
    messages: u64,
    episodes: u64,
    /// Number of episodes with all their statements.
    with_statements: u64,
    unreadable: u64,
}

impl SalvageCounts {
    /// Reads everything in `store`. Each record that can be read must be as it was written, and
    /// each error must contain a remedy.
    fn of(store: &SledStore, written: &[Written]) -> SalvageCounts {
        let mut found = SalvageCounts::default();
        let visited = store.visit_sessions(&mut |session| {
            let is_known = written.iter().any(|written| written.session.id == session.id);
            assert!(is_known, "{session:?}");
            true
        });
        found.readable(visited);
        written.iter().for_each(|written| found.count(store, written));
        found
    }

    fn count(&mut self, store: &SledStore, written: &Written) {
        let key = self.readable(store.find_session(&written.session.id)).flatten();
        let session = key.and_then(|key| self.readable(store.session(key)).flatten());
        let Some(session) = session else { return };
        assert!(written.is_of(&session), "{session:?}");
        self.sessions += 1;
        for source in self.readable(store.sources_of(session.key)).unwrap_or_default() {
            let key = source.key;
            assert_eq!(Source { key: written.source.key, ..source }, written.source);
            let checkpoint = self.readable(store.checkpoint(key)).flatten();
            assert!(checkpoint.as_ref().is_none_or(|it| *it == written.checkpoint));
            self.checkpoints += u64::from(checkpoint.is_some());
            let messages = self.readable(store.messages(key, 0, usize::MAX)).unwrap_or_default();
            assert!(messages.iter().all(|message| written.messages.contains(message)));
            self.messages += messages.len() as u64;
        }
        if session.indexed.is_some() {
            self.count_episode(store, session.key, written);
        }
    }

    fn count_episode(&mut self, store: &SledStore, session: SessionKey, written: &Written) {
        let id = written.episode.id;
        let Some(episode) = self.readable(store.episode(id)).flatten() else { return };
        assert_eq!(episode, Episode { session, ..written.episode.clone() });
        self.episodes += 1;
        let Some(read) = self.readable(statements::read(&store.tree, id)) else { return };
        let whole = &written.statements;
        assert!(read.mentions.iter().all(|read| whole.mentions.contains(read)));
        assert!(read.claims.iter().all(|read| whole.claims.contains(read)));
        assert!(read.marks.iter().all(|read| whole.marks.contains(read)));
        assert!(read.renames.iter().all(|read| whole.renames.contains(read)));
        self.with_statements += u64::from(read == *whole);
    }

    fn readable<T>(&mut self, read: Result<T, StoreError>) -> Option<T> {
        if let Err(error) = &read {
            assert_message_has_a_remedy(error);
            self.unreadable += 1;
        }
        read.ok()
    }

    fn is_all(&self) -> bool {
        let many = u64::from(MANY);
        let messages = many * u64::from(OF_EACH);
        let unreadable = 0;
        let (sessions, checkpoints, episodes, with_statements) = (many, many, many, many);
        *self
            == SalvageCounts {
                sessions,
                checkpoints,
                messages,
                episodes,
                with_statements,
                unreadable,
            }
    }

    /// Converts the counts to the report of a salvage into an empty store.
    fn as_salvaged(&self) -> Salvaged {
        let SalvageCounts { sessions, messages, episodes, unreadable, .. } = *self;
        Salvaged { sessions, messages, episodes, unreadable, ..Salvaged::default() }
    }
}

impl Written {
    /// Whether `session` is an earlier state of this session, or was restored from its episode.
    fn is_of(&self, session: &Session) -> bool {
        let is_same = session.id == self.session.id
            && session.project == self.session.project
            && session.file == self.session.file;
        let indexed = session.indexed.as_ref();
        is_same && indexed.is_none_or(|indexed| indexed.episode == self.episode.id)
    }
}
