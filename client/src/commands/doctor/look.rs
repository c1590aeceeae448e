//! Collects the observations about the machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use graphiti_proto::{
    PROTOCOL, endpoint,
    methods::{
        self, Hello, Welcome, hook, models,
        share::{SHARE, ShareAction, ShareRequest},
    },
    tools::{health, list_sessions},
};

use super::observations::{
    Access, DaemonAnswers, DaemonProbe, Folder, Observations, ObservedAgent, Socket,
};
use crate::{
    connection::{AskError, Connection, timeout},
    plugin,
    screen::now,
    setup::{self, AGENTS, AgentSetup, Surroundings},
    start,
};

/// The time that a request has for the answers of other servers, such as the model's. It is longer
/// than the time that the daemon waits for these servers.
const SERVER_CHECK: Duration = Duration::from_secs(6);
/// Maximum number of entries that are read in one transcript folder and its subfolders.
const MAX_ENTRIES: u64 = 1_000_000;
/// The file with the maximum number of watched folders for one user, on Linux.
const WATCH_LIMIT: &str = "/proc/sys/fs/inotify/max_user_watches";
/// The starts and ends of the names of transcripts. The starts exclude other JSON files of Gemini
/// and opencode.
const TRANSCRIPTS: &[(&str, &str)] = &[
    ("", ".jsonl"),
    ("", ".jsonl.zst"),
    ("session-", ".json"),
    ("ses_", ".json"),
    ("opencode", ".db"),
];

/// The agents with a folder of transcripts in the folder of their settings. [`transcripts_of`]
/// knows the others.
const TRANSCRIPT_FOLDERS: &[(&str, &str)] = &[
    ("claude", "projects"),
    ("codex", "sessions"),
    ("gemini", "tmp"),
    ("copilot", "session-state"),
    ("qwen", "projects"),
    ("cursor", "projects"),
    ("pi", "sessions"),
];

/// Collects all observations. Changes nothing, unless a connection makes a service manager start
/// the daemon.
pub(super) fn look(home: PathBuf) -> Result<Observations, AskError> {
    let surroundings = Surroundings::of_user()?;
    let program = start::daemon();
    let check = program.as_deref().map(ConfigCheck::run);
    let daemon = ask(&home);
    Ok(Observations {
        now: now(),
        home_access: access(&home),
        unwritable: unwritable(&home),
        socket: socket(&home),
        misconfigured: check.as_ref().and_then(ConfigCheck::error),
        config_notice: check.as_ref().and_then(ConfigCheck::notice),
        program,
        spooled: spooled(&home),
        agents: agents(&surroundings),
        folders: folders(&daemon, &surroundings),
        unwatched: unwatched(&daemon),
        daemon,
        watch_limit: fs::read_to_string(WATCH_LIMIT).ok().and_then(|text| text.trim().parse().ok()),
        free_bytes: free_bytes(&home),
        damaged: damaged(&home),
        home,
    })
}

/// Returns a copy of `surroundings` with the current directory as the project.
pub(super) fn here<'s>(surroundings: &Surroundings<'s>) -> Surroundings<'s> {
    Surroundings { project: env::current_dir().ok(), ..surroundings.clone() }
}

/// Queries the daemon. All its answers together have the time limit that other commands have for
/// one answer, and the time for two checks of other servers. A shorter limit would be wrong,
/// because a daemon that imports a large history on a busy machine needs a second or two.
fn ask(home: &Path) -> DaemonProbe {
    let timeout = match timeout() {
        Ok(timeout) => timeout,
        Err(error) => return DaemonProbe::Failing(error.to_string()),
    };
    let (send, receive) = mpsc::channel();
    let asking = thread::Builder::new().name("doctor".to_owned());
    let ask = move || {
        // Sending fails only when the receiver has stopped waiting.
        let _ = send.send(answer(timeout));
    };
    if let Err(error) = asking.spawn(ask) {
        return DaemonProbe::Failing(error.to_string());
    }
    match receive.recv_timeout(timeout.saturating_add(2 * SERVER_CHECK)) {
        Ok(Ok(daemon)) => daemon,
        Ok(Err(AskError::NotRunning { .. })) => DaemonProbe::Down,
        Ok(Err(AskError::NoAnswer(pid))) => DaemonProbe::Silent(pid),
        Ok(Err(error)) => DaemonProbe::Failing(error.to_string()),
        Err(_) => DaemonProbe::Silent(endpoint::runtime(home).map(|runtime| runtime.pid)),
    }
}

fn answer(timeout: Duration) -> Result<DaemonProbe, AskError> {
    let mut connection = Connection::open_within(timeout)?;
    let hello = Hello { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned() };
    let welcome: Welcome = connection.ask(methods::HELLO, &hello)?;
    if welcome.protocol != PROTOCOL {
        return Ok(DaemonProbe::OtherProtocol(welcome));
    }
    let health = connection.call(health::NAME, &health::HealthArguments::default())?;
    let hook_counts = connection.ask(hook::HOOKS, &serde_json::json!({}))?;
    // The daemon waits for other servers.
    connection.set_limit(timeout.saturating_add(SERVER_CHECK))?;
    // An older daemon does not know these methods.
    let reach = connection.ask(models::REACH, &serde_json::json!({})).ok();
    let files = connection.ask(methods::files::FILES, &serde_json::json!({})).ok();
    let check = ShareRequest { action: ShareAction::Check, ..ShareRequest::default() };
    let share = connection.ask(SHARE, &check).ok();
    let latest = list_sessions::ListSessionsArguments { limit: 1, ..Default::default() };
    let sessions: list_sessions::ListSessionsAnswer =
        connection.call(list_sessions::NAME, &latest)?;
    let latest = sessions.sessions.into_iter().next();
    Ok(DaemonProbe::Answers(Box::new(DaemonAnswers {
        welcome,
        health,
        hook_counts,
        reach,
        files,
        share,
        latest,
    })))
}

fn socket(home: &Path) -> Socket {
    let path = endpoint::socket(home);
    let usual = endpoint::default_socket(home);
    let file = Path::new(&path);
    Socket { access: access(file), is_socket: is_socket(file), path, usual }
}

fn access(path: &Path) -> Access {
    match fs::metadata(path) {
        Ok(metadata) => permissions(&metadata).map_or(Access::Unknown, Access::Mode),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Access::Absent,
        Err(_) => Access::Unknown,
    }
}

#[cfg(unix)]
fn permissions(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn permissions(_: &fs::Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|file| file.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_socket(_: &Path) -> bool {
    true
}

/// The result of `graphitid config check`.
struct ConfigCheck {
    is_valid: bool,
    /// The printed text.
    report: String,
}

impl ConfigCheck {
    fn run(program: &Path) -> ConfigCheck {
        let mut check = Command::new(program);
        match check.args(["config", "check"]).stdin(Stdio::null()).output() {
            Ok(output) => {
                let report = [output.stderr, output.stdout].concat();
                let report = String::from_utf8_lossy(&report).into_owned();
                ConfigCheck { is_valid: output.status.success(), report }
            }
            Err(error) => {
                let report = format!("graphitid config check cannot be run: {error}");
                ConfigCheck { is_valid: false, report }
            }
        }
    }

    /// Returns the first problem of an invalid configuration.
    fn error(&self) -> Option<String> {
        if self.is_valid {
            return None;
        }
        // The details of a problem are indented.
        let wrong = self.report.lines().find(|line| line.starts_with("  "));
        let first = || self.report.lines().find(|line| !line.trim().is_empty());
        Some(wrong.or_else(first).unwrap_or("the configuration is rejected").trim().to_owned())
    }

    /// Returns the first notice about a valid configuration, and the number of further notices.
    fn notice(&self) -> Option<String> {
        let lines = self.report.lines().skip_while(|line| !line.starts_with("worth knowing "));
        let mut notices = lines.skip(1).take_while(|line| line.starts_with("  "));
        let notice = notices.next().filter(|_| self.is_valid)?.trim();
        Some(match notices.count() {
            0 => notice.to_owned(),
            more => format!("{notice} (and {more} more)"),
        })
    }
}

fn agents(surroundings: &Surroundings<'_>) -> Vec<ObservedAgent> {
    let here = here(surroundings);
    let seen = setup::installed(surroundings).map(|agent| ObservedAgent {
        name: agent.name,
        title: agent.title,
        wiring: setup::wiring(agent, surroundings),
        old_hooks: setup::old_hooks(agent, surroundings).or_else(|| setup::old_hooks(agent, &here)),
        awaits_trust: setup::awaits_trust(agent, surroundings),
        parts: setup::parts(agent, surroundings),
        has_plugin: agent.name == plugin::AGENT
            && plugin::is_enabled(&(agent.folder)(surroundings)),
    });
    seen.collect()
}

/// Returns the folders that the daemon watches. If the daemon does not answer, returns the default
/// folders of the agents' transcripts.
fn folders(daemon: &DaemonProbe, surroundings: &Surroundings<'_>) -> Vec<Folder> {
    let paths = match daemon {
        DaemonProbe::Answers(answers) => answers.health.watched.iter().map(PathBuf::from).collect(),
        _ => AGENTS.iter().filter_map(|agent| transcripts_of(agent, surroundings)).collect(),
    };
    let paths: Vec<PathBuf> = paths;
    paths.into_iter().map(folder).collect()
}

/// Returns the default folder of an agent's transcripts, or the agent's database.
fn transcripts_of(agent: &AgentSetup, surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    if agent.name == "opencode" {
        let data = surroundings.folder("XDG_DATA_HOME", ".local/share");
        return Some(data.join("opencode/opencode.db"));
    }
    let (_, folder) = TRANSCRIPT_FOLDERS.iter().find(|(name, _)| *name == agent.name)?;
    Some((agent.folder)(surroundings).join(folder))
}

/// Returns the transcript folders of agents that the daemon does not watch, because
/// `watch_directories` names other folders.
fn unwatched(daemon: &DaemonProbe) -> Vec<Folder> {
    let DaemonProbe::Answers(answers) = daemon else { return Vec::new() };
    answers.health.unwatched.iter().map(|path| folder(PathBuf::from(path))).collect()
}

/// Returns the number of hook events that wait for the daemon. A file that is still being written
/// does not count.
fn spooled(home: &Path) -> usize {
    let files = fs::read_dir(hook::spool(home)).into_iter().flatten().flatten();
    files
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "json"))
        .count()
}

/// Whether a file with this name may be a transcript or a database of transcripts.
fn is_transcript(name: &str) -> bool {
    TRANSCRIPTS.iter().any(|(start, end)| name.starts_with(start) && name.ends_with(end))
}

/// Counts the folders and transcripts in a folder, without following links. `path` may also be the
/// database of an agent.
fn folder(path: PathBuf) -> Folder {
    if path.is_file() {
        let error = fs::File::open(&path).err().map(|error| error.to_string());
        return Folder { folders: 0, transcripts: u64::from(error.is_none()), error, path };
    }
    let error = fs::read_dir(&path).err();
    let error = error.filter(|error| error.kind() != std::io::ErrorKind::NotFound);
    let error = error.map(|error| error.to_string());
    let mut seen = Folder { folders: 0, transcripts: 0, error, path: path.clone() };
    let mut left = vec![path];
    let mut entries = 0;
    while let Some(folder) = left.pop() {
        let Ok(content) = fs::read_dir(folder) else { continue };
        seen.folders += 1;
        for entry in content.flatten() {
            entries += 1;
            if entries > MAX_ENTRIES {
                return seen;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                left.push(entry.path());
            } else if entry.file_name().to_str().is_some_and(is_transcript) {
                seen.transcripts += 1;
            }
        }
    }
    seen
}

/// Returns the home folder, or the folder in which it would be created.
#[cfg(unix)]
fn existing(home: &Path) -> Option<&Path> {
    home.ancestors().find(|folder| folder.is_dir())
}

/// Returns why no files can be created in `home`, with the path of the folder.
#[cfg(unix)]
fn unwritable(home: &Path) -> Option<String> {
    let folder = existing(home)?;
    let error = std::io::Error::from(
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
            .err()?,
    );
    Some(format!("{}: {error}", folder.display()))
}

#[cfg(not(unix))]
fn unwritable(_: &Path) -> Option<String> {
    None
}

/// Returns the bytes available to this user on the file system of `home`.
#[cfg(unix)]
fn free_bytes(home: &Path) -> Option<u64> {
    let there = existing(home)?;
    let disk = rustix::fs::statvfs(there).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Returns the databases that the daemon set aside as damaged. The number in the name is a time.
fn damaged(home: &Path) -> Vec<PathBuf> {
    let is_damaged = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let time = name.and_then(|name| name.strip_prefix("db.damaged-"));
        let is_time =
            |time: &str| !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit());
        time.is_some_and(is_time) && path.is_dir()
    };
    let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(is_damaged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_file_of_an_agent_counts_as_a_transcript() {
        let home = env::temp_dir().join(format!("graphiti-doctor-{}", std::process::id()));
        fs::create_dir_all(&home).unwrap();
        let database = home.join("opencode.db");
        fs::write(&database, "SQLite format 3").unwrap();
        fs::write(home.join("a.jsonl"), "{}").unwrap();
        let (file, whole) = (folder(database), folder(home.clone()));
        fs::remove_dir_all(&home).unwrap();
        assert_eq!((file.error, file.folders, file.transcripts), (None, 0, 1));
        assert_eq!((whole.error, whole.folders, whole.transcripts), (None, 1, 2));
    }

    #[test]
    fn a_check_of_the_configuration_that_cannot_run_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let check = ConfigCheck::run(&folder.path().join("graphitid"));
        let error = check.error().unwrap();
        assert!(error.starts_with("graphitid config check cannot be run: "), "{error}");
        assert_eq!(check.notice(), None);
    }

    #[test]
    fn a_home_that_does_not_exist_yet_is_writable_if_its_parent_is() {
        let parent = tempfile::tempdir().unwrap();
        assert_eq!(unwritable(parent.path()), None);
        assert_eq!(unwritable(&parent.path().join("a/b")), None);
    }

    #[test]
    fn only_folders_that_the_repair_reads_are_damaged_databases() {
        let home = tempfile::tempdir().unwrap();
        for name in ["db", "db.damaged-12", "db.damaged-12-backup", "db.damaged-", "db.salvaged-3"]
        {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        fs::write(home.path().join("db.damaged-13"), "").unwrap();
        assert_eq!(damaged(home.path()), [home.path().join("db.damaged-12")]);
    }

    #[test]
    fn the_transcripts_of_all_agents_are_counted() {
        for name in [
            "3f2a9c10.jsonl",
            "rollout-2026-03-01.jsonl.zst",
            "session-2026-03-01T10-00-3f2a9c10.json",
            "ses_7a3f.json",
            "opencode-dev.db",
        ] {
            assert!(is_transcript(name), "{name}");
        }
        for name in ["logs.json", "settings.json", "archive.zst", "notes.md", "opencode.db-wal"] {
            assert!(!is_transcript(name), "{name}");
        }
    }

    #[test]
    fn the_first_notice_about_a_valid_configuration_is_reported() {
        let notice = |is_valid, notices: &str| {
            let report = format!("/h/c.json: can be used\n\n{notices}values\n  enabled = true\n");
            ConfigCheck { is_valid, report }.notice()
        };
        let one = "worth knowing (1)\n  c.json:3: `a` is unknown\n\n";
        assert_eq!(notice(true, one).as_deref(), Some("c.json:3: `a` is unknown"));
        let two = "worth knowing (2)\n  c.json:3: `a` is unknown\n  c.json:4: `b` is twice\n\n";
        assert_eq!(notice(true, two).as_deref(), Some("c.json:3: `a` is unknown (and 1 more)"));
        assert_eq!(notice(true, "older spellings (1)\n  c.json:3: `a` is now `b`\n\n"), None);
        assert_eq!(notice(true, ""), None);
        assert_eq!(notice(false, one), None, "the problem is reported");
    }

    #[test]
    fn the_transcripts_of_each_agent_have_a_default_folder() {
        let surroundings = Surroundings {
            home: "/home/ada".into(),
            project: None,
            program: "graphiti".into(),
            variable: &|_| None,
            allow: false,
        };
        for agent in AGENTS {
            let folder = transcripts_of(agent, &surroundings);
            assert!(folder.is_some_and(|path| path.starts_with("/home/ada")), "{}", agent.name);
        }
    }

    #[test]
    fn an_event_that_is_being_written_is_not_counted() {
        let home = tempfile::tempdir().unwrap();
        let spool = hook::spool(home.path());
        assert_eq!(spooled(home.path()), 0);
        fs::create_dir(&spool).unwrap();
        for name in ["1-7.json", "2-7.json", "3-7.new"] {
            fs::write(spool.join(name), "{}").unwrap();
        }
        assert_eq!(spooled(home.path()), 2);
    }
}
