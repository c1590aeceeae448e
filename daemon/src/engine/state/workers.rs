//! The threads on which jobs run.
//!
//! They are few, live as long as the daemon, and the first that is idle is taken. A pattern keeps
//! what it searched with, some 100 kB: for the first thread that used it, and on eight stacks for
//! the others, by their numbers (`regex_automata::util::pool`). Threads that come and go, as tokio's
//! do, would come to all of these.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::mpsc::{self, Sender},
    thread,
};

type Work = Box<dyn FnOnce() + Send>;

/// The threads, by number. They end when this is dropped.
pub(super) struct Workers {
    threads: Vec<Sender<Work>>,
}

impl Workers {
    /// Starts so many threads.
    ///
    /// # Errors
    ///
    /// When the system gives none.
    pub(super) fn start(count: usize) -> io::Result<Workers> {
        Ok(Workers { threads: (0..count).map(|_| start()).collect::<io::Result<_>>()? })
    }

    /// Does `work` on a thread, after what that thread was given before, and tells `ended` what
    /// comes of it, or nothing when it panics.
    pub(super) fn run<T>(
        &self,
        thread: usize,
        work: impl FnOnce() -> T + Send + 'static,
        ended: impl FnOnce(Option<T>) + Send + 'static,
    ) {
        let work = move || ended(panic::catch_unwind(AssertUnwindSafe(work)).ok());
        // It ends when this does.
        drop(self.threads[thread].send(Box::new(work)));
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

    /// What `work` on a thread came to, and which one that was.
    fn run(workers: &Workers, thread: usize, work: fn() -> u32) -> (Option<u32>, ThreadId) {
        let (tell, told) = mpsc::channel();
        workers.run(thread, work, move |done| tell.send((done, thread::current().id())).unwrap());
        told.recv().unwrap()
    }

    #[test]
    fn what_is_given_to_one_thread_is_done_there_even_after_a_defect() {
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
