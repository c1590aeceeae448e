//! Kills the daemon (`kill -9`) at random moments, while sessions are written and closed. No
//! acknowledged data are lost, no session has two episodes, and the daemon starts each time.
//!
//! `KILLS` sets the number of kills, and `SEED` the seed of the random numbers.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use graphiti_tests::{Daemon, Transcript, Wire, World};
use serde_json::{Value, json};

const SESSIONS: usize = 6;

#[test]
fn nothing_acknowledged_is_lost_when_the_daemon_is_killed() {
    let kills: u32 = variable("KILLS").unwrap_or(60);
    let seed = variable("SEED").unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(7, |now| u64::from(now.subsec_nanos()))
    });
    println!("{kills} kills, SEED={seed}");
    let mut random = XorShift(seed | 1);
    let world = World::new();
    let mut ledger = Ledger::new(&world);
    for round in 0..kills {
        let daemon = world.start();
        ledger.check(&daemon, round);
        ledger = ledger.work_until_killed(daemon, &mut random);
    }
    let daemon = world.start();
    ledger.check(&daemon, kills);
    let acknowledged: u64 = ledger.accounts.iter().map(|account| account.acknowledged).sum();
    println!("{acknowledged} closes acknowledged");
    assert!(acknowledged > u64::from(kills), "the test closed too few sessions");
}

/// What the daemon acknowledged for each session.
struct Ledger {
    accounts: Vec<Account>,
}

struct Account {
    transcript: Transcript,
    lines: u64,
    /// Number of lines at the last acknowledged close, and what the daemon promised then.
    promise: Option<(u64, Promise)>,
    acknowledged: u64,
}

#[derive(Clone, Debug)]
enum Promise {
    /// The session has this episode until the session changes.
    Episode(String),
    /// Any episode, at a later time.
    Later,
}

impl Ledger {
    fn new(world: &World) -> Ledger {
        let account = |number: usize| Account {
            transcript: world.transcript(&format!("{number:04}-crash")),
            lines: 0,
            promise: None,
            acknowledged: 0,
        };
        Ledger { accounts: (0..SESSIONS).map(account).collect() }
    }

    /// Writes to sessions and closes them on another thread, and kills the daemon meanwhile.
    fn work_until_killed(self, daemon: Daemon, random: &mut XorShift) -> Ledger {
        let steps = Arc::new(AtomicU64::new(0));
        let killed = Arc::new(AtomicBool::new(false));
        let kill_after = 1 + random.below(40);
        let ledger = Arc::new(Mutex::new(self));
        let worker = {
            let (steps, killed, ledger) = (steps.clone(), killed.clone(), ledger.clone());
            let (socket, mut random) = (daemon.socket().to_owned(), XorShift(random.next() | 1));
            std::thread::spawn(move || {
                let Ok(mut wire) = Wire::connect(&socket) else { return };
                while !killed.load(Ordering::Relaxed) {
                    steps.fetch_add(1, Ordering::Relaxed);
                    let at = random.below(SESSIONS as u64) as usize;
                    if ledger.lock().unwrap().accounts[at].step(&mut wire, &mut random).is_none() {
                        return;
                    }
                }
            })
        };
        while steps.load(Ordering::Relaxed) < kill_after && !worker.is_finished() {
            std::hint::spin_loop();
        }
        daemon.kill();
        killed.store(true, Ordering::Relaxed);
        worker.join().unwrap();
        let Ok(ledger) = Arc::try_unwrap(ledger) else {
            panic!("the worker still uses the ledger")
        };
        ledger.into_inner().unwrap()
    }

    fn check(&self, daemon: &Daemon, round: u32) {
        daemon.settle();
        let mut wire = daemon.wire();
        let mut episodes: BTreeMap<String, String> = BTreeMap::new();
        for account in &self.accounts {
            let id = account.transcript.session();
            let Some((lines, promise)) = &account.promise else { continue };
            let session = wire.call("get_session", &json!({ "session_id": id }))["session"].clone();
            let episode = session["episode"]["uuid"].as_str();
            let episode =
                episode.unwrap_or_else(|| panic!("round {round}: {id} has no episode: {session}"));
            if *lines == account.lines {
                assert_eq!(session["state"], "indexed", "round {round}: {session}");
                if let Promise::Episode(promised) = promise {
                    assert_eq!(episode, promised, "round {round}: {session}");
                }
            }
            let other = episodes.insert(episode.to_owned(), id.to_owned());
            assert_eq!(other, None, "round {round}: two sessions share an episode");
        }
        let health = wire.call("session_tracking_health", &json!({}));
        let listed = wire.call("list_sessions", &json!({ "limit": 100 }));
        let with_episode = listed["sessions"].as_array().unwrap().iter();
        let with_episode = with_episode.filter(|session| session["episode"].is_object()).count();
        assert_eq!(
            health["kept"]["episodes"], with_episode,
            "round {round}: an episode without a session"
        );
        assert_eq!(health["problems"], json!([]), "round {round}");
    }
}

impl Account {
    /// Writes records or closes the session; `None` when the daemon has ended.
    fn step(&mut self, wire: &mut Wire, random: &mut XorShift) -> Option<()> {
        match random.below(4) {
            0 | 1 => {
                for _ in 0..=random.below(3) {
                    self.transcript.prompt(&format!("Do number {}", self.lines));
                    self.lines += 1;
                }
                Some(())
            }
            2 => {
                let answer = self.ask(
                    wire,
                    "tools/call",
                    json!({
                        "name": "session_tracking_close",
                        "arguments": { "session_id": self.transcript.session() },
                    }),
                )?;
                if let Some(episode) = answer["structuredContent"]["episode_uuid"].as_str() {
                    self.promise = Some((self.lines, Promise::Episode(episode.to_owned())));
                    self.acknowledged += 1;
                }
                Some(())
            }
            _ => {
                let params =
                    json!({ "session_id": self.transcript.session(), "reason": "hook_other" });
                if self.ask(wire, "graphiti/close", params)?.is_object() && self.lines > 0 {
                    self.promise = Some((self.lines, Promise::Later));
                    self.acknowledged += 1;
                }
                Some(())
            }
        }
    }

    /// Returns the answer; null if the daemon returned an error, `None` if it has ended.
    fn ask(&self, wire: &mut Wire, method: &str, params: Value) -> Option<Value> {
        let request = graphiti_proto::rpc::Request::new(1, method, params);
        wire.try_send(&request.to_line()).ok()?;
        let line = wire.receive_line();
        let response: graphiti_proto::rpc::Response = serde_json::from_str(&line).ok()?;
        Some(response.outcome().unwrap_or(Value::Null))
    }
}

struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}
