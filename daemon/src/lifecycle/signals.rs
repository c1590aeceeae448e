//! Receives signals of the operating system.

use std::io;

use tokio::sync::mpsc;

/// What a signal requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop the daemon (`SIGTERM`, `SIGINT`).
    Stop,
    /// Reload the configuration (`SIGHUP`).
    Reload,
}

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
            let request = if signal == SIGHUP { Signal::Reload } else { Signal::Stop };
            if send.blocking_send(request).is_err() {
                return;
            }
        }
    })?;
    Ok(receive)
}

/// Starts listening for Ctrl-C, the only signal on Windows.
#[cfg(windows)]
pub fn listen() -> io::Result<mpsc::Receiver<Signal>> {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };
    let is_requested = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, is_requested.clone())?;
    }
    let (send, receive) = mpsc::channel(1);
    // The signal handlers only set a flag, so this thread polls the flag.
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !is_requested.load(Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(200));
            if send.is_closed() {
                return;
            }
        }
        // Sending fails only if the receiver was dropped.
        let _ = send.blocking_send(Signal::Stop);
    })?;
    Ok(receive)
}
