//! Simulates a user's machine: a home, agents' folders, a daemon.

use std::{
    ffi::OsStr,
    fs,
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::{Duration, SystemTime},
};

use graphiti_proto::{endpoint, methods, tools::health};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Process, Transcript, Wire, wire::repeat};

/// Time limit for a start, enough for the slowest machine.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Maximum time that the daemon may need to end.
const END_LIMIT: Duration = Duration::from_secs(300);

/// The default project of sessions.
pub const PROJECT: &str = "/work/app";

/// The machine of one user, in a temporary folder.
pub struct World {
    folder: TempDir,
    /// More environment variables for the programs that are started.
    pub variables: Vec<(String, String)>,
    /// A program, with its arguments, that replaces itself by the daemon (`exec`).
    pub under: Vec<String>,
    /// The umask of the programs that are started, in the shell's notation; `None` = the test's
    /// umask.
    pub umask: Option<&'static str>,
}

/// A running daemon. It is killed on drop.
pub struct Daemon {
    child: Child,
    socket: String,
}

impl Default for World {
    fn default() -> World {
        World::new()
    }
}

impl World {
    /// Creates the folder, and builds the programs when they are older than their source.
    pub fn new() -> World {
        // The programs are built before the test creates files, because a build may take minutes, in
        // which the files would age.
        built();
        let folder = tempfile::Builder::new().prefix("graphiti-").tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("claude/projects")).expect("an agent's folder");
        World { folder, variables: Vec::new(), under: Vec::new(), umask: None }
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("graphiti")
    }

    /// Returns Claude Code's folder.
    pub fn claude(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    /// Returns the folder of Claude Code's transcripts.
    pub fn projects(&self) -> PathBuf {
        self.claude().join("projects")
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Creates a transcript of `session` in [`PROJECT`].
    pub fn transcript(&self, session: &str) -> Transcript {
        self.transcript_in(session, PROJECT)
    }

    /// Creates a transcript of `session` in a project.
    pub fn transcript_in(&self, session: &str, project: &str) -> Transcript {
        Transcript::new(&self.projects(), session, project)
    }

    /// Writes the configuration: `settings` become its section `session_tracking`.
    pub fn configure(&self, settings: &Value) {
        fs::create_dir_all(self.home()).expect("make the home");
        let config = json!({ "session_tracking": settings }).to_string();
        fs::write(self.home().join("graphiti.config.json"), config)
            .expect("write the configuration");
    }

    /// Starts the daemon and waits until it reports that it is ready.
    pub fn start(&self) -> Daemon {
        self.try_start().unwrap_or_else(|status| {
            panic!("the daemon ended with {status} before it was ready:\n{}", self.log())
        })
    }

    /// Starts the daemon. Returns its exit status if it ended before it was ready.
    pub fn try_start(&self) -> Result<Daemon, ExitStatus> {
        let notify = self.path("notify.sock");
        // The socket exists only if the daemon was started before.
        let _ = fs::remove_file(&notify);
        let manager = UnixDatagram::bind(&notify).expect("a socket for the daemon's notices");
        // The timeout is short, so that the loop notices soon when the daemon has ended.
        manager.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        let log = fs::File::options().create(true).append(true).open(self.path("daemon.err"));
        let mut child = self
            .command("graphitid")
            .env("NOTIFY_SOCKET", &notify)
            .stdout(Stdio::null())
            .stderr(log.expect("a log"))
            .spawn()
            .expect("start graphitid");
        let began = std::time::Instant::now();
        let mut notice = [0; 64];
        loop {
            if let Ok(length) = manager.recv(&mut notice)
                && notice[..length].starts_with(b"READY=1")
            {
                return Ok(Daemon { child, socket: endpoint::socket(&self.home()) });
            }
            if let Some(status) = child.try_wait().expect("the state of the daemon is known") {
                return Err(status);
            }
            assert!(
                began.elapsed() < START_LIMIT,
                "the daemon did not become ready:\n{}",
                self.log()
            );
        }
    }

    pub fn graphiti(&self, arguments: &[&str]) -> Output {
        self.command("graphiti").args(arguments).output().expect("run graphiti")
    }

    /// Runs `graphiti`, which must succeed, and returns its output.
    pub fn printed(&self, arguments: &[&str]) -> String {
        let output = self.graphiti(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "graphiti {arguments:?} failed: {errors}\n{}", self.log());
        String::from_utf8(output.stdout).expect("graphiti prints text")
    }

    /// Returns the output of `graphiti` with `--json`.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let printed = self.printed(&[arguments, &["--json"]].concat());
        serde_json::from_str(&printed).expect("--json prints JSON")
    }

    pub fn log(&self) -> String {
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        read(self.path("daemon.err")) + &read(self.home().join("graphitid.log"))
    }

    /// Returns a command for one of our programs on this machine.
    pub fn command(&self, program: &str) -> Command {
        let under: &[String] = if program == "graphitid" { &self.under } else { &[] };
        let umask = self.umask.map(|umask| {
            let script = format!("umask {umask}; exec \"$0\" \"$@\"");
            ["sh".to_owned(), "-c".to_owned(), script]
        });
        let program = binary(program);
        let around: Vec<&str> = umask.iter().flatten().chain(under).map(String::as_str).collect();
        let mut command = match around.split_first() {
            None => Command::new(program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command
            .env("GRAPHITI_HOME", self.home())
            .env("CLAUDE_CONFIG_DIR", self.claude())
            .env("HOME", self.folder.path())
            .env("NO_COLOR", "1")
            .env("TZ", "UTC")
            .env_remove("CLAUDE_CODE_SESSION_ID")
            .env_remove("CLAUDECODE")
            .env_remove("CODEX_SESSION_ID")
            .env_remove("CODEX_THREAD_ID")
            .env_remove("CODEX_HOME")
            .env_remove("COPILOT_HOME")
            .env_remove("GEMINI_CLI_HOME")
            .env_remove("PI_CODING_AGENT_DIR")
            .env_remove("XDG_DATA_HOME")
            .env_remove("JOURNAL_STREAM")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path());
        command
    }
}

impl Drop for World {
    /// After a failure the temporary folder is kept for inspection.
    fn drop(&mut self) {
        if thread::panicking() {
            self.folder.disable_cleanup(true);
        }
    }
}

impl Daemon {
    pub fn wire(&self) -> Wire {
        Wire::connect(&self.socket).expect("the daemon accepts the connection")
    }

    pub fn socket(&self) -> &str {
        &self.socket
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn process(&self) -> Process {
        Process(self.pid())
    }

    /// Waits until everything that was written has been read and can be found, and until the sessions
    /// that are due have been indexed.
    pub fn settle(&self) {
        self.wire().ask(methods::SETTLE, json!({})).expect("the daemon settles");
    }

    /// Same as [`Daemon::settle`], but also waits until every session that closes automatically has
    /// closed.
    pub fn settle_sessions(&self) {
        self.wire().ask(methods::SETTLE, json!({ "sessions": true })).expect("the daemon settles");
    }

    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.wire().call(tool, arguments)
    }

    /// Calls a tool. Repeats the call until the daemon answers, because a daemon that reopens its
    /// database closes connections. Returns `None` when the daemon has ended.
    pub fn insist(&self, tool: &str, arguments: &Value) -> Option<Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        repeat(|| {
            let Ok(mut wire) = Wire::connect(&self.socket) else { return Some(None) };
            let answer = wire.try_ask("tools/call", params.clone())?.ok()?;
            let content = &answer["structuredContent"];
            let is_stopping = content.is_null() && answer.to_string().contains("is stopping");
            (!is_stopping).then(|| Some(content.clone()))
        })
    }

    pub fn health(&self) -> health::HealthAnswer {
        let answer = self.insist(health::NAME, &json!({})).expect("the daemon answers");
        serde_json::from_value(answer).expect("an answer as documented")
    }

    /// Same as [`Daemon::settle`], for a daemon that may reopen its database in the meantime.
    pub fn settle_at_last(&self) {
        repeat(|| self.wire().try_ask(methods::SETTLE, json!({}))?.ok());
    }

    /// Returns a session as the daemon lists it.
    pub fn session(&self, id: &str) -> Value {
        self.call("get_session", &json!({ "session_id": id }))["session"].clone()
    }

    pub fn close(&self, id: &str) -> Value {
        self.call("session_tracking_close", &json!({ "session_id": id }))
    }

    /// Returns the ids of the listed sessions, sorted as text.
    pub fn session_ids(&self) -> Vec<String> {
        let listed = self.call("list_sessions", &serde_json::json!({}));
        let rows = listed["sessions"].as_array().expect("sessions").iter();
        let mut ids: Vec<String> =
            rows.map(|row| row["session_id"].as_str().expect("an id").to_owned()).collect();
        ids.sort_unstable();
        ids
    }

    /// Sends a signal. After `STOP`, waits until the daemon has stopped.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.pid().to_string()]).status();
        assert!(sent.expect("run kill").success());
        // A thread stops a moment after the signal, and may still answer until then.
        while cfg!(target_os = "linux") && name == "STOP" && !self.has_stopped() {
            thread::yield_now();
        }
    }

    fn has_stopped(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid())).expect("its threads");
        threads.flatten().all(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // The state follows the name, which is in parentheses.
            stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'))
        })
    }

    /// Kills the daemon without a chance to clean up.
    pub fn kill(mut self) {
        self.child.kill().expect("kill the daemon");
        self.child.wait().expect("the daemon ends");
    }

    /// Waits until the daemon has ended.
    pub fn ended(mut self) -> ExitStatus {
        self.wait()
    }

    /// Stops a daemon that may have ended already.
    pub fn stop_or_dead(mut self) -> ExitStatus {
        // A process that has ended keeps its id until it is waited for, so the id belongs to this
        // process.
        let _ = Command::new("kill").args(["-TERM", &self.pid().to_string()]).output();
        self.wait()
    }

    /// Sends SIGTERM and waits until the daemon has ended.
    pub fn stop(mut self) -> ExitStatus {
        self.signal("TERM");
        self.wait()
    }

    /// Waits for the end of the daemon. A daemon that does not end within [`END_LIMIT`] is killed,
    /// so that its test fails instead of waiting forever.
    fn wait(&mut self) -> ExitStatus {
        let pid = self.pid().to_string();
        let (ended, waiting) = mpsc::channel::<()>();
        let guard = thread::spawn(move || {
            let is_late = waiting.recv_timeout(END_LIMIT) == Err(mpsc::RecvTimeoutError::Timeout);
            if is_late {
                // The daemon may have ended meanwhile.
                let _ = Command::new("kill").args(["-KILL", &pid]).output();
            }
            is_late
        });
        let status = self.child.wait().expect("the daemon ends");
        drop(ended);
        let is_late = guard.join().expect("the guard ends");
        assert!(!is_late, "the daemon did not end within {END_LIMIT:?}");
        status
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The daemon may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Our programs and the folders with their sources.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("graphiti", &["proto", "client", "systemd", "launchd"]),
    ("graphitid", &["proto", "daemon", "prompts"]),
];

fn binary(name: &str) -> PathBuf {
    built().join(name)
}

/// Returns the folder of the programs, and first builds them if they are older than their source:
/// cargo builds programs of other packages for a test only if the whole workspace is tested.
fn built() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Tests are in target/<profile>/deps.
        let test = std::env::current_exe().expect("a running test has a path");
        let folder = test.parent().and_then(Path::parent).expect("a folder for programs");
        let is_old = |(name, sources): &(&str, &[&str])| {
            modified(&folder.join(name)) < latest_source(sources)
        };
        if PROGRAMS.iter().any(is_old) {
            build(folder);
        }
        folder.to_owned()
    })
}

fn build(folder: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // The features of dependencies are the same as in a run of all tests or benchmarks, because
    // other features would rebuild all dependencies.
    match folder.file_name().and_then(OsStr::to_str) {
        Some("debug") | None => command.args([
            "test",
            "--no-run",
            "--workspace",
            "--lib",
            "--bins",
            "--test",
            "rules",
            "--test",
            "shell",
            "--test",
            "summaries",
        ]),
        Some(profile) => command.args(["build", "--bins", "--profile", profile]).args([
            "--package=graphiti-tests",
            "--package=graphiti",
            "--package=graphitid",
        ]),
    };
    let built = command.arg("--quiet").status();
    assert!(built.expect("run cargo").success(), "the programs cannot be built");
}

/// Returns the time of the latest change in these folders.
fn latest_source(folders: &[&str]) -> Option<SystemTime> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut folders: Vec<PathBuf> = folders.iter().map(|name| workspace.join(name)).collect();
    let mut latest = None;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_test = path.file_name().is_some_and(|name| name == "tests");
            if path.is_dir() && !is_test {
                folders.push(path);
            } else {
                latest = latest.max(modified(&path));
            }
        }
    }
    latest
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
