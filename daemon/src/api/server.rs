//! Accepts connections on a socket, only from the user that runs the daemon.

use std::{io, sync::Arc, time::Duration};

use graphiti_proto::rpc::{Error, Request, Response, code};
pub use interprocess::local_socket::tokio::Listener;
use interprocess::local_socket::{
    GenericFilePath, ListenerOptions, ToFsName,
    tokio::{Stream, prelude::*},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    sync::watch,
};

use crate::{
    api::{
        SharedDaemon,
        connection::{self, AcceptedConnection},
        connection_slots::ConnectionSlots,
        input::InputBudget,
        peer::authorize,
    },
    fault,
};

/// Time limit for answering a rejected client.
const REJECT_TIMEOUT: Duration = Duration::from_millis(50);
/// Maximum number of bytes that are read of a rejected request.
const MAX_REJECTED_REQUEST_BYTES: u64 = 64 << 10;

/// Listens at `socket`, the path of a socket or the name of a pipe.
///
/// The caller holds the lock of the home directory. Therefore, a socket without a listener was left
/// by a daemon that has died.
pub fn listen(socket: &str) -> io::Result<Listener> {
    #[cfg(unix)]
    {
        remove_stale_socket(socket.as_ref())?;
        use interprocess::os::unix::local_socket::ListenerOptionsExt;
        let options = || -> io::Result<ListenerOptions<'_>> {
            Ok(ListenerOptions::new().name(socket.to_fs_name::<GenericFilePath>()?))
        };
        match options()?.mode(0o600).create_tokio() {
            // macOS cannot set the mode before binding; the mode 0700 of the home prevents access.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => options()?.create_tokio(),
            other => other,
        }
    }
    #[cfg(windows)]
    {
        use interprocess::os::windows::{
            local_socket::ListenerOptionsExt, security_descriptor::SecurityDescriptor,
        };
        // Full access for the owner and the system, no access for others.
        let only_user = widestring::u16cstr!("D:P(A;;GA;;;OW)(A;;GA;;;SY)");
        let name = socket.to_fs_name::<GenericFilePath>()?;
        ListenerOptions::new()
            .name(name)
            .security_descriptor(SecurityDescriptor::deserialize(only_user)?)
            .create_tokio()
    }
}

/// Describes why the daemon cannot listen at `socket`, and what to do.
pub fn listen_error(socket: &str, error: &io::Error) -> String {
    const SETTING: &str = "`session_tracking.hooks.socket_path`";
    // The system limits the length of the field `sun_path` of an address.
    if error.to_string().contains("sun_path") {
        return format!(
            "cannot listen at {socket}: the path is too long, it has {} bytes; set {SETTING} to a shorter path, or GRAPHITI_HOME to a folder with a shorter path",
            socket.len()
        );
    }
    format!("cannot listen at {socket}: {error}; {SETTING} sets another address")
}

/// Returns the listener that a service manager passes to the daemon, and its path; `None` if no
/// listener is passed. Call this only once in a process.
#[cfg(unix)]
pub fn inherited_listener() -> io::Result<Option<(Listener, String)>> {
    use std::os::fd::OwnedFd;
    let Some(listener) = listenfd::ListenFd::from_env().take_unix_listener(0)? else {
        return Ok(None);
    };
    let address = listener.local_addr()?;
    let path = address.as_pathname().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the socket from the service manager has no path",
        )
    })?;
    let path = path.to_string_lossy().into_owned();
    Ok(Some((Listener::UdSocket(OwnedFd::from(listener).try_into()?), path)))
}

/// On Windows, no service manager passes a listener.
#[cfg(windows)]
pub fn inherited_listener() -> io::Result<Option<(Listener, String)>> {
    Ok(None)
}

/// Removes a socket without a listener.
#[cfg(unix)]
fn remove_stale_socket(socket: &std::path::Path) -> io::Result<()> {
    use std::os::unix::{fs::FileTypeExt, net::UnixStream};
    let Ok(metadata) = std::fs::symlink_metadata(socket) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        let what = format!("{} is not a socket; move it away", socket.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    if UnixStream::connect(socket).is_ok() {
        let what = "another program listens there";
        return Err(io::Error::new(io::ErrorKind::AddrInUse, what));
    }
    std::fs::remove_file(socket)
}

/// Serves clients until `stopping` turns true. After that, clients wait at the listener for the
/// next server.
pub async fn serve(
    listener: Arc<Listener>,
    daemon: SharedDaemon,
    mut stopping: watch::Receiver<bool>,
) {
    let (slots, budget) = (ConnectionSlots::default(), InputBudget::default());
    loop {
        fault::point("server: turn");
        let accepted = tokio::select! {
            accepted = async { slots.wait_for_free().await; listener.accept().await } => accepted,
            _ = stopping.wait_for(|stopping| *stopping) => return,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // The likely cause is a lack of file descriptors; other connections must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(peer) = authorize(&stream) else { continue };
        let Some(slot) = slots.acquire(peer.process) else {
            tracing::warn!(process = ?peer.process, "refused a connection of a process with too many connections");
            reject_busy(&stream).await;
            continue;
        };
        let accepted = AcceptedConnection { stream, peer, slot, budget: budget.clone() };
        tokio::spawn(connection::serve(accepted, daemon.clone(), stopping.clone()));
    }
}

/// Answers every client with the error `why`, until the future is dropped.
pub async fn reject_all(listener: &Listener, why: &str) {
    loop {
        match listener.accept().await {
            Ok(stream) if authorize(&stream).is_some() => {
                match tokio::time::timeout(REJECT_TIMEOUT, reject_one(&stream, why)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::debug!(%error, "cannot answer a client"),
                    Err(_) => tracing::debug!("a client sent no request in time"),
                }
            }
            Ok(_) => {}
            Err(_) => tokio::time::sleep(REJECT_TIMEOUT).await,
        }
    }
}

/// Answers one request. The request is read first, because a client that is still writing would not
/// read the answer.
async fn reject_one(stream: &Stream, why: &str) -> io::Result<()> {
    let mut line = Vec::new();
    BufReader::new(stream.take(MAX_REJECTED_REQUEST_BYTES)).read_until(b'\n', &mut line).await?;
    let id = Request::read(&line).ok().and_then(|request| request.id).unwrap_or_default();
    let answer = Response::new(id, Err(Error::new(code::INTERNAL, why)));
    let mut stream = stream;
    stream.write_all(&answer.to_line()).await
}

/// Answers a client whose process has too many connections.
async fn reject_busy(mut stream: &Stream) {
    let what = "this process has too many connections; close some of them first";
    let answer = Response::new(Value::Null, Err(Error::new(code::BUSY, what)));
    // A client that does not read in time does not get the reason.
    let _ = tokio::time::timeout(REJECT_TIMEOUT, stream.write_all(&answer.to_line())).await;
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_cannot_be_used_is_reported_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let socket = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let (taken, long) = (socket("taken"), socket(&"x".repeat(120)));
        let _listener = listen(&taken).unwrap();
        let error = |socket: &str| listen_error(socket, &listen(socket).err().unwrap());
        assert_eq!(
            error(&taken),
            format!(
                "cannot listen at {taken}: another program listens there; \
                 `session_tracking.hooks.socket_path` sets another address"
            )
        );
        let error = error(&long);
        assert!(
            error.contains("the path is too long") && error.contains("GRAPHITI_HOME"),
            "{error}"
        );
    }
}
