//! Tests sessions in the database of opencode, which is changed while it is read.

use std::{fs, path::PathBuf};

use rusqlite::{Connection, params};
use serde_json::json;

use super::{Machine, messages, sources};
use crate::store::Store;

const TABLES: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
        title text NOT NULL, version text NOT NULL, time_created integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
        time_created integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, data text NOT NULL);";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_and_its_sub_agent_are_followed_in_the_database() {
    let machine = Machine::new();
    let database = Database::create(&machine);
    database.session("ses_1", None);
    database.prompt("ses_1", 1, "one");
    let run = machine.start();
    run.announce(&[database.path("ses_1")]).await;
    run.settle().await;
    database.prompt("ses_1", 2, "two");
    database.session("ses_2", Some("ses_1"));
    database.prompt("ses_2", 3, "three");
    run.announce(&["ses_1", "ses_2"].map(|id| database.path(id))).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref()), ["one", "two", "three"]);
    let sources = sources(store.as_ref());
    assert_eq!(sources[1].sub_agent.as_deref(), Some("ses_2"));
    assert_eq!(sources[0].key.session, sources[1].key.session);
    assert_eq!(sources[0].tally.restarts, 0);
    let session = store.session(sources[0].key.session).unwrap().unwrap();
    assert_eq!(session.project.unwrap().path(), "/home/ann/app");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_moves_from_files_to_the_database_stays_the_same_session() {
    let machine = Machine::new();
    let file = machine.path("storage/session/p/ses_1.json");
    let session = json!({ "id": "ses_1", "directory": "/home/ann/app", "version": "1.0.0",
        "title": "", "time": { "created": 1 } });
    for (path, content) in [
        (file.clone(), session),
        (machine.path("storage/message/ses_1/msg_1.json"), message(1)),
        (machine.path("storage/part/msg_1/prt_1.json"), part("one")),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    }
    let run = machine.start();
    run.announce(std::slice::from_ref(&file)).await;
    run.settle().await;
    let database = Database::create(&machine);
    database.session("ses_1", None);
    database.prompt("ses_1", 1, "one");
    database.prompt("ses_1", 2, "two");
    run.announce(&[database.path("ses_1"), file]).await;
    run.settle().await;
    let store = run.stop().await;
    assert_eq!(texts(store.as_ref()), ["one", "two"]);
    let sources = sources(store.as_ref());
    assert_eq!(sources.len(), 1);
    assert_eq!(sources[0].path, database.path("ses_1").to_str().unwrap());
}

struct Database {
    file: PathBuf,
    connection: Connection,
}

impl Database {
    fn create(machine: &Machine) -> Database {
        let file = machine.path("opencode.db");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let connection = Connection::open(&file).unwrap();
        connection.execute_batch(TABLES).unwrap();
        Database { file, connection }
    }

    fn path(&self, session: &str) -> PathBuf {
        self.file.join(session)
    }

    fn session(&self, id: &str, parent: Option<&str>) {
        let query = "INSERT INTO session VALUES (?1, ?2, '/home/ann/app', '', '1.0.0', 1)";
        self.connection.execute(query, params![id, parent]).unwrap();
    }

    fn prompt(&self, session: &str, number: i64, text: &str) {
        let (id, data) = (format!("msg_{number}"), message(number).to_string());
        let query = "INSERT INTO message VALUES (?1, ?2, ?3, ?4)";
        self.connection.execute(query, params![id, session, number, data]).unwrap();
        let query = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?5)";
        let params = params![format!("prt_{number}"), id, session, number, part(text).to_string()];
        self.connection.execute(query, params).unwrap();
    }
}

fn message(number: i64) -> serde_json::Value {
    json!({ "role": "user", "time": { "created": number } })
}

fn part(text: &str) -> serde_json::Value {
    json!({ "type": "text", "text": text })
}

fn texts(store: &dyn Store) -> Vec<String> {
    let sources = sources(store);
    let messages = sources.iter().flat_map(|source| messages(store, source));
    messages.map(|message| message.text).collect()
}
