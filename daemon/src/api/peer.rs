//! Authorizes connections: only the user that runs the daemon has access.

use interprocess::local_socket::tokio::{Stream, prelude::*};

/// The peer of an authorized connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    /// The process id, if the system reports it.
    pub(super) process: Option<u32>,
}

#[cfg(unix)]
pub(super) fn authorize(stream: &Stream) -> Option<Peer> {
    let credentials = match stream.peer_creds() {
        Ok(credentials) => credentials,
        Err(error) => {
            tracing::warn!(%error, "refused a connection without peer credentials");
            return None;
        }
    };
    let own = rustix::process::geteuid().as_raw();
    if credentials.euid() != Some(own) {
        tracing::warn!(user = ?credentials.euid(), "refused a connection of another user");
        return None;
    }
    Some(Peer { process: credentials.pid().and_then(|pid| u32::try_from(pid).ok()) })
}

/// On Windows, the security descriptor of the pipe restricts access to the user.
#[cfg(windows)]
pub(super) fn authorize(stream: &Stream) -> Option<Peer> {
    let process = stream.peer_creds().ok().and_then(|credentials| credentials.pid());
    Some(Peer { process })
}
