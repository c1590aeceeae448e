mod measure;
mod team;

use std::path::Path;

use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::{
    model::{Episode, Project, session::Session},
    share::{
        EngineKind,
        testing::{Behaviour, FakeEngine},
    },
    store::{NoteStore, contract, sled::SledStore},
};

const PROJECT: &str = "/home/ann/app";

#[tokio::test(flavor = "multi_thread")]
async fn an_episode_with_its_entities_and_facts_is_written_once() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let session = machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let group = running.group();
    let queries = engine.queries();
    assert!(queries.iter().all(|(graph, _)| *graph == group), "{group}");
    let episode = machine.episode(&session).id.to_string();
    let written: Vec<&String> =
        queries.iter().map(|(_, text)| text).filter(|text| text.starts_with("CYPHER")).collect();
    assert_eq!(written.len(), 3, "{written:?}");
    assert!(written[0].contains("MERGE (e:Episodic") && written[0].contains(&episode));
    assert!(written[0].contains("by Ann on laptop"), "{}", written[0]);
    assert!(written[1].contains("SET n:File") && written[1].contains("MERGE (e)-[m:MENTIONS"));
    assert!(written[2].contains("RELATES_TO") && written[2].contains(&episode));
    assert!(written.iter().all(|text| !text.contains("/home/ann")));
    // The session has not changed, so no query is sent.
    running.sharing.mark_changed(session.key);
    running.sharing.wait_until_settled().await;
    assert_eq!(engine.queries().len(), queries.len());
    // A forced fill writes the session again.
    running.sharing.fill(true);
    running.sharing.wait_until_settled().await;
    assert_eq!(engine.count_queries_with("MERGE (e:Episodic"), 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn projects_that_are_not_shared_are_not_written() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    machine.close_in(1, "/home/ann/secret").await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    assert_eq!(engine.queries(), []);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_was_down_full_or_loading_gets_all_sessions_later() {
    for trouble in [
        Behaviour::HangUp,
        Behaviour::Fail("OOM command not allowed when used memory > 'maxmemory'"),
        Behaviour::Fail("LOADING Redis is loading the dataset in memory"),
    ] {
        let engine = FakeEngine::falkordb();
        engine.set(trouble.clone());
        let machine = SharingMachine::new();
        let running = machine.start(&engine.url);
        machine.close(1).await;
        running.until(|status| status.error.is_some()).await;
        let error = running.sharing.status().error.unwrap();
        assert_eq!(error.contains("no memory"), trouble == machine_is_full(), "{error}");
        machine.close(2).await;
        engine.set(Behaviour::Work);
        running.until(|status| status.error.is_none() && status.last_success.is_some()).await;
        running.sharing.wait_until_settled().await;
        let written: String = engine.queries().into_iter().map(|(_, text)| text).collect();
        for session in machine.sessions() {
            let episode = machine.episode(&session).id.to_string();
            assert!(written.contains(&episode), "{trouble:?}");
        }
        assert_eq!(running.sharing.status().backlog, 0);
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_does_not_wait_for_a_stalled_engine() {
    let engine = FakeEngine::falkordb();
    engine.set(Behaviour::Stall);
    let machine = SharingMachine::new();
    let running = machine.start(&engine.url);
    machine.close(1).await;
    let stalled = engine.clone();
    tokio::task::spawn_blocking(move || stalled.wait_until_stalled()).await.unwrap();
    machine.close(2).await;
    running.until_followed(&machine).await;
    engine.set(Behaviour::Work);
    running.sharing.wait_until_settled().await;
    assert!(engine.count_queries_with("MERGE (e:Episodic") >= 2);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_daemon_continues_with_the_pending_sessions() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let running = machine.start(&engine.url);
    machine.close(1).await;
    running.sharing.wait_until_settled().await;
    running.kill().await;
    machine.close(2).await;
    let before = engine.count_queries_with("MERGE (e:Episodic");
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    assert!(engine.count_queries_with("MERGE (e:Episodic") > before);
    assert_eq!(running.sharing.status().backlog, 0);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forgotten_and_deleted_episodes_are_removed_and_evicted_ones_are_kept() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let [evicted, deleted, forgotten] =
        [machine.close(1).await, machine.close(2).await, machine.close(3).await];
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let ids = [&evicted, &deleted, &forgotten].map(|session| machine.episode(session).id);
    machine
        .write(vec![
            Write::DropEpisode(ids[0]),
            Write::DropEpisode(ids[1]),
            deletion(deleted.key),
            Write::DropSession(forgotten.key),
        ])
        .await;
    running.sharing.note_deletion(deleted.key);
    running.sharing.wait_until_settled().await;
    let removed: String = engine
        .queries()
        .into_iter()
        .map(|(_, text)| text)
        .filter(|text| text.contains("DETACH DELETE e"))
        .collect();
    assert_eq!(ids.map(|id| removed.contains(&id.to_string())), [false, true, true], "{removed}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_episode_that_is_deleted_while_sharing_is_off_is_removed_later() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let deleted = machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let id = machine.episode(&deleted).id;
    let config = machine.config(&engine.url);
    running.sharing.set_target(ShareTarget::new(&Config { engine: None, ..config.clone() }));
    machine.write(vec![Write::DropEpisode(id), deletion(deleted.key)]).await;
    running.sharing.note_deletion(deleted.key);
    running.sharing.set_target(ShareTarget::new(&config));
    running.sharing.wait_until_settled().await;
    let is_removal =
        |text: &str| text.contains("DETACH DELETE e") && text.contains(&id.to_string());
    assert!(engine.queries().iter().any(|(_, text)| is_removal(text)));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn summaries_of_entities_do_not_quote_a_forgotten_session() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let evicted = machine.close(1).await;
    let [_kept, forgotten] = [machine.close(2).await, machine.close(3).await];
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let before = engine.queries().len();
    let gone = machine.episode(&evicted).id;
    machine.write(vec![Write::DropEpisode(gone), Write::DropSession(forgotten.key)]).await;
    running.sharing.wait_until_settled().await;
    let queries = engine.queries().split_off(before);
    let position = |wanted: &str| queries.iter().position(|(_, text)| text.contains(wanted));
    let cleared = position("SET n.summary = ''").expect("the summaries are cleared");
    let written = position("n.summary = row.summary").expect("the summaries are written again");
    assert!(cleared < written, "{queries:?}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_repair_replaced_and_forgotten_episodes_are_removed_and_lost_ones_are_kept() {
    let engine = FakeEngine::falkordb();
    let damaged = SharingMachine::new();
    let [reread, lost, forgotten] =
        [damaged.close(1).await, damaged.close(2).await, damaged.close(3).await];
    let unreadable = damaged.close(5).await;
    let running = damaged.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let ids = [&reread, &lost, &forgotten].map(|session| damaged.episode(session).id);
    engine.set(Behaviour::HangUp);
    damaged.write(vec![Write::DropSession(forgotten.key)]).await;
    running.until(|status| status.error.is_some()).await;
    running.stop().await;
    damaged.store.damage_note(NoteNamespace::Shared, &unreadable.key.0.to_be_bytes());
    let machine = SharingMachine::new();
    // The new database has other keys and other episodes.
    machine.close(4).await;
    machine.close(1).await;
    let mut without = contract::session(machine.store.next_session_key().unwrap(), "session-2");
    without.project = Some(Project::new(PROJECT));
    machine.write(vec![Write::Session(Box::new(without))]).await;
    let (from, into) = (damaged.store.clone(), machine.store.clone());
    let salvaged = tokio::task::spawn_blocking(move || salvage(from.as_ref(), into.as_ref()));
    salvaged.await.unwrap().unwrap();
    engine.set(Behaviour::Work);
    let before = engine.queries().len();
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let queries = engine.queries().split_off(before);
    let removed: String = queries
        .into_iter()
        .map(|(_, text)| text)
        .filter(|text| text.contains("DETACH DELETE e"))
        .collect();
    assert_eq!(ids.map(|id| removed.contains(&id.to_string())), [true, false, true], "{removed}");
    assert_eq!(machine.store.notes(NoteNamespace::Shared).unwrap().len(), 3);
    assert_eq!(running.sharing.status().backlog, 0);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_new_address_all_sessions_are_written_and_evicted_ones_can_be_removed() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let [evicted, _kept] = [machine.close(1).await, machine.close(2).await];
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    running.stop().await;
    let id = machine.episode(&evicted).id;
    machine.write(vec![Write::DropEpisode(id)]).await;
    // The engine is the same, but its address is different.
    let running = machine.start(&engine.url.replace("127.0.0.1", "localhost"));
    let before = engine.count_queries_with("MERGE (e:Episodic");
    running.sharing.wait_until_settled().await;
    assert_eq!(engine.count_queries_with("MERGE (e:Episodic"), before + 1);
    machine.write(vec![Write::DropSession(evicted.key)]).await;
    running.until_query(&engine, "DETACH DELETE e", &id.to_string()).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_is_not_shared_any_more_is_removed() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let session = machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let config = Config { projects: Vec::new(), ..machine.config(&engine.url) };
    running.sharing.set_target(ShareTarget::new(&config));
    running.until(|status| status.last_success.is_some() && status.fill.is_none()).await;
    let id = machine.episode(&session).id.to_string();
    running.until_query(&engine, "DETACH DELETE e", &id).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_session_does_not_prevent_others_from_being_written() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let bad = machine.close(1).await;
    machine.close(2).await;
    let id = machine.episode(&bad).id.to_string();
    engine.set(Behaviour::Reject(id.leak()));
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let status = running.sharing.status();
    assert_eq!((status.rejected, status.error), (1, None));
    assert_eq!(engine.count_queries_with("MERGE (e:Episodic"), 1);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_records_of_a_session_do_not_prevent_others_from_being_written() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    let damaged = machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    machine.store.damage_episode(machine.episode(&damaged).id);
    machine.store.damage_note(NoteNamespace::Shared, &damaged.key.0.to_be_bytes());
    // The sessions state the same facts.
    let other = machine.close(2).await;
    running.until_followed(&machine).await;
    running.sharing.wait_until_settled().await;
    let episode = machine.episode(&other).id.to_string();
    let writes = || engine.queries().iter().filter(|(_, text)| text.contains(&episode)).count();
    let written = writes();
    assert_ne!(written, 0);
    running.sharing.fill(true);
    running.sharing.wait_until_settled().await;
    assert!(writes() > written);
    assert_eq!(running.sharing.status().error, None);
    // The data to remove from the graph are unknown, so the removal is not done.
    let pending = || machine.store.notes(NoteNamespace::SharePending).unwrap();
    assert_eq!(pending(), []);
    machine.write(vec![Write::DropSession(damaged.key)]).await;
    // The session is rejected once for its dropped episode, and once for its deletion. The other
    // session may still wait to be compared, because it states the same facts.
    let mark = (damaged.key.0.to_be_bytes().to_vec(), vec![pending::DELETED]);
    running.until(|status| status.rejected == 1 && pending().contains(&mark)).await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_was_restarted_gets_all_sessions_again() {
    let engine = FakeEngine::falkordb();
    let machine = SharingMachine::new();
    machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    running.stop().await;
    engine.restart();
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    assert_eq!(engine.count_queries_with("MERGE (e:Episodic"), 1);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neo4j_gets_times_in_its_own_type() {
    let engine = FakeEngine::neo4j();
    let machine = SharingMachine::new();
    let session = machine.close(1).await;
    let running = machine.start(&engine.url);
    running.sharing.wait_until_settled().await;
    let queries = engine.queries();
    assert!(queries.iter().all(|(head, _)| head == "POST /db/neo4j/query/v2 HTTP/1.1"));
    let episodes = queries.iter().find(|(_, text)| text.contains("MERGE (e:Episodic")).unwrap();
    assert!(episodes.1.contains("e.valid_at = datetime(row.valid_at)"), "{}", episodes.1);
    assert!(episodes.1.contains(&machine.episode(&session).id.to_string()));
    assert!(engine.count_queries_with("CREATE INDEX entity_uuid IF NOT EXISTS") == 1);
    engine.set(Behaviour::Fail("401"));
    running.sharing.fill(true);
    running.until(|status| status.error.is_some()).await;
    let error = running.sharing.status().error.unwrap();
    assert!(error.contains("rejects the login"), "{error}");
    running.stop().await;
}

#[test]
fn a_preview_shows_the_sessions_as_they_would_be_written() {
    let machine = SharingMachine::new();
    let session = machine.write_session(1, PROJECT).wait_here();
    let sharing = machine.sharing("redis://127.0.0.1:1");
    let namespace = Project::new(PROJECT).namespace();
    let Preview { group, sessions, next } = sharing.preview(&[namespace], None, 10).unwrap();
    assert_eq!((sessions.len(), next), (1, None));
    assert_eq!(sessions[0].group, group);
    assert_eq!(sessions[0].episode.uuid, machine.episode(&session).id.0);
    assert!(group.starts_with("app_") && group.len() == 12, "{group}");
    let text = format!("{sessions:?}");
    assert!(!text.contains("/home/"), "{text}");
}

fn machine_is_full() -> Behaviour {
    Behaviour::Fail("OOM command not allowed when used memory > 'maxmemory'")
}

/// A machine with its store.
struct SharingMachine {
    _folder: TempDir,
    store: Arc<SledStore>,
    projects: Arc<Projects>,
}

struct RunningShare {
    sharing: Arc<Sharing>,
    task: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

struct WrittenSession {
    session: Session,
    pending: Vec<crate::store::PendingWrite>,
}

impl WrittenSession {
    fn wait_here(self) -> Session {
        for write in self.pending {
            write.wait().unwrap();
        }
        self.session
    }
}

impl SharingMachine {
    fn new() -> SharingMachine {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SledStore::open(Path::new(folder.path())).unwrap());
        let projects = Arc::new(Projects::load(store.clone(), None).unwrap());
        SharingMachine { _folder: folder, store, projects }
    }

    fn config(&self, url: &str) -> Config {
        let engine = if url.starts_with("http") { EngineKind::Neo4j } else { EngineKind::FalkorDb };
        Config {
            engine: Some(engine),
            url: Some(url.to_owned()),
            name: Some("Ann".to_owned()),
            projects: vec![PROJECT.to_owned()],
            ..Config::default()
        }
    }

    fn sharing(&self, url: &str) -> Arc<Sharing> {
        let pauses = Pauses {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(1),
            answer: Duration::from_millis(200),
            ..Pauses::default()
        };
        let target = ShareTarget::new(&self.config(url));
        let (store, projects) = (self.store.clone(), self.projects.clone());
        Arc::new(Sharing::new(store, projects, "laptop".to_owned(), target, pauses))
    }

    fn start(&self, url: &str) -> RunningShare {
        let sharing = self.sharing(url);
        let follower = sharing.follower(&OutboxPositions::new(self.store.clone()));
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(sharing.clone().run(follower, stopping));
        RunningShare { sharing, task, stop }
    }

    async fn close(&self, number: i64) -> Session {
        self.close_in(number, PROJECT).await
    }

    /// Closes a session, and returns when its episode is on disk.
    async fn close_in(&self, number: i64, project: &str) -> Session {
        let WrittenSession { session, pending } = self.write_session(number, project);
        for write in pending {
            write.done().await.unwrap();
        }
        session
    }

    fn write_session(&self, number: i64, project: &str) -> WrittenSession {
        let key = self.store.next_session_key().unwrap();
        let mut session = contract::session(key, &format!("session-{number}"));
        let project = Project::new(project);
        self.projects.note(&project, Timestamp::default());
        session.project = Some(project);
        let episode = contract::episode(&session, 5_000 + number);
        session.indexed = Some(crate::model::session::Indexed {
            episode: episode.id,
            hash: episode.content_hash,
            at: episode.created_at,
            reason: episode.reason.clone(),
        });
        let mut statements = contract::statements(5_000 + number);
        statements.renames.clear();
        let writes = vec![
            Write::Session(Box::new(session.clone())),
            Write::Episode(Box::new(episode.clone())),
            Write::Statements { episode: episode.id, statements: Box::new(statements) },
        ];
        WrittenSession { pending: vec![self.store.write(writes)], session }
    }

    async fn write(&self, writes: Vec<Write>) {
        self.store.write(writes).done().await.unwrap();
    }

    fn sessions(&self) -> Vec<Session> {
        let mut all = Vec::new();
        self.store
            .visit_sessions(&mut |session| {
                all.push(session);
                true
            })
            .unwrap();
        all
    }

    fn episode(&self, session: &Session) -> Episode {
        let indexed = self.store.session(session.key).unwrap().unwrap().indexed.unwrap();
        self.store.episode(indexed.episode).unwrap().unwrap()
    }
}

impl RunningShare {
    fn group(&self) -> String {
        let namespace = Project::new(PROJECT).namespace();
        self.sharing.project(&[namespace]).unwrap().1
    }

    async fn until(&self, wanted: impl FnMut(&ShareStatus) -> bool) {
        self.sharing.status.subscribe().wait_for(wanted).await.unwrap();
    }

    /// Waits until the follower has recorded all changes of the store.
    async fn until_followed(&self, machine: &SharingMachine) {
        let end = machine.store.outbox_end();
        let mut followed = self.sharing.followed.subscribe();
        followed.wait_for(|at| at.position >= end).await.unwrap();
    }

    /// Waits until the engine has received a query with both texts.
    async fn until_query(&self, engine: &FakeEngine, one: &str, other: &str) {
        let mut status = self.sharing.status.subscribe();
        while !engine.queries().iter().any(|(_, text)| text.contains(one) && text.contains(other)) {
            status.changed().await.unwrap();
        }
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap();
    }

    /// Ends the work without saving anything.
    async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}
