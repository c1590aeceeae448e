//! Limits the time of a request, and the effect of a panic in a request.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use graphiti_proto::rpc::{Error, code};

use crate::api::blocking::allow_blocking;

/// Maximum number of concurrent requests of one connection; further requests are refused. Of a
/// client of the Model Context Protocol, only tool calls are counted.
pub(super) const MAX_CONCURRENT_REQUESTS: usize = 32;
/// Requests are cancelled after this time. Only a `sync` of many past sessions with a slow model
/// takes that long. A repeated `sync` continues where the last one stopped.
const DEADLINE: Duration = Duration::from_secs(3_600);

/// Runs `work` with a deadline. A timeout and a panic become errors for the client.
pub(super) async fn with_deadline<T>(
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(DEADLINE, catch_panics(allow_blocking(work))).await.unwrap_or_else(|_| {
        let what = "the request took longer than an hour and was cancelled; work that it started continues";
        Err(Error::new(code::INTERNAL, what))
    })
}

/// Returns the result of `work`, or an error if `work` panics.
async fn catch_panics<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut work = pin!(work);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        polled.unwrap_or_else(|_| Poll::Ready(Err(panic_error())))
    })
    .await
}

/// Returns an error without the panic's message, which may quote user data.
pub(super) fn panic_error() -> Error {
    let what = "the request failed because of a defect in graphitid; see its log for the place";
    Error::new(code::INTERNAL, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_end_gets_an_error() {
        let never = std::future::pending::<Result<(), Error>>();
        assert_eq!(with_deadline(never).await.unwrap_err().code, code::INTERNAL);
        assert_eq!(with_deadline(async { Ok(1) }).await, Ok(1));
    }

    #[tokio::test]
    async fn a_request_that_panics_gets_an_error_without_the_panic_message() {
        let defect = async { panic!("the quick numbat jumps") };
        let error = with_deadline::<()>(defect).await.unwrap_err();
        assert_eq!(error.code, code::INTERNAL);
        assert!(error.message.contains("see its log for the place"), "{error}");
        assert!(!error.message.contains("numbat"), "{error}");
    }
}
