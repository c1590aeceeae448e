//! Blocking reads of the store in request handlers.
//!
//! The runtime has two workers, and a read waits for the disk. Every request handler is polled through
//! [`allow_blocking`], so that no handler has to remember it: the worker that polls it hands its
//! other tasks over to another thread first.

use std::{
    future::{Future, poll_fn},
    pin::pin,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::block_in_place,
};

/// Polls `work`, which may block for a while each time.
pub(super) async fn allow_blocking<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| read(|| work.as_mut().poll(context))).await
}

/// Runs `work`, which may block for a while.
pub(super) fn read<T>(work: impl FnOnce() -> T) -> T {
    // A runtime with one thread, as some tests have it, has nobody to hand its tasks to.
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => work(),
        _ => block_in_place(work),
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    /// How long a defect may keep the test waiting.
    const GIVE_UP: Duration = Duration::from_secs(10);

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_request_that_blocks_does_not_hold_up_others() {
        let (send, receive) = mpsc::channel();
        let blocked = tokio::spawn(async move {
            let work = async move { receive.recv_timeout(GIVE_UP) };
            crate::api::connection::with_deadline(async { Ok(work.await) }).await
        });
        // The only worker is blocked by now or will be; this task still has to run.
        let other = tokio::spawn(async move { send.send("served meanwhile") });
        assert_eq!(blocked.await.unwrap().unwrap(), Ok("served meanwhile"));
        other.await.unwrap().unwrap();
    }
}
