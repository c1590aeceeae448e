//! Time limits for the work of a hook and for its standard input.

use std::{io, time::Duration};

#[cfg(unix)]
pub(super) use self::unix::{TimedStdin, within};
#[cfg(windows)]
pub(super) use self::windows::{TimedStdin, within};

/// On Unix all blocking operations have time limits. This needs no extra thread, which would cost a
/// third of a hook's total time.
#[cfg(unix)]
mod unix {
    use std::{os::fd::AsFd, time::Instant};

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::{Duration, io};

    /// Runs `work`, which must observe the limit that it receives. Never returns `None`.
    pub(in crate::hook) fn within<T: Send + 'static>(
        limit: Duration,
        work: impl FnOnce(Duration) -> T + Send + 'static,
    ) -> Option<T> {
        Some(work(limit))
    }

    /// Standard input with a time limit.
    pub(in crate::hook) struct TimedStdin {
        stdin: io::Stdin,
        until: Instant,
    }

    impl TimedStdin {
        pub(in crate::hook) fn within(limit: Duration) -> TimedStdin {
            TimedStdin { stdin: io::stdin(), until: Instant::now() + limit }
        }
    }

    impl io::Read for TimedStdin {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let left = self.until.saturating_duration_since(Instant::now());
            let limit = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut descriptors = [PollFd::new(self.stdin.as_fd(), PollFlags::POLLIN)];
            match poll(&mut descriptors, limit)? {
                0 => Err(io::ErrorKind::TimedOut.into()),
                _ => Ok(rustix::io::read(&self.stdin, buffer)?),
            }
        }
    }
}

/// On Windows, pipes and standard input have no time limits. Therefore, an extra thread waits for
/// them. After a timeout, the hook continues without this thread.
#[cfg(windows)]
mod windows {
    use std::{sync::mpsc, thread};

    use super::{Duration, io};

    /// Runs `work` on a thread. Returns `None` if it exceeds the limit or no thread can be started.
    pub(in crate::hook) fn within<T: Send + 'static>(
        limit: Duration,
        work: impl FnOnce(Duration) -> T + Send + 'static,
    ) -> Option<T> {
        let (done, waiting) = mpsc::channel();
        let work = move || {
            // Sending fails only when the receiver has stopped waiting.
            let _ = done.send(work(limit));
        };
        thread::Builder::new().name("hook".to_owned()).spawn(work).ok()?;
        waiting.recv_timeout(limit).ok()
    }

    pub(in crate::hook) struct TimedStdin(io::Stdin);

    impl TimedStdin {
        pub(in crate::hook) fn within(_limit: Duration) -> TimedStdin {
            TimedStdin(io::stdin())
        }
    }

    impl io::Read for TimedStdin {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }
}
