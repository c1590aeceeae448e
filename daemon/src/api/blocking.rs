//! Blocking reads of the store in request handlers.
//!
//! The runtime has two workers, and a read may wait for the disk. Every request handler is polled
//! through [`allow_blocking`], which first moves the other tasks of the worker to another thread.
//! Handlers therefore need no special code.

use std::{
    future::{Future, poll_fn},
    pin::pin,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Polls `work`, which may block on each poll.
pub(super) async fn allow_blocking<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| read(|| work.as_mut().poll(context))).await
}

/// Runs `work`, which may block.
pub(crate) fn read<T>(work: impl FnOnce() -> T) -> T {
    // A runtime with one thread, which some tests use, cannot move its tasks.
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => block_in_place(work),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    /// After this time, the test fails.
    const GIVE_UP: Duration = Duration::from_secs(10);

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_request_that_blocks_does_not_delay_others() {
        let (send, receive) = mpsc::channel();
        let blocked = tokio::spawn(async move {
            let work = async move { receive.recv_timeout(GIVE_UP) };
            crate::api::request_limits::with_deadline(async { Ok(work.await) }).await
        });
        // The only worker is blocked at this point; this task must still run.
        let other = tokio::spawn(async move { send.send("served meanwhile") });
        assert_eq!(blocked.await.unwrap().unwrap(), Ok("served meanwhile"));
        other.await.unwrap().unwrap();
    }
}
