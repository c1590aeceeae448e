//! Starts the daemon as an independent process, waits until it has stopped, or kills it.

use std::{
    env,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use graphiti_proto::endpoint;

use crate::{
    caller,
    connection::{AskError, Connection},
    error::StartError,
    program::program,
};

/// The daemon's log file in the home. The daemon does not write it if the configuration names
/// another file, or if the log goes to systemd's journal or to a terminal.
pub(crate) const LOG: &str = "graphitid.log";
/// The lock file in the home, which contains the daemon's process id.
const LOCK: &str = "graphitid.lock";
/// The file in the home that receives the standard error of a daemon in the background. It contains
/// the reason if the daemon failed to start.
const ERRORS: &str = "graphitid.err";
/// How long to wait for the daemon to answer or to end: long enough to recover a large database
/// after a power failure.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The interval between connection attempts.
const STEP: Duration = Duration::from_millis(10);

/// Starts the daemon of `home` and waits until it answers.
pub(crate) fn start(home: &Path) -> Result<Connection, StartError> {
    start_within(home, MAX_WAIT)
}

/// Same as [`start`], but waits no longer than `limit`. The daemon continues to start after the
/// limit.
pub(crate) fn start_within(home: &Path, limit: Duration) -> Result<Connection, StartError> {
    let program = daemon().ok_or(StartError::NotFound)?;
    let refused = |error| StartError::SpawnFailed { program: program.clone(), error };
    let unwritable = |error| StartError::Home { home: home.to_owned(), error };
    fs::create_dir_all(home).map_err(unwritable)?;
    let errors = home.join(ERRORS);
    let spawn = || {
        let errors = File::create(&errors).map_err(unwritable)?;
        detached(&program, home, errors).spawn().map_err(refused)
    };
    let began = Instant::now();
    let mut child = spawn()?;
    while began.elapsed() < limit {
        match Connection::open() {
            Ok(connection) => return Ok(connection),
            Err(
                AskError::NotRunning { .. } | AskError::InvalidAnswer(_) | AskError::NoAnswer(_),
            ) => {}
            Err(_) => break,
        }
        // Another daemon may own the home. Either it was started at the same time and will answer,
        // or it is shutting down, and a new daemon can start afterwards.
        if let Ok(Some(status)) = child.try_wait()
            && !is_taken(home)
        {
            if status.code() != Some(endpoint::EXIT_HOME_IN_USE.into()) {
                let output = fs::read_to_string(&errors).unwrap_or_default().trim_end().to_owned();
                return Err(StartError::Ended { status, output });
            }
            child = spawn()?;
        }
        thread::sleep(STEP);
    }
    let pid = owner(home).unwrap_or_else(|| child.id());
    Err(StartError::NoAnswer { pid, log: home.join(LOG) })
}

/// Returns the path of the daemon's program: in the folder of this program, or else in the first
/// folder on `PATH` that contains the program.
pub(crate) fn daemon() -> Option<PathBuf> {
    let name = format!("graphitid{}", env::consts::EXE_SUFFIX);
    // The folder of a link may contain only this program, while the folder of its target contains
    // both programs.
    let own = [program().ok(), env::current_exe().ok()];
    let beside = own.iter().flatten().filter_map(|own| own.parent()).map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = beside.chain(env::split_paths(&path)).collect();
    folders.into_iter().map(|folder| folder.join(&name)).find(|program| program.is_file())
}

fn detached(program: &Path, home: &Path, errors: File) -> Command {
    let mut command = Command::new(program);
    command
        .env("GRAPHITI_HOME", home)
        // The daemon must not use the service manager or the session of its caller.
        .env_remove("NOTIFY_SOCKET")
        .env_remove("JOURNAL_STREAM")
        .current_dir(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors);
    for variable in caller::session_variables() {
        command.env_remove(variable);
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // Detached from the terminal, so that Ctrl-C and closing the terminal do not stop the
        // daemon.
        command.process_group(0);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        const DETACHED_PROCESS: u32 = 0x8;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
        command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP);
    }
    command
}

/// Whether a daemon runs that this client can stop and start again.
///
/// # Errors
///
/// If a daemon runs that does not answer or uses another protocol, or if the socket cannot be used.
pub(crate) fn is_running() -> Result<bool, AskError> {
    match Connection::open() {
        Ok(_) => Ok(true),
        Err(AskError::NotRunning { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until no daemon owns the home. Returns `false` after a timeout.
pub(crate) fn wait_until_stopped(home: &Path) -> bool {
    let began = Instant::now();
    while is_taken(home) {
        if began.elapsed() > MAX_WAIT {
            return false;
        }
        thread::sleep(STEP);
    }
    true
}

/// Kills the daemon that owns the home, and waits until it has ended. Returns `false` if no daemon
/// owns the home. It is an error if the daemon does not end in time.
pub(crate) fn kill(home: &Path) -> io::Result<bool> {
    let Some(pid) = owner(home) else { return Ok(false) };
    kill_process(pid)?;
    match wait_until_stopped(home) {
        true => Ok(true),
        false => Err(io::Error::new(io::ErrorKind::TimedOut, "it did not end in time")),
    }
}

#[cfg(unix)]
fn kill_process(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::NotFound)?;
    Ok(rustix::process::kill_process(pid, rustix::process::Signal::KILL)?)
}

#[cfg(windows)]
fn kill_process(pid: u32) -> io::Result<()> {
    let killed = Command::new("taskkill").args(["/F", "/PID", &pid.to_string()]).output()?;
    match killed.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&killed.stderr).into_owned())),
    }
}

/// Returns the id of the daemon that owns the home. The daemon locks a file that contains its
/// process id; the lock ends with the process.
fn owner(home: &Path) -> Option<u32> {
    if !is_taken(home) {
        return None;
    }
    let pid = fs::read_to_string(home.join(LOCK)).ok();
    let pid = pid.and_then(|text| text.trim().parse().ok());
    // On Windows, other processes cannot read a locked file.
    pid.or_else(|| endpoint::runtime(home).map(|runtime| runtime.pid))
}

/// Whether a daemon owns the home, which means that it holds the lock.
fn is_taken(home: &Path) -> bool {
    let lock = File::open(home.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
