//! The threads that run jobs.
//!
//! There are few threads, and they live as long as the engine. A regular expression keeps a cache
//! of about 100 kB for the first thread that uses it. All other threads share eight stacks of such
//! caches, by thread number (`regex_automata::util::pool`). Many short-lived threads, such as those
//! of tokio's blocking pool, would fill all stacks.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::mpsc::{self, Sender},
    thread,
};

type Work = Box<dyn FnOnce() + Send>;

/// The threads, by number. They end when this value is dropped.
pub(super) struct Workers {
    threads: Vec<Sender<Work>>,
}

impl Workers {
    pub(super) fn start(count: usize) -> io::Result<Workers> {
        Ok(Workers { threads: (0..count).map(|_| start()).collect::<io::Result<_>>()? })
    }

    /// Queues `work` on a thread. Calls `ended` with the result, or with `None` after a panic.
    pub(super) fn run<T>(
        &self,
        thread: usize,
        work: impl FnOnce() -> T + Send + 'static,
        ended: impl FnOnce(Option<T>) + Send + 'static,
    ) {
        let work = move || ended(panic::catch_unwind(AssertUnwindSafe(work)).ok());
        // A thread ends with `self`, so it accepts work as long as `self` exists.
        let _ = self.threads[thread].send(Box::new(work));
    }
}

fn start() -> io::Result<Sender<Work>> {
    let (work, works) = mpsc::channel::<Work>();
    thread::Builder::new()
        .name("job".to_owned())
        .spawn(move || works.into_iter().for_each(|work| work()))?;
    Ok(work)
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

    use super::*;

    /// Runs `work` on a thread; returns its result and the id of the thread.
    fn run(workers: &Workers, thread: usize, work: fn() -> u32) -> (Option<u32>, ThreadId) {
        let (sender, receiver) = mpsc::channel();
        workers.run(thread, work, move |done| sender.send((done, thread::current().id())).unwrap());
        receiver.recv().unwrap()
    }

    #[test]
    fn work_runs_on_the_given_thread_even_after_a_panic() {
        let workers = Workers::start(2).unwrap();
        let (seven, second) = run(&workers, 1, || 7);
        assert_eq!(seven, Some(7));
        let (_, first) = run(&workers, 0, || 7);
        assert_ne!(first, second);
        assert_eq!(run(&workers, 1, || panic!("a defect")), (None, second));
        assert_eq!(run(&workers, 1, || 8), (Some(8), second));
        assert_eq!(run(&workers, 0, || 9), (Some(9), first));
    }
}
