//! The threads on which jobs run.
//!
//! They are few, live as long as the daemon, and the first that is idle is taken: a pattern keeps
//! what it searched with for each thread that ever used it (`regex_automata::util::pool`), some
//! 100 kB. With threads that come and go, as tokio's do, that adds up to nine times the memory.

use std::{
    io,
    panic::{self, AssertUnwindSafe},
    sync::mpsc::{self, Sender},
    thread,
};

type Work = Box<dyn FnOnce() + Send>;

/// The threads, by number. Each is there from its first work on.
#[derive(Default)]
pub(super) struct Workers {
    threads: Vec<Sender<Work>>,
}

impl Workers {
    /// Does `work` on a thread, after what that thread was given before, and tells `ended` what
    /// comes of it, or nothing when it panics. Where the system gives no thread it is done on
    /// another one, or on one of the runtime's.
    pub(super) fn run<T>(
        &mut self,
        thread: usize,
        work: impl FnOnce() -> T + Send + 'static,
        ended: impl FnOnce(Option<T>) + Send + 'static,
    ) {
        while self.threads.len() <= thread {
            match start() {
                Ok(thread) => self.threads.push(thread),
                Err(error) => {
                    tracing::warn!(%error, "no thread for a job");
                    break;
                }
            }
        }
        let work = move || ended(panic::catch_unwind(AssertUnwindSafe(work)).ok());
        match self.threads.get(thread).or(self.threads.last()) {
            // It ends when this does.
            Some(thread) => drop(thread.send(Box::new(work))),
            None => drop(tokio::task::spawn_blocking(work)),
        }
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
    fn run(workers: &mut Workers, thread: usize, work: fn() -> u32) -> (Option<u32>, ThreadId) {
        let (tell, told) = mpsc::channel();
        workers.run(thread, work, move |done| tell.send((done, thread::current().id())).unwrap());
        told.recv().unwrap()
    }

    #[test]
    fn what_is_given_to_one_thread_is_done_there_even_after_a_defect() {
        let mut workers = Workers::default();
        let (seven, second) = run(&mut workers, 1, || 7);
        assert_eq!(seven, Some(7));
        let (_, first) = run(&mut workers, 0, || 7);
        assert_ne!(first, second);
        assert_eq!(run(&mut workers, 1, || panic!("a defect")), (None, second));
        assert_eq!(run(&mut workers, 1, || 8), (Some(8), second));
        assert_eq!(run(&mut workers, 0, || 9), (Some(9), first));
    }
}
