//! Notifies the service manager, if there is one, of the daemon's state.

/// Reports that the daemon is ready.
pub fn ready() {
    notify("READY=1");
}

/// Reports that the daemon is stopping.
pub fn stopping() {
    notify("STOPPING=1");
}

/// Implements systemd's `sd_notify`: sends a datagram to the socket at the address in
/// `NOTIFY_SOCKET`.
#[cfg(target_os = "linux")]
fn notify(state: &str) {
    use std::os::{
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    };
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let address = match path.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(&path),
    };
    let sent = address
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    if let Err(error) = sent {
        tracing::warn!(%error, "cannot send {state} to the service manager");
    }
}

#[cfg(not(target_os = "linux"))]
fn notify(_state: &str) {}
