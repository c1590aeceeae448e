//! Tests that the limits on disk are kept, and that data are evicted in the documented order.

use std::{
    fs, iter,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use graphiti_proto::methods;
use graphiti_tests::{Daemon, Transcript, World};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const DATABASE: u64 = 32 << 20;
const INDEX: u64 = 32 << 20;
const SESSIONS: u32 = 40;
/// The time after which a daemon that does not get below its limit has failed. It is several times the
/// duration of the import on the slowest machine.
const SETTLE_LIMIT: Duration = Duration::from_secs(15 * 60);

#[test]
fn the_oldest_text_is_evicted_before_a_limit_is_reached_and_episodes_stay() {
    let world = World::new();
    let limits = json!({ "database_bytes": DATABASE, "index_bytes": "1 GiB" });
    world.configure(&json!({ "limits": limits }));
    let mut transcripts = sessions(&world, 30);
    let daemon = world.start();
    let health = wait_until_settled(&daemon, |health| {
        // While the database is being reopened, the answer is an error.
        let Some(used) = health["kept"]["database_bytes"].as_u64() else { return false };
        assert!(used <= DATABASE, "{used} bytes");
        used <= DATABASE / 8 * 5
    });
    println!("{}", summary(&health));
    assert!(health["evicted"]["sessions"].as_u64().unwrap() > 0, "{health}");
    assert_eq!(health["evicted"]["episodes"], 0, "{health}");
    assert_eq!(health["kept"]["episodes"], SESSIONS, "{health}");
    assert_eq!(health["problems"], json!([]), "{health}");
    // The oldest indexed session is evicted first, and a history is imported newest first. Sessions
    // without text are still found by their episodes.
    let gone: Vec<u32> =
        (0..SESSIONS).filter(|number| texts(&daemon, &session(*number)) == 0).collect();
    println!("text was evicted from sessions {gone:?}");
    assert!(gone.len() < SESSIONS as usize, "all text was evicted");
    assert_eq!(health["evicted"]["sessions"], gone.len(), "{health}");
    for number in &gone {
        assert_eq!(found(&daemon, &word(*number)), [session(*number)]);
    }
    let gone = gone[0];
    let status = world.printed(&["status"]);
    assert!(status.contains("evicted") && status.contains("text of"), "{status}");
    let doctor = String::from_utf8(world.graphiti(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains("evicted so far"), "{doctor}");
    assert!(world.log().contains("approaches its limit"), "{}", world.log());
    daemon.stop();

    // Evicted text is read again only when its session continues. The new episode is then complete.
    let daemon = world.start();
    daemon.settle_at_last();
    let again = daemon.insist("session_tracking_health", &json!({})).unwrap();
    assert_eq!(again["history"]["bytes_read"], 0, "{again}");
    // A reopened file may be a little larger, so that more is evicted.
    let messages = |health: &Value| health["kept"]["messages"].as_u64().unwrap();
    assert!(messages(&again) <= messages(&health), "{again}");
    assert_eq!(again["kept"]["episodes"], SESSIONS, "{again}");
    let transcript = &mut transcripts[gone as usize];
    transcript.prompt("And now the periwinkle").reply("It blooms.");
    // While space is being freed, a close is refused with a message.
    let close = || {
        daemon.settle_at_last();
        let session = json!({ "session_id": transcript.session() });
        daemon.insist("session_tracking_close", &session).expect("the daemon runs")
    };
    let refused = |closed: &Value| closed.to_string().contains("session_tracking.limits");
    let closed = iter::repeat_with(close).take(1_000).find(|closed| !refused(closed));
    let closed = closed.expect("space is freed");
    assert_eq!(closed["status"], "success", "{closed}");
    assert_eq!(found(&daemon, "periwinkle"), [transcript.session()]);
    let shown = world.printed(&["show", transcript.session()]);
    assert!(shown.contains(&word(gone)), "{shown}");
}

#[test]
fn the_index_shrinks_when_text_is_evicted() {
    let world = World::new();
    world.configure(&json!({ "limits": { "index_bytes": INDEX } }));
    sessions(&world, 60);
    let daemon = world.start();
    let is_settled = AtomicBool::new(false);
    let (health, most) = thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let folders = ["index", "index-entities", "index-facts"];
            let taken = || folders.iter().map(|folder| bytes(&world.home().join(folder))).sum();
            iter::from_fn(|| (!is_settled.load(Ordering::Relaxed)).then(taken)).max()
        });
        // If the wait below fails, this value ends the watching thread. Otherwise, the scope would
        // wait for the thread forever.
        let settled = SetOnDrop(&is_settled);
        let health = wait_until_settled(&daemon, |health| {
            health["kept"]["index_bytes"].as_u64().unwrap() <= INDEX / 8 * 3
        });
        drop(settled);
        (health, watching.join().unwrap().unwrap_or(0))
    });
    println!("{most} bytes at most");
    assert!(most <= INDEX, "{most} bytes");
    println!("{}", summary(&health));
    assert!(health["evicted"]["sessions"].as_u64().unwrap() > 0, "{health}");
    assert_eq!(health["kept"]["episodes"], SESSIONS);
    assert_eq!(found(&daemon, &word(SESSIONS - 1)), [session(SESSIONS - 1)]);
}

struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn hooks_keep_the_limit_of_the_spool() {
    let world = World::new();
    world.configure(&json!({ "limits": { "spool_bytes": "1 MiB" } }));
    world.start().stop();
    let events = 300;
    for number in 0..events {
        let event = json!({ "hook_event_name": "SessionEnd", "session_id": format!("s{number}") });
        let input = world.path("event.json");
        fs::write(&input, event.to_string()).unwrap();
        let input = fs::File::open(input).unwrap();
        let status = world.command("graphiti").arg("hook").stdin(input).status().unwrap();
        assert!(status.success());
    }
    assert_eq!(fs::read_dir(world.home().join("spool")).unwrap().count(), (1 << 20) / 4096);
}

#[test]
fn all_log_files_together_keep_their_limit() {
    let world = World::new();
    let log = world.home().join("logs/a.log");
    world.configure(&json!({
        "log": { "file": log, "max_bytes": "64 KiB" },
        // Each reload reports that the model for this setting is missing.
        "auto_summarize": true,
        "limits": { "log_bytes": "256 KiB" },
    }));
    let daemon = world.start();
    let mut wire = daemon.wire();
    let mut files = 0;
    for _ in 0..100_000 {
        wire.ask(methods::RELOAD, json!({})).unwrap();
        files = fs::read_dir(log.parent().unwrap()).unwrap().count();
        assert!(bytes(log.parent().unwrap()) <= 256 << 10);
        if files == 4 {
            break;
        }
    }
    assert_eq!(files, 4, "too little was logged for this test");
}

/// Writes transcripts of ended sessions, newest first. Each session has a prompt with a unique word,
/// and then `replies` pairs of a prompt and a reply. Each pair is 13 kB of random text.
fn sessions(world: &World, replies: usize) -> Vec<Transcript> {
    let mut random = 88_172_645_463_325_252u64;
    let mut noise = || -> String {
        let mut word = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            format!("{:08x}", random as u32)
        };
        (0..700).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    let one = |number: u32| {
        let mut transcript = world.transcript(&session(number)).aged(DAY * (1 + number));
        transcript.prompt(&format!("Fix the {} in the parser", word(number)));
        for _ in 0..replies {
            transcript.prompt(&noise()).reply(&noise());
        }
        transcript.reply(&format!("The {} is fixed.", word(number)));
        transcript
    };
    (0..SESSIONS).map(one).collect()
}

/// Waits until everything is imported, text was evicted, and `is_small_enough` returns true for the
/// answer of the daemon.
fn wait_until_settled(daemon: &Daemon, mut is_small_enough: impl FnMut(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        daemon.settle_at_last();
        let health = daemon.insist("session_tracking_health", &json!({})).expect("the daemon runs");
        assert!(
            began.elapsed() < SETTLE_LIMIT,
            "the daemon does not get below its limit: {health:#}"
        );
        let evicted = health["evicted"]["episodes"].as_u64();
        assert!(evicted.unwrap_or(0) == 0, "episodes were evicted: {health:#}");
        let is_small_enough = is_small_enough(&health);
        let is_imported = health["history"]["left"] == 0 && health["sessions"]["failed"] == 0;
        let has_episodes = health["kept"]["episodes"] == SESSIONS;
        if is_small_enough && is_imported && has_episodes && health["evicted"]["sessions"] != 0 {
            return health;
        }
    }
}

fn session(number: u32) -> String {
    format!("{number:04}-limits")
}

fn word(number: u32) -> String {
    let letters = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu"];
    let (ten, one) = (number as usize / 10, number as usize % 10);
    format!("zz{}{}marmot", letters[ten], letters[one])
}

/// Returns the number of stored messages of a session, at most 100.
fn texts(daemon: &Daemon, session: &str) -> usize {
    let arguments = json!({ "session_id": session, "view": "messages", "limit": 100 });
    let shown = daemon.insist("get_session", &arguments).unwrap();
    shown["messages"].as_array().map_or(0, Vec::len)
}

fn found(daemon: &Daemon, query: &str) -> Vec<String> {
    let arguments = json!({ "query": query, "limit": 50 });
    let found = daemon.insist("search_sessions", &arguments).unwrap();
    let hits = found["hits"].as_array().unwrap_or_else(|| panic!("{found}"));
    let session = |hit: &Value| hit["session"]["session_id"].as_str().unwrap().to_owned();
    let mut sessions: Vec<String> = hits.iter().map(session).collect();
    sessions.dedup();
    sessions
}

fn summary(health: &Value) -> String {
    let kept = &health["kept"];
    format!("kept {kept}, evicted {}, limits {}", health["evicted"], health["limits"])
}

/// Returns the size, in bytes, of the files in a folder, some of which may be deleted in the
/// meantime.
fn bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}
