//! Receives signals of the system as values.

use std::io;

use tokio::sync::mpsc;

/// What a signal requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop (`SIGTERM`, `SIGINT`).
    Stop,
    /// Read the configuration again (`SIGHUP`).
    Reload,
}

/// Listens for signals from now on.
#[cfg(unix)]
pub fn listen() -> io::Result<mpsc::Receiver<Signal>> {
    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        iterator::Signals,
    };
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let (send, receive) = mpsc::channel(4);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let meant = if signal == SIGHUP { Signal::Reload } else { Signal::Stop };
            if send.blocking_send(meant).is_err() {
                return;
            }
        }
    })?;
    Ok(receive)
}

/// Listens for Ctrl-C from now on; there are no other signals.
#[cfg(windows)]
pub fn listen() -> io::Result<mpsc::Receiver<Signal>> {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, asked.clone())?;
    }
    let (send, receive) = mpsc::channel(1);
    // Windows delivers signals on a separate thread, where only a flag may be set.
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(200));
            if send.is_closed() {
                return;
            }
        }
        // Sending fails only when there is no receiver any more.
        let _ = send.blocking_send(Signal::Stop);
    })?;
    Ok(receive)
}
