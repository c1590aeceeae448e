//! Determines which agents are still running.
//!
//! The session of an agent that has exited is over, even if no hook reported the end. If the state
//! of a process is unknown ([`Life::Unknown`]), nothing is changed. A liveness file is a file by
//! which an agent records that a session runs ([`Format::liveness_folder`]).

use std::{
    collections::HashMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde::de::IgnoredAny;

use crate::{
    format::{Format, RunningSession},
    open::open_file,
};

/// Maximum number of liveness files of an agent.
const FILES: usize = 4_096;
/// Maximum length, in bytes, of a liveness file.
const LONGEST_FILE: u64 = 64 << 10;

/// Whether a process is still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Running,
    /// The process has exited, or its id was reused.
    Gone,
    /// The system does not report the state.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pub pid: u32,
    /// The start time as the system reports it, to detect a reused process id; `None` if it is
    /// unknown.
    pub started: Option<u64>,
}

impl Process {
    /// Returns the process that has this id now.
    pub fn of(pid: u32) -> Process {
        Process { pid, started: start(pid) }
    }
}

/// The sessions in the liveness files of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LivenessListing {
    /// The sessions whose processes may be running. The keys are the agent's ids of the sessions.
    pub running: HashMap<String, RunningSession>,
    /// Whether the folder or a file could not be read, or a file was only written in part, so that
    /// sessions may be missing.
    pub is_partial: bool,
}

/// Returns the sessions in the liveness files of `folder`. Files of other content, files of
/// processes that have exited, and lock files that no process locks are ignored.
pub fn running(format: &dyn Format, folder: &Path) -> LivenessListing {
    let mut listing = LivenessListing::default();
    let files = match liveness_files(folder) {
        Ok(files) => files,
        Err(error) => {
            listing.is_partial = error.kind() != io::ErrorKind::NotFound;
            return listing;
        }
    };
    let is_locked = files.iter().any(|file| format.locked_session(file).is_some());
    let locks = if is_locked { file_locks() } else { Ok(HashMap::new()) };
    for file in files {
        let found = match format.locked_session(&file) {
            Some(session) => locked(&file, session, &locks),
            None => listed(format, &file),
        };
        match found {
            Ok(Some(running)) if life(running.pid, running.started) != Life::Gone => {
                listing.running.insert(running.session.clone(), running);
            }
            Ok(_) => {}
            // The agent deletes the file of a session that ends.
            Err(error) => listing.is_partial |= error.kind() != io::ErrorKind::NotFound,
        }
    }
    listing
}

fn liveness_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.take(FILES).map(|entry| Ok(entry?.path())).collect()
}

fn locked(
    file: &Path,
    session: String,
    locks: &io::Result<HashMap<u64, u32>>,
) -> io::Result<Option<RunningSession>> {
    let Ok(locks) = locks else { return Err(io::ErrorKind::Other.into()) };
    let owner = lock_owner(file, locks)?;
    Ok(owner.map(|Process { pid, started }| RunningSession { session, pid, started, cwd: None }))
}

/// Returns the session that a liveness file lists; an error if the file is only written in part.
fn listed(format: &dyn Format, file: &Path) -> io::Result<Option<RunningSession>> {
    if file.extension().is_none_or(|extension| extension != "json") {
        // The folder may contain other files and folders, which stay unreadable.
        return Ok(note(file).ok().and_then(|text| format.read_liveness(&text)));
    }
    let text = note(file)?;
    let running = format.read_liveness(&text);
    let is_cut = |error: serde_json::Error| error.is_eof();
    if running.is_none() && serde_json::from_str::<IgnoredAny>(&text).is_err_and(is_cut) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(running)
}

/// Returns the process that locks the file. Looks up the lock in the list of the system, because an
/// attempt to lock the file could prevent the agent from locking it.
#[cfg(unix)]
fn lock_owner(file: &Path, locks: &HashMap<u64, u32>) -> io::Result<Option<Process>> {
    use std::os::unix::fs::MetadataExt;
    let inode = fs::metadata(file)?.ino();
    Ok(locks.get(&inode).map(|pid| Process::of(*pid)))
}

#[cfg(not(unix))]
fn lock_owner(_file: &Path, _locks: &HashMap<u64, u32>) -> io::Result<Option<Process>> {
    Ok(None)
}

/// Returns the owners of the system's `flock` locks, by the file's inode. The device is not
/// compared, because with subvolumes (Btrfs) the system lists another device than `stat` reports.
#[cfg(target_os = "linux")]
fn file_locks() -> io::Result<HashMap<u64, u32>> {
    Ok(fs::read_to_string("/proc/locks")?.lines().filter_map(file_lock).collect())
}

/// Returns no locks, because other systems do not list them.
#[cfg(not(target_os = "linux"))]
fn file_locks() -> io::Result<HashMap<u64, u32>> {
    Ok(HashMap::new())
}

/// Parses a line such as `13: FLOCK  ADVISORY  WRITE 22270 fe:00:10035474 0 EOF`. A process that
/// waits for a lock has `->` as the second word.
#[cfg(target_os = "linux")]
fn file_lock(line: &str) -> Option<(u64, u32)> {
    let mut words = line.split_whitespace().skip(1);
    words.next().filter(|kind| *kind == "FLOCK")?;
    let pid = words.nth(2)?.parse().ok()?;
    let (_, inode) = words.next()?.rsplit_once(':')?;
    Some((inode.parse().ok()?, pid))
}

/// Reads an agent's liveness file.
fn note(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_file(path)?.take(LONGEST_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// Whether process `pid` with the start time `started` is still running.
#[cfg(target_os = "linux")]
pub fn life(pid: u32, started: Option<u64>) -> Life {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return Life::Gone };
    match (started, start_in(&stat)) {
        _ if has_ended(&stat) => Life::Gone,
        (Some(then), Some(now)) if then != now => Life::Gone,
        _ => Life::Running,
    }
}

/// Waits until `process` has exited. The system reports the exit, so that no polling is needed.
///
/// # Errors
///
/// Fails if the system cannot report the exit (Linux before 5.3).
#[cfg(target_os = "linux")]
pub async fn ended(process: Process) -> io::Result<()> {
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let Some(handle) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { return Ok(()) };
    match handle {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        // The handle refers to the process that has the id now.
        Ok(_) if life(process.pid, process.started) == Life::Gone => Ok(()),
        handle => {
            #[expect(
                deprecated,
                reason = "the replacement needs unsafe code; an owned descriptor is safe here"
            )]
            let handle = tokio::io::unix::AsyncFd::<OwnedFd>::new(handle?)?;
            drop(handle.readable().await?);
            Ok(())
        }
    }
}

/// Returns an error, because other systems do not report the exit. The caller has to poll.
#[cfg(not(target_os = "linux"))]
pub async fn ended(_process: Process) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn start(pid: u32) -> Option<u64> {
    start_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn start(_pid: u32) -> Option<u64> {
    None
}

#[cfg(all(unix, not(target_os = "linux")))]
pub fn life(pid: u32, _started: Option<u64>) -> Life {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return Life::Unknown;
    };
    match rustix::process::test_kill_process(pid) {
        Err(rustix::io::Errno::SRCH) => Life::Gone,
        _ => Life::Running,
    }
}

/// Returns [`Life::Unknown`], because Windows has no safe function for this. The agent removes its
/// file when it exits.
#[cfg(not(unix))]
pub fn life(_pid: u32, _started: Option<u64>) -> Life {
    Life::Unknown
}

/// Whether the process is a zombie or dead, according to field 3 of `/proc/<pid>/stat`.
#[cfg(target_os = "linux")]
fn has_ended(stat: &str) -> bool {
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// Parses field 22 of `/proc/<pid>/stat`. The second field is the program's name in parentheses,
/// which may contain any character.
#[cfg(target_os = "linux")]
fn start_in(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{claude::Claude, codex::Codex};

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_identified_by_its_id_and_start_time() {
        let pid = std::process::id();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let started = start_in(&stat).unwrap();
        assert_eq!(life(pid, Some(started)), Life::Running);
        assert_eq!(life(pid, None), Life::Running);
        assert_eq!(life(pid, Some(started + 1)), Life::Gone);
        // This id is above the highest process id that Linux assigns.
        assert_eq!(life(4_194_305, None), Life::Gone);
    }

    #[tokio::test]
    #[cfg(target_os = "linux")]
    async fn a_process_that_its_parent_has_not_reaped_is_gone() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = Process::of(child.id());
        assert_eq!(life(process.pid, process.started), Life::Running);
        drop(child.stdin.take());
        ended(process).await.unwrap();
        assert_eq!(life(process.pid, process.started), Life::Gone);
        child.wait().unwrap();
        ended(process).await.unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_name_may_contain_parentheses() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("7 (a) b (c) {}", fields.join(" "));
        assert_eq!(start_in(&stat), Some(22));
    }

    #[test]
    fn only_files_of_running_processes_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        let pid = std::process::id();
        write(
            "1.json",
            format!(r#"{{"pid":{pid},"sessionId":"alive","cwd":"/a","status":"idle"}}"#),
        );
        write("2.json", r#"{"pid":4194305,"sessionId":"left over"}"#.to_owned());
        write("3.json", r#"{"pid":"text"}"#.to_owned());
        write("4.json", "no JSON".to_owned());
        write("other.lock", String::new());
        fs::create_dir(folder.path().join("folder")).unwrap();
        let LivenessListing { running, is_partial } = running(&Claude, folder.path());
        if cfg!(unix) {
            assert_eq!(running.keys().collect::<Vec<_>>(), ["alive"]);
        }
        assert_eq!(running["alive"].cwd.as_deref(), Some("/a"));
        assert!(!is_partial, "the agent does not write these files at present");
    }

    #[test]
    fn an_unreadable_folder_and_a_half_written_file_may_list_other_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let is_partial = |path: &Path| running(&Claude, path).is_partial;
        assert!(!is_partial(folder.path()) && !is_partial(&folder.path().join("missing")));
        for text in ["", "{\"pid\":", r#"{"pid":7,"sessionId":"a"#] {
            fs::write(folder.path().join("1.json"), text).unwrap();
            assert!(is_partial(folder.path()), "{text}");
        }
        assert!(is_partial(&folder.path().join("1.json")), "the folder cannot be read");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_session_runs_while_its_file_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let (locked, free) =
            ["1", "2"].map(|n| format!("01a2098a-1de3-7c11-8c72-41752c79421{n}")).into();
        let create = |name: &str| fs::File::create(folder.path().join(name)).unwrap();
        let (file, other) = (create(&format!("{locked}.lock")), create(".coordination.lock"));
        create(&format!("{free}.lock"));
        assert_eq!(running(&Codex, folder.path()), LivenessListing::default());
        file.lock().unwrap();
        other.lock().unwrap();
        let found = running(&Codex, folder.path()).running;
        let pid = std::process::id();
        let started = start(pid);
        let wanted = RunningSession { session: locked.clone(), pid, started, cwd: None };
        assert_eq!(found, HashMap::from([(locked, wanted)]));
        file.unlock().unwrap();
        assert_eq!(running(&Codex, folder.path()), LivenessListing::default());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_the_owner_of_a_lock_counts() {
        for (line, wanted) in [
            ("13: FLOCK  ADVISORY  WRITE 22270 fe:00:10035474 0 EOF", Some((10_035_474, 22_270))),
            ("17: -> FLOCK  ADVISORY  WRITE 19991 fe:00:5349659 0 EOF", None),
            ("3: POSIX  ADVISORY  READ 21080 fe:00:10035473 128 128", None),
            ("", None),
        ] {
            assert_eq!(file_lock(line), wanted, "{line}");
        }
    }
}
