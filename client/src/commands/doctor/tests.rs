use graphiti_proto::{
    PROTOCOL,
    methods::{
        Welcome,
        files::FileCheckReport,
        hook::{HookCount, HookCounts},
        share::{ShareAnswer, ShareCheck},
    },
    tools::{SessionRow, health},
};

use super::{
    Finding, Verdict, examine,
    observations::{
        Access, DaemonAnswers, DaemonProbe, Folder, Observations, ObservedAgent, Socket,
    },
};
use crate::setup::Wiring;

/// A change to the observations of a machine without problems.
type Harm = fn(&mut Observations);

#[test]
fn a_healthy_machine_needs_no_remedy() {
    for finding in examine(&healthy()) {
        assert_eq!((finding.verdict, finding.remedy), (Verdict::Ok, None), "{}", finding.what);
    }
}

#[test]
fn every_part_is_checked_once() {
    let abouts: Vec<&str> = examine(&healthy()).iter().map(|finding| finding.about).collect();
    let expected = [
        "daemon",
        "version",
        "configuration",
        "home",
        "socket",
        "claude",
        "hooks",
        "transcripts",
        "watching",
        "files",
        "disk",
        "memory",
        "index",
        "clock",
    ];
    assert_eq!(abouts, expected);
}

#[test]
fn problems_are_reported_with_a_remedy() {
    use Verdict::{Bad, Warn};
    let rows: &[(Harm, &str, Verdict, &str, &str)] = &[
        // the files
        (|seen| files(seen).twice = 2, "files", Bad, "more than once: 2 of 400", "graphiti forget"),
        (|seen| files(seen).behind = 3, "files", Warn, "unread lines: 3 of 400", "graphiti stop"),
        (
            |seen| {
                let what = "the engine rejects the login".to_owned();
                let remedy = "check `share.user`".to_owned();
                let checks = vec![ShareCheck { is_good: false, what, remedy }];
                answers(seen).share = Some(ShareAnswer { checks, ..ShareAnswer::default() });
            },
            "sharing",
            Warn,
            "rejects the login",
            "share.user",
        ),
        (
            |seen| answers(seen).health.watched.clear(),
            "watching",
            Warn,
            "no session is recorded",
            "set enabled to true",
        ),
        // the program
        (|seen| seen.daemon = DaemonProbe::Down, "daemon", Bad, "not running", "graphiti up"),
        (
            |seen| {
                seen.daemon = DaemonProbe::Down;
                seen.program = None;
            },
            "daemon",
            Bad,
            "neither in the folder of this program nor on PATH",
            "install graphitid",
        ),
        (
            |seen| {
                seen.daemon = DaemonProbe::Down;
                seen.spooled = 3;
            },
            "daemon",
            Bad,
            "wait for the daemon: 3",
            "graphiti up",
        ),
        (
            |seen| seen.daemon = DaemonProbe::Silent(Some(4711)),
            "daemon",
            Bad,
            "does not answer (pid 4711)",
            "graphiti stop --force",
        ),
        (
            |seen| seen.daemon = DaemonProbe::Failing("refused".to_owned()),
            "daemon",
            Bad,
            "refused",
            "graphiti stop",
        ),
        (
            |seen| seen.daemon = DaemonProbe::OtherProtocol(welcome(PROTOCOL + 1)),
            "version",
            Bad,
            "uses protocol",
            "update graphiti to",
        ),
        (
            |seen| seen.daemon = DaemonProbe::OtherProtocol(welcome(PROTOCOL - 1)),
            "version",
            Bad,
            "uses protocol",
            "update graphitid",
        ),
        (
            |seen| answers(seen).welcome.version = "0.0.1".to_owned(),
            "version",
            Warn,
            "graphitid is 0.0.1",
            "graphiti stop",
        ),
        (
            |seen| seen.config_notice = Some("c.json:3: `a` is unknown".to_owned()),
            "configuration",
            Warn,
            "c.json:3",
            "config check",
        ),
        (
            |seen| seen.misconfigured = Some("c.json:3: unknown key".to_owned()),
            "configuration",
            Bad,
            "c.json:3",
            "config check",
        ),
        // access
        (
            |seen| seen.unwritable = Some("/home/u/.graphiti: read-only".to_owned()),
            "home",
            Bad,
            "cannot write to /home/u/.graphiti: read-only",
            "GRAPHITI_HOME",
        ),
        (
            |seen| seen.home_access = Access::Mode(0o755),
            "home",
            Bad,
            "open to others (0755)",
            "chmod 700 /home/u/.graphiti",
        ),
        (
            |seen| {
                seen.socket.path = "/tmp/g.sock".to_owned();
                seen.socket.access = Access::Mode(0o666);
            },
            "socket",
            Bad,
            "open to others (0666)",
            "chmod 600 /tmp/g.sock",
        ),
        (|seen| seen.socket.is_socket = false, "socket", Bad, "is not a socket", "move"),
        #[cfg(unix)]
        (
            |seen| {
                seen.socket.path = format!("/home/{}/mcp.sock", "u".repeat(100));
                seen.socket.access = Access::Absent;
            },
            "socket",
            Bad,
            "115 bytes",
            "GRAPHITI_HOME",
        ),
        // agents
        (|seen| seen.agents.clear(), "agents", Warn, "no agent was found", "--agent"),
        (|seen| wired(seen, Wiring::Missing), "claude", Warn, "not set up", "setup --agent claude"),
        (|seen| wired(seen, Wiring::Outdated), "claude", Warn, "another version or path", "setup"),
        (
            |seen| seen.agents[0].old_hooks = Some("/s.json (Stop)".to_owned()),
            "claude",
            Warn,
            "/s.json (Stop)",
            "doctor --fix",
        ),
        (
            |seen| wired(seen, Wiring::Unreadable("/s.json: broken".to_owned())),
            "claude",
            Warn,
            "/s.json: broken",
            "repair that file",
        ),
        (|seen| seen.agents[0].has_plugin = true, "claude", Warn, "runs twice", "--remove"),
        (
            |seen| answers(seen).hook_counts.events.clear(),
            "hooks",
            Warn,
            "Claude Code worked 10 min ago",
            "restart the agent",
        ),
        // data
        (
            |seen| seen.folders[0].transcripts = 0,
            "transcripts",
            Warn,
            "no transcripts in",
            "watch_dir",
        ),
        (
            |seen| {
                let path = "/home/u/.codex/sessions".into();
                seen.unwatched = vec![Folder { path, folders: 1, transcripts: 2, error: None }];
            },
            "unwatched",
            Warn,
            "not followed, because watch_directories selects other folders: ",
            "graphiti reload",
        ),
        (
            |seen| seen.folders[0].error = Some("denied".to_owned()),
            "transcripts",
            Warn,
            "denied",
            "watch_directories",
        ),
        (
            |seen| {
                answers(seen).health.watch_mode =
                    "polling, because there are more folders than fs.inotify.max_user_watches allows"
                        .to_owned();
            },
            "watching",
            Warn,
            "polling",
            "sysctl",
        ),
        (
            |seen| {
                answers(seen).health.watch_mode =
                    "polling, because the file system reports no changes".to_owned();
            },
            "watching",
            Warn,
            "polling",
            "local disk",
        ),
        (|seen| seen.watch_limit = Some(50), "watching", Warn, "30 folders of 50", "sysctl"),
        (
            |seen| {
                let model = &mut answers(seen).health.model;
                model.on = true;
                model.outage = Some("401 from the provider".to_owned());
            },
            "model",
            Warn,
            "401",
            "key",
        ),
        (
            |seen| {
                let vectors = &mut answers(seen).health.embeddings;
                vectors.on = true;
                vectors.error = Some("401 from the provider".to_owned());
            },
            "vectors",
            Warn,
            "401",
            "full text only",
        ),
        (|seen| seen.free_bytes = Some(900 << 20), "disk", Warn, "944 MB are free", "free space"),
        (
            |seen| {
                seen.free_bytes = Some(2 << 30);
                answers(seen).health.kept.database_bytes = 4 << 30;
            },
            "disk",
            Warn,
            "4.3 GB are used",
            "free space",
        ),
        (|seen| seen.free_bytes = Some(0), "disk", Bad, "only 0 B", "free space"),
        (
            |seen| {
                let index = &mut answers(seen).health.index;
                (index.changes_behind, index.stalled) = (1_234, true);
            },
            "index",
            Bad,
            "1,234 changes behind the database and makes no progress",
            "graphiti stop",
        ),
        (
            |seen| answers(seen).health.problems = vec!["the index is broken".to_owned()],
            "memory",
            Warn,
            "the index is broken",
            "graphiti status",
        ),
        (
            |seen| seen.damaged = vec!["/home/u/.graphiti/db.damaged-1".into()],
            "memory",
            Warn,
            "db.damaged-1",
            "graphiti repair",
        ),
        (
            |seen| {
                let health = &mut answers(seen).health;
                health.limits.database_bytes = 4_000_000_000;
                health.kept.database_bytes = 2_600_000_000;
                health.evicted.sessions = 3;
                health.evicted.text_bytes = 7_000_000;
                health.evicted.at = Some("2026-03-19T12:00:00Z".to_owned());
            },
            "limits",
            Warn,
            "database 2.6 GB of 4.0 GB; evicted so far: text of 3 sessions (7.0 MB), last on 2026-03-19",
            "limits.database_bytes",
        ),
        (|seen| answers(seen).health.sessions.failed = 2, "memory", Warn, ": 2", "--state failed"),
        (|seen| latest(seen, "2026-03-20T15:00:00Z"), "clock", Warn, "3 h in the future", "clock"),
        (|seen| seen.now = at("1970-01-01T00:10:00Z"), "clock", Bad, "1970-01-01", "set the clock"),
    ];
    for (harm, about, verdict, what, remedy) in rows {
        let mut seen = healthy();
        harm(&mut seen);
        let finding = found(&seen, about);
        assert_eq!(finding.verdict, *verdict, "{about}: {}", finding.what);
        assert!(finding.what.contains(what), "{}", finding.what);
        let answers = finding.remedy.expect("a finding about a problem has a remedy");
        assert!(answers.contains(remedy), "{answers}");
    }
}

#[test]
fn harmless_states_are_not_reported_as_problems() {
    let rows: &[(Harm, &str, &str)] = &[
        // On macOS, the daemon cannot set the mode of its socket.
        (|seen| seen.socket.access = Access::Mode(0o755), "socket", "protected by its folder"),
        (|seen| seen.home_access = Access::Unknown, "home", ".graphiti"),
        #[cfg(target_os = "linux")]
        (
            |seen| {
                seen.socket.path = format!("/home/{}/mcp.sock", "u".repeat(90));
                seen.socket.access = Access::Mode(0o600);
            },
            "socket",
            "only you have access",
        ),
        (
            |seen| {
                let health = &mut answers(seen).health;
                health.limits.index_bytes = 2_000_000_000;
                health.kept.index_bytes = 1_000;
            },
            "limits",
            "index 1.0 kB of 2.0 GB",
        ),
        (
            |seen| {
                seen.agents[0].has_plugin = true;
                wired(seen, Wiring::Missing);
            },
            "claude",
            "has the plugin",
        ),
        (
            |seen| {
                answers(seen).hook_counts.events.clear();
                latest(seen, "2026-03-20T09:00:30Z");
            },
            "hooks",
            "no agent was active",
        ),
        (
            |seen| {
                answers(seen).hook_counts.events.clear();
                answers(seen).latest = None;
            },
            "hooks",
            "no agent was active",
        ),
        (
            |seen| answers(seen).health.watch_mode = "polling, as configured".to_owned(),
            "watching",
            "as configured",
        ),
        (|seen| answers(seen).files = Some(FileCheckReport::default()), "files", "registered once"),
        (|seen| answers(seen).health.model.on = true, "model", "no errors were reported"),
        (|seen| seen.watch_limit = None, "watching", "events"),
        (|seen| latest(seen, "2026-03-20T12:04:00Z"), "clock", "2026-03-20"),
        (|seen| answers(seen).health.history.left = 9, "memory", "9 sessions are still"),
        (|seen| answers(seen).hook_counts.spooled = 2, "hooks", "2 events wait for their sessions"),
    ];
    for (change, about, what) in rows {
        let mut seen = healthy();
        change(&mut seen);
        let finding = found(&seen, about);
        assert_eq!(finding.verdict, Verdict::Ok, "{about}: {}", finding.what);
        assert!(finding.what.contains(what), "{}", finding.what);
    }
}

#[test]
fn hooks_that_are_not_set_up_are_not_expected_to_run() {
    let mut seen = healthy();
    answers(&mut seen).hook_counts.events.clear();
    wired(&mut seen, Wiring::Missing);
    assert!(examine(&seen).iter().all(|finding| finding.about != "hooks"));
}

#[test]
fn the_rest_is_checked_while_the_daemon_is_down() {
    let mut seen = healthy();
    seen.daemon = DaemonProbe::Down;
    seen.socket.access = Access::Absent;
    let abouts: Vec<&str> = examine(&seen).iter().map(|finding| finding.about).collect();
    let expected = ["daemon", "configuration", "home", "claude", "transcripts", "disk", "clock"];
    assert_eq!(abouts, expected);
    seen.folders[0].transcripts = 0;
    assert!(examine(&seen).iter().all(|finding| finding.about != "transcripts"));
    seen.folders[0].error = Some("denied".to_owned());
    assert_eq!(found(&seen, "transcripts").verdict, Verdict::Warn);
}

fn healthy() -> Observations {
    Observations {
        now: at("2026-03-20T12:00:00Z"),
        home: "/home/u/.graphiti".into(),
        home_access: Access::Mode(0o700),
        unwritable: None,
        socket: Socket {
            path: "/home/u/.graphiti/mcp.sock".to_owned(),
            usual: "/home/u/.graphiti/mcp.sock".to_owned(),
            access: Access::Mode(0o600),
            is_socket: true,
        },
        program: Some("/usr/bin/graphitid".into()),
        misconfigured: None,
        config_notice: None,
        daemon: DaemonProbe::Answers(Box::new(DaemonAnswers {
            welcome: welcome(PROTOCOL),
            health: health::HealthAnswer {
                uptime_seconds: 3 * 3_600,
                watched: vec!["/home/u/.claude/projects".to_owned()],
                watch_mode: "events".to_owned(),
                ..health::HealthAnswer::default()
            },
            reach: None,
            share: None,
            files: Some(FileCheckReport { files: 400, ..FileCheckReport::default() }),
            hook_counts: HookCounts {
                events: vec![HookCount {
                    name: "Stop".to_owned(),
                    count: 7,
                    last: "2026-03-20T11:50:00Z".to_owned(),
                }],
                spooled: 0,
            },
            latest: Some(SessionRow {
                agent: "claude".to_owned(),
                last_activity: "2026-03-20T11:50:00Z".to_owned(),
                ..SessionRow::default()
            }),
        })),
        spooled: 0,
        agents: vec![ObservedAgent {
            name: "claude",
            title: "Claude Code",
            wiring: Wiring::Complete,
            old_hooks: None,
            awaits_trust: false,
            parts: "hooks and tools",
            has_plugin: false,
        }],
        folders: vec![Folder {
            path: "/home/u/.claude/projects".into(),
            folders: 30,
            transcripts: 400,
            error: None,
        }],
        unwatched: Vec::new(),
        watch_limit: Some(65_536),
        free_bytes: Some(50 << 30),
        damaged: Vec::new(),
    }
}

#[test]
fn folders_of_agents_that_are_not_used_are_no_problem() {
    let mut seen = healthy();
    let folder = |path: &str, error: Option<&str>| Folder {
        path: path.into(),
        folders: 0,
        transcripts: 0,
        error: error.map(str::to_owned),
    };
    seen.folders.push(folder("/home/u/.codex/sessions", None));
    assert!(examine(&seen).iter().all(|finding| finding.verdict == Verdict::Ok));
    seen.folders.push(folder("/home/u/.gemini/tmp", Some("denied")));
    let findings = examine(&seen);
    let denied = findings.iter().find(|finding| finding.verdict != Verdict::Ok).unwrap();
    assert!(denied.what.contains("/home/u/.gemini/tmp"), "{denied:?}");
}

#[test]
fn hooks_that_wait_for_trust_are_reported() {
    let mut seen = healthy();
    seen.agents[0].awaits_trust = true;
    let finding = found(&seen, "claude");
    assert_eq!(finding.verdict, Verdict::Warn);
    assert!(finding.what.contains("until you trust them"), "{finding:?}");
    wired(&mut seen, Wiring::Missing);
    assert!(found(&seen, "claude").what.contains("not set up"));
}

fn welcome(protocol: u32) -> Welcome {
    Welcome {
        protocol,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: 7,
        home: "/home/u/.graphiti".to_owned(),
        ..Welcome::default()
    }
}

fn answers(seen: &mut Observations) -> &mut DaemonAnswers {
    match &mut seen.daemon {
        DaemonProbe::Answers(answers) => answers,
        _ => panic!("the daemon of a healthy machine answers"),
    }
}

fn files(seen: &mut Observations) -> &mut FileCheckReport {
    answers(seen).files.as_mut().expect("the answers include the check of the files")
}

fn wired(seen: &mut Observations, wiring: Wiring) {
    seen.agents[0].wiring = wiring;
}

fn latest(seen: &mut Observations, time: &str) {
    let row = answers(seen).latest.as_mut().expect("a session");
    row.last_activity = time.to_owned();
}

fn at(time: &str) -> jiff::Timestamp {
    time.parse().expect("a time")
}

fn found(seen: &Observations, about: &str) -> Finding {
    let mut findings = examine(seen).into_iter().filter(|finding| finding.about == about);
    findings.next().unwrap_or_else(|| panic!("there is no finding about {about}"))
}
