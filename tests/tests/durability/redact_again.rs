//! Tests `graphiti redact --again`: a new kind of secret is removed from all stored and exported
//! data, down to the bytes on disk.

use std::{
    fs,
    path::{Path, PathBuf},
};

use graphiti_tests::{Daemon, World};
use graphitid::{
    engine::redaction::{StoredRedactor, note::StoredRules},
    model::{
        Episode, Message,
        graph::{Claim, Mention},
        session::Session,
    },
    store::{
        Cleaner, Note, NoteNamespace, Source, StoreError, TextStore, clean::CleaningPosition,
        sled::SledStore,
    },
};
use serde_json::{Value, json};

/// The word in the transcripts that is later replaced by the secret. No redaction rule matches it.
const WORD: &str = "periwinkle";
/// The secret. The `|` prevents scanners from reporting this file, and is removed before use.
const SECRET: &str = "gh|p_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw12";
/// A word in displayed data that is not a secret.
const PLAIN: &str = "walrus";

#[test]
fn data_of_an_older_version_contain_no_secrets_afterwards() {
    let world = World::new();
    let mut transcript = write(&world);
    let before = written_by_an_older_version(&world);
    let daemon = world.start();
    daemon.settle();
    assert!(hits(&daemon, &secret()) > 0, "the secret was planted");
    let shown = shown(&world);
    for (surface, text) in &shown {
        assert!(has_secret(text) || !MUST_SHOW.contains(&surface.as_str()), "{surface}: {text}");
    }
    let health = daemon.health();
    assert!(health.redaction.is_older && !health.redaction.is_unfinished, "{health:?}");
    let status = world.printed(&["status"]);
    assert!(status.contains("graphiti redact --again"), "{status}");
    let doctor = String::from_utf8(world.graphiti(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("graphiti redact --again"), "{doctor}");
    daemon.stop();
    assert!(!leaks(&world.home()).is_empty(), "the secret is on disk");

    let preview = world.json(&["redact", "--again"]);
    for what in ["messages", "summaries", "added memories", "entities", "facts", "learned tools"] {
        assert!(preview["changed"][what].as_u64() > Some(0), "{what}: {preview}");
    }
    assert!(preview["changed"]["evidence of transcript files"].as_u64() > Some(0), "{preview}");
    assert!(preview["kinds"]["github-token"].as_u64() > Some(10), "{preview}");
    assert!(!leaks(&world.home()).is_empty(), "a preview changes nothing");
    assert_eq!(world.json(&["redact", "--again"]), preview, "a preview changes nothing");

    let done = world.json(&["redact", "--again", "--run"]);
    assert_eq!((&done["changed"], &done["kinds"]), (&preview["changed"], &preview["kinds"]));
    assert_eq!(leaks(&world.home()), [] as [PathBuf; 0]);
    assert_clean(&world);

    let daemon = world.start();
    daemon.settle();
    assert_eq!(hits(&daemon, &secret()), 0);
    assert_eq!(hits(&daemon, PLAIN), 1);
    for (surface, text) in self::shown(&world) {
        assert!(!has_secret(&text), "{surface}: {text}");
    }
    let health = daemon.health();
    assert!(!health.redaction.is_older, "{health:?}");
    assert!(!world.printed(&["status"]).contains("--again"));

    // The session keeps its episode and its hash, and can be continued.
    let after = daemon.session("aaaa-1");
    assert_eq!(after["episode"]["uuid"], before["episode"]["uuid"]);
    assert_eq!(after["content_hash"], before["content_hash"]);
    assert_eq!(daemon.close("aaaa-1")["action"], "unchanged");
    transcript.prompt("And now the otter").reply("It is there.");
    daemon.settle();
    assert_eq!(daemon.close("aaaa-1")["action"], "replaced");
    assert_eq!(hits(&daemon, "otter"), 1);
    assert_eq!(daemon.session("aaaa-1")["message_count"].as_u64(), Some(count(&before) + 2));
    for (surface, text) in self::shown(&world) {
        assert!(!has_secret(&text), "{surface}: {text}");
    }
    daemon.stop();
    assert_eq!(leaks(&world.home()), [] as [PathBuf; 0]);
}

/// Commands that must show the secret before the redaction. Otherwise, the test would prove nothing.
const MUST_SHOW: [&str; 5] = ["list", "show aaaa-1", "show aaaa-1 --messages", "facts", "export"];

#[cfg(debug_assertions)]
#[test]
fn an_interrupted_run_is_resumed() {
    use graphitid::fault;

    let mut world = World::new();
    write(&world);
    written_by_an_older_version(&world);
    let planted = world.path("planted");
    copy(&world.home(), &planted);
    let points: Vec<&str> = fault::POINTS
        .iter()
        .copied()
        .filter(|point| ["redact", "smaller"].iter().any(|kind| point.starts_with(kind)))
        .collect();
    assert!(points.len() >= 7, "{points:?}");
    for point in points {
        fs::remove_dir_all(world.home()).unwrap();
        copy(&planted, &world.home());
        world.variables.push((fault::DIE_AT.to_owned(), format!("{point}:1")));
        let output = world.graphiti(&["redact", "--again", "--run"]);
        world.variables.pop();
        assert!(!output.status.success(), "the run does not reach `{point}`");
        // After each interruption, the daemon works and reports the remaining work.
        let daemon = world.start();
        daemon.settle();
        assert!(daemon.health().redaction.is_unfinished, "{point}");
        assert_eq!(hits(&daemon, PLAIN), 1, "{point}");
        daemon.stop();
        let done = world.json(&["redact", "--again", "--run"]);
        assert!(done["changed"]["messages"].as_u64() > Some(0), "{point}: {done}");
        assert_eq!(leaks(&world.home()), [] as [PathBuf; 0], "{point}");
        assert_clean(&world);
        let daemon = world.start();
        daemon.settle();
        assert_eq!((hits(&daemon, PLAIN), hits(&daemon, &secret())), (1, 0), "{point}");
        assert!(!daemon.health().redaction.is_older, "{point}");
        daemon.stop();
    }
}

#[test]
fn exported_files_are_redacted_in_place() {
    let world = World::new();
    write(&world);
    written_by_an_older_version(&world);
    let export = world.path("export");
    let daemon = world.start();
    daemon.settle();
    world.printed(&["export", export.to_str().unwrap()]);
    daemon.stop();
    fs::write(export.join("notes.txt"), secret()).unwrap();
    let with_secret = leaks(&export);
    assert!(with_secret.len() >= 4, "{with_secret:?}");

    let folder = export.to_str().unwrap();
    let preview = world.json(&["redact", "--again", folder]);
    assert_eq!(leaks(&export), with_secret, "a preview changes nothing");
    let done = world.json(&["redact", "--again", "--run", folder]);
    assert_eq!(preview["files"], done["files"]);
    assert_eq!(done["files"].as_array().unwrap().len(), with_secret.len() - 1, "{done}");
    // Files that no export wrote are not changed.
    assert_eq!(leaks(&export), [export.join("notes.txt")]);
    let refused =
        world.graphiti(&["redact", "--again", export.join("notes.txt").to_str().unwrap()]);
    assert!(!refused.status.success());
    assert_eq!(world.json(&["redact", "--again", folder])["files"], json!([]));

    // The redacted files can still be imported.
    let other = World::new();
    let daemon = other.start();
    let imported = other.printed(&["import", folder]);
    assert!(imported.contains('3'), "{imported}");
    assert_eq!(hits(&daemon, PLAIN), 1);
}

#[test]
fn the_daemon_is_stopped_for_a_redaction_and_started_again() {
    let world = World::new();
    world.printed(&["up"]);
    let printed = world.printed(&["redact", "--again", "--run"]);
    assert!(printed.starts_with("There is nothing to redact"), "{printed}");
    let printed = world.printed(&["redact", "--again"]);
    assert!(!printed.contains("--run") && !printed.contains("now counts"), "{printed}");
    let status = world.printed(&["status"]);
    assert!(!status.contains("--again"), "a new database has the present rules: {status}");
    world.printed(&["stop"]);
}

#[test]
fn text_without_findings_counts_as_redacted_after_a_preview() {
    let world = World::new();
    world.printed(&["up"]);
    world.printed(&["stop"]);
    let store = SledStore::open(&world.home().join("db")).unwrap();
    StoredRules::default().save(&store).unwrap();
    store.close();
    let printed = world.printed(&["redact", "--again"]);
    assert!(printed.contains("now counts as redacted by version"), "{printed}");
    assert!(!printed.contains("--run"), "{printed}");
    let printed = world.printed(&["redact", "--again"]);
    assert!(printed.starts_with("There is nothing to redact under version"), "{printed}");
}

#[test]
fn new_reasons_tool_names_and_memories_are_redacted() {
    let world = World::new();
    let mut transcript = world.transcript("aaaa-1");
    transcript.prompt(&format!("Deploy the {PLAIN}"));
    transcript.tool(&format!("mcp__vault__{}", secret()), &json!({ "entry": "a" }), "fine");
    transcript.record(&secret(), &json!({}));
    let daemon = world.start();
    daemon.settle();
    let reason = format!("done with {}", secret());
    daemon.call("session_tracking_close", &json!({ "session_id": "aaaa-1", "reason": reason }));
    daemon.call(
        "add_memory",
        &json!({
            "name": "a", "episode_body": "b", "source_description": secret(),
            "group_id": format!("/home/ada/{}", secret()),
        }),
    );
    world.printed(&["tools", "set", &format!("mcp__{}", secret()), "read", "network"]);
    let event = json!({
        "hook_event_name": "SessionEnd", "session_id": secret(), "reason": secret(), "cwd": secret(),
    });
    daemon.wire().ask("graphiti/hook", event).unwrap();
    daemon.settle();
    for (surface, text) in shown(&world) {
        assert!(!has_secret(&text), "{surface}: {text}");
    }
    let tools = world.printed(&["show", "aaaa-1", "--messages"]);
    assert!(tools.contains("mcp__vault__[REDACTED:github-token]-"), "{tools}");
    daemon.stop();
    assert_eq!(leaks(&world.home()), [] as [PathBuf; 0]);
    assert!(!has_secret(&world.log()), "{}", world.log());
}

/// The path of the transcript stays unchanged in the database, because the daemon needs it to open
/// the file.
#[test]
fn a_session_whose_file_is_named_after_a_secret_is_shown_without_it() {
    let world = World::new();
    world.configure(&json!({ "log": { "level": "debug" } }));
    let mut transcript = world.transcript(&secret());
    transcript.prompt(&format!("Deploy the {PLAIN}")).reply("Done.");
    let other = format!("{}x", secret());
    world.transcript(&other).prompt("Look at the otter").reply("Done.");
    let daemon = world.start();
    daemon.settle();
    let closed = daemon.close(&secret());
    assert_eq!(closed["action"], "indexed", "{closed}");
    transcript.prompt("And the heron").reply("Done.");
    daemon.settle();
    assert_eq!(daemon.close(&secret())["action"], "replaced");
    let ids = daemon.session_ids();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert_ne!(ids[0], ids[1]);
    for (surface, text) in shown(&world) {
        assert!(!has_secret(&text), "{surface}: {text}");
    }
    daemon.stop();
    assert!(!has_secret(&world.log()), "{}", world.log());
    // A restart changes nothing.
    let daemon = world.start();
    daemon.settle();
    assert_eq!(daemon.session_ids(), ids);
    assert_eq!(daemon.close(&secret())["action"], "unchanged");
}

/// Writes sessions that contain [`WORD`] in many stored fields.
fn write(world: &World) -> graphiti_tests::Transcript {
    let mut transcript = world.transcript("aaaa-1");
    transcript
        .prompt(&format!("Deploy the {PLAIN} with {WORD}"))
        .reply(&format!("I decided to use {WORD} because the other one is gone."))
        .tool("Bash", &json!({ "command": format!("deploy --with {WORD}") }), "deployed")
        .tool(
            "Edit",
            &json!({
                "file_path": "/work/app/.env",
                "old_string": "MODE=slow\n", "new_string": format!("MODE={WORD}\n"),
            }),
            "edited",
        )
        .tool(
            "Write",
            &json!({ "file_path": format!("/work/app/src/{WORD}.rs"), "content": "fn a() {}\n" }),
            "written",
        )
        .tool(&format!("mcp__vault__{WORD}"), &json!({ "entry": WORD }), WORD)
        .failing_tool("Bash", &json!({ "command": "cargo test" }), &format!("error: {WORD} is old"))
        .reply(&format!("The cause was that {WORD} had expired. Left open: rotate {WORD}."));
    world.transcript("bbbb-2").prompt(&format!("Look at {WORD}")).reply("It is there.");
    transcript
}

/// Lets the daemon read all sessions, and then replaces [`WORD`] by the secret in all stored data.
/// Returns the session `aaaa-1`.
fn written_by_an_older_version(world: &World) -> Value {
    let daemon = world.start();
    daemon.settle();
    for session in ["aaaa-1", "bbbb-2"] {
        daemon.close(session);
    }
    daemon.call("add_memory", &json!({ "name": WORD, "episode_body": format!("It is {WORD}.") }));
    world.printed(&["tools", "set", &format!("mcp__vault__{WORD}"), "read", "network"]);
    daemon.settle();
    let session = daemon.session("aaaa-1");
    daemon.stop();

    let store = SledStore::open(&world.home().join("db")).unwrap();
    let (mut planter, mut position) = (Planter { secret: secret() }, CleaningPosition::new());
    while let Some(next) = store.clean(&mut planter, &position).unwrap().next {
        position = next;
    }
    assert!(StoredRules::of(&store).unwrap().rules.is_none());
    store.close();
    // The index is rebuilt from the stored data.
    for index in ["index", "index-entities", "index-facts"] {
        fs::remove_dir_all(world.home().join(index)).unwrap();
    }
    let mut log = fs::read_to_string(world.home().join("graphitid.log")).unwrap_or_default();
    log.push_str(&format!("WARN cannot read file=/home/ann/{}.jsonl\n", secret()));
    fs::write(world.home().join("graphitid.log"), log).unwrap();
    session
}

/// Replaces [`WORD`] by the secret, without any redaction.
struct Planter {
    secret: String,
}

impl Planter {
    fn plant(&self, text: &mut String) -> bool {
        let planted = text.replace(WORD, &self.secret);
        let is_changed = planted != *text;
        *text = planted;
        is_changed
    }

    fn plant_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) -> bool {
        texts.into_iter().fold(false, |changed, text| self.plant(text) | changed)
    }

    fn plant_bytes(&self, bytes: &mut Vec<u8>) -> bool {
        let Ok(mut text) = String::from_utf8(bytes.clone()) else { return false };
        let is_changed = self.plant(&mut text);
        *bytes = text.into_bytes();
        is_changed
    }
}

impl Cleaner for Planter {
    fn session(&mut self, _: &mut Session) -> bool {
        false
    }

    fn source(&mut self, _: &mut Source) -> bool {
        false
    }

    fn checkpoint(
        &mut self,
        checkpoint: &mut Vec<u8>,
        _: &dyn Fn(u32) -> Result<Vec<Message>, StoreError>,
    ) -> Result<bool, StoreError> {
        Ok(self.plant_bytes(checkpoint))
    }

    fn message(&mut self, message: &mut Message) -> bool {
        let Message { text, tool, files, .. } = message;
        self.plant(text) | self.plant_all(tool) | self.plant_all(files)
    }

    fn episode(&mut self, episode: &mut Episode) -> bool {
        let mut summary = serde_json::to_vec(&episode.summary).unwrap();
        self.plant_bytes(&mut summary);
        episode.summary = serde_json::from_slice(&summary).unwrap();
        self.plant(&mut episode.name);
        episode.external.iter_mut().for_each(|content| {
            self.plant(&mut content.text);
        });
        true
    }

    fn mention(&mut self, mention: &mut Mention) -> bool {
        self.plant(&mut mention.name)
    }

    fn claim(&mut self, claim: &mut Claim) -> bool {
        let in_details = self.plant_all(claim.details.iter_mut().map(|(_, value)| value));
        self.plant(&mut claim.sentence) | in_details
    }

    fn note(&mut self, note: &mut Note) -> bool {
        if note.namespace == NoteNamespace::Redaction {
            note.content = None;
            return true;
        }
        note.content.as_mut().is_some_and(|content| self.plant_bytes(content))
    }
}

fn secret() -> String {
    SECRET.replace('|', "")
}

/// Looks for only a part of the secret, because compression may split the secret.
fn has_secret(text: &str) -> bool {
    text.contains(&secret()[6..22])
}

fn hits(daemon: &Daemon, words: &str) -> usize {
    let found = daemon.call("search_sessions", &json!({ "query": words }));
    found["hits"].as_array().unwrap().len()
}

fn count(session: &Value) -> u64 {
    session["message_count"].as_u64().unwrap()
}

/// Returns the output of each command that shows stored data.
fn shown(world: &World) -> Vec<(String, String)> {
    let mut shown = Vec::new();
    for command in [
        "list",
        "show aaaa-1",
        "show aaaa-1 --messages",
        "show bbbb-2",
        "facts",
        "search deploy",
        "handoff --project /work/app",
        "tools list",
        "unindexed",
    ] {
        let arguments: Vec<&str> = command.split(' ').chain(["--json"]).collect();
        let output = world.graphiti(&arguments);
        shown.push((command.to_owned(), String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let export = world.path("shown");
    world.printed(&["export", export.to_str().unwrap()]);
    for file in files(&export) {
        let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
        match shown.last_mut() {
            Some((surface, all)) if surface == "export" => all.push_str(&text),
            _ => shown.push(("export".to_owned(), text)),
        }
    }
    fs::remove_dir_all(export).unwrap();
    shown
}

/// Checks that a second redaction changes nothing.
fn assert_clean(world: &World) {
    let store = SledStore::open(&world.home().join("db")).unwrap();
    let mut again = StoredRedactor::default();
    let mut position = CleaningPosition::new();
    while let Some(next) = store.preview_cleaning(&mut again, &position).unwrap().next {
        position = next;
    }
    assert!(again.report.is_empty(), "{:?}", again.report);
    store.close();
}

/// Returns the files of a folder that contain the secret.
fn leaks(folder: &Path) -> Vec<PathBuf> {
    let secret = secret();
    let piece = &secret.as_bytes()[6..22];
    let mut found = files(folder);
    found.retain(|file| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(piece.len()).any(|window| window == piece)
    });
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}

#[cfg(debug_assertions)]
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap().flatten() {
        let (kind, target) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target);
        } else if kind.is_file() {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
