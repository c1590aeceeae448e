//! Runs another program with a limit on its output. The caller limits the time, by dropping the
//! future.

use std::{io, path::Path, process::Stdio};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};

/// The variable that marks the environment of each program that is run here. A process with this
/// variable is such a program, or was started by such a program. Such a process must not run a
/// program as a model, and its sessions must not be followed.
pub const MARKER: &str = "GRAPHITI_LLM_CALL";

/// Variables that an agent sets for its child processes. A nested agent that finds them would treat
/// itself as part of the outer session.
const NOT_PASSED_ON: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
];

/// Maximum number of bytes that are kept from the end of standard error.
const ERRORS_KEPT: usize = 2 << 10;

pub(crate) struct Output {
    pub(crate) is_success: bool,
    /// The status in words, such as `exit status: 1`.
    pub(crate) status: String,
    pub(crate) text: String,
    /// The end of standard error.
    pub(crate) errors: String,
}

#[derive(Debug)]
pub(crate) enum RunError {
    NotStarted(io::Error),
    /// The program exceeded the output limit.
    TooMuch,
    /// Reading from the program or waiting for it failed.
    Broken(io::Error),
}

/// Runs `command` (a program and its arguments) in `directory` with `input` on its standard input.
/// An output of more than `longest` bytes is an error. Dropping the future kills the program and
/// its child processes. On Unix, child processes that outlive the program are killed, too.
pub(crate) async fn run(
    command: &[String],
    directory: &Path,
    input: &str,
    longest: usize,
) -> Result<Output, RunError> {
    let mut group = ProcessGroup::spawn(command, directory).map_err(RunError::NotStarted)?;
    let mut stdin = group.child.stdin.take().expect("the stream is piped");
    let stdout = group.child.stdout.take().expect("the stream is piped");
    let stderr = group.child.stderr.take().expect("the stream is piped");
    let write = async move {
        // A program may end without reading all of its input.
        let _ = stdin.write_all(input.as_bytes()).await;
        Ok(())
    };
    let (text, errors, status, ()) =
        tokio::try_join!(read(stdout, longest), read_end(stderr), group.ended(), write)?;
    Ok(Output {
        is_success: status.success(),
        status: status.to_string(),
        text: String::from_utf8_lossy(&text).into_owned(),
        errors: String::from_utf8_lossy(&errors).into_owned(),
    })
}

/// A program and all its child processes.
struct ProcessGroup {
    child: Child,
    /// The process id, until the process ended: afterwards the system may reuse the number.
    leader: Option<u32>,
}

impl ProcessGroup {
    fn spawn(command: &[String], directory: &Path) -> io::Result<ProcessGroup> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut builder = Command::new(program);
        builder
            .args(arguments)
            .current_dir(directory)
            .env(MARKER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        NOT_PASSED_ON.iter().for_each(|name| {
            builder.env_remove(name);
        });
        #[cfg(unix)]
        builder.process_group(0);
        let child = builder.spawn()?;
        let leader = child.id();
        Ok(ProcessGroup { child, leader })
    }

    async fn ended(&mut self) -> Result<std::process::ExitStatus, RunError> {
        let status = self.child.wait().await.map_err(RunError::Broken)?;
        self.stop();
        Ok(status)
    }

    fn stop(&mut self) {
        if let Some(leader) = self.leader.take() {
            stop(leader);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(unix)]
fn stop(leader: u32) {
    let group = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // Fails when the group has no process left, which is the desired state.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn stop(leader: u32) {
    let leader = leader.to_string();
    let quiet = || Stdio::null();
    let mut command = std::process::Command::new("taskkill");
    command.args(["/T", "/F", "/PID", &leader]).stdin(quiet()).stdout(quiet()).stderr(quiet());
    // Fails when the program ended by itself, which is the desired state.
    let _ = command.status();
}

async fn read(from: impl AsyncRead + Unpin, longest: usize) -> Result<Vec<u8>, RunError> {
    let mut bytes = Vec::new();
    let limit = longest as u64 + 1;
    from.take(limit).read_to_end(&mut bytes).await.map_err(RunError::Broken)?;
    if bytes.len() > longest { Err(RunError::TooMuch) } else { Ok(bytes) }
}

/// Reads to the end of the stream and keeps the last bytes.
async fn read_end(mut from: impl AsyncRead + Unpin) -> Result<Vec<u8>, RunError> {
    let mut kept = Vec::new();
    let mut chunk = [0; 4_096];
    loop {
        let length = from.read(&mut chunk).await.map_err(RunError::Broken)?;
        if length == 0 {
            return Ok(kept);
        }
        kept.extend_from_slice(&chunk[..length]);
        kept.drain(..kept.len().saturating_sub(ERRORS_KEPT));
    }
}
