//! Records when the page was used last, and determines when its server stops.

use std::time::Duration;

use tokio::{sync::watch, time::Instant};

/// The server stops after this time without use.
pub(super) const IDLE: Duration = Duration::from_secs(900);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageUse {
    last: Instant,
    /// The number of visible pages. The script listens to events only while its page is visible, so
    /// this is the number of listeners.
    visible: usize,
}

/// Marks a page as visible until this value is dropped.
pub(super) struct VisiblePage(watch::Sender<PageUse>);

impl PageUse {
    pub(super) fn new(now: Instant) -> PageUse {
        PageUse { last: now, visible: 0 }
    }

    /// Returns when the server stops, or `None` while a page is visible.
    fn closes_at(self) -> Option<Instant> {
        (self.visible == 0).then(|| self.last + IDLE)
    }
}

pub(super) fn record_request(page_use: &watch::Sender<PageUse>, now: Instant) {
    page_use.send_modify(|state| state.last = now);
}

pub(super) fn track_visible_page(page_use: &watch::Sender<PageUse>) -> VisiblePage {
    page_use.send_modify(|state| state.visible += 1);
    VisiblePage(page_use.clone())
}

/// Waits until the page was not used for [`IDLE`].
pub(super) async fn expired(mut page_use: watch::Receiver<PageUse>) {
    loop {
        let closes_at = page_use.borrow_and_update().closes_at();
        let closing = async {
            match closes_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = closing => return,
            changed = page_use.changed() => if changed.is_err() { return },
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
        let (page_use, receiver) = watch::channel(PageUse::new(start));
        let waiting = tokio::spawn(expired(receiver));
        tokio::time::advance(IDLE / 2).await;
        record_request(&page_use, Instant::now());
        let visible = track_visible_page(&page_use);
        tokio::time::advance(IDLE * 10).await;
        assert!(!waiting.is_finished());
        drop(visible);
        let hidden = Instant::now();
        waiting.await.unwrap();
        assert_eq!(hidden.elapsed(), IDLE);
    }
}
