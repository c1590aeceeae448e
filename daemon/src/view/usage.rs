//! Records when the page was used last, and determines when its server closes.

use std::time::Duration;

use tokio::{sync::watch, time::Instant};

/// The server closes after this time without use.
pub(super) const IDLE: Duration = Duration::from_secs(900);

/// The use of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageUse {
    last: Instant,
    /// The number of pages that listen to events. The script listens only while its page is
    /// visible.
    visible: usize,
}

/// A page that is visible, until it is dropped.
pub(super) struct VisiblePage(watch::Sender<PageUse>);

impl PageUse {
    pub(super) fn new(now: Instant) -> PageUse {
        PageUse { last: now, visible: 0 }
    }

    /// Returns when the server closes; `None` while a page is visible.
    fn closes_at(self) -> Option<Instant> {
        (self.visible == 0).then(|| self.last + IDLE)
    }
}

/// Records a request.
pub(super) fn note(uses: &watch::Sender<PageUse>, now: Instant) {
    uses.send_modify(|state| state.last = now);
}

/// Records a page that is visible.
pub(super) fn show(uses: &watch::Sender<PageUse>) -> VisiblePage {
    uses.send_modify(|state| state.visible += 1);
    VisiblePage(uses.clone())
}

/// Waits until the page was not used for [`IDLE`].
pub(super) async fn expired(mut uses: watch::Receiver<PageUse>) {
    loop {
        let closes_at = uses.borrow_and_update().closes_at();
        let closing = async {
            match closes_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = closing => return,
            changed = uses.changed() => if changed.is_err() { return },
        }
    }
}

impl Drop for VisiblePage {
    fn drop(&mut self) {
        self.0.send_modify(|state| {
            state.visible -= 1;
            state.last = Instant::now();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_expires_after_its_last_use_and_never_while_it_is_visible() {
        let start = Instant::now();
        let (uses, receiver) = watch::channel(PageUse::new(start));
        let waiting = tokio::spawn(expired(receiver));
        tokio::time::advance(IDLE / 2).await;
        note(&uses, Instant::now());
        let visible = show(&uses);
        tokio::time::advance(IDLE * 10).await;
        assert!(!waiting.is_finished());
        drop(visible);
        let hidden = Instant::now();
        waiting.await.unwrap();
        assert_eq!(hidden.elapsed(), IDLE);
    }
}
