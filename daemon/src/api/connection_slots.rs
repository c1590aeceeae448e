//! Limits the number of connections, and chooses a connection to close when all slots are taken.
//!
//! An agent may be silent for hours, and keeps its connection as long as slots are free. When all
//! slots are taken, a connection that has never sent a request is closed first, then the connection
//! with the longest silence. A connection with a running request is never closed. Of a client of
//! the Model Context Protocol, only tool calls and prompts count as requests. Our own clients
//! reconnect automatically.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, watch};

/// Maximum number of connections. Further connections wait in the system's queue.
pub(super) const MAX_CONNECTIONS: usize = 256;
/// Maximum number of connections of one process, so that other processes can connect.
pub(super) const MAX_CONNECTIONS_PER_PROCESS: usize = 128;

#[derive(Clone, Default)]
pub(super) struct ConnectionSlots(Arc<SharedSlots>);

#[derive(Default)]
struct SharedSlots {
    table: Mutex<SlotTable>,
    freed: Notify,
}

#[derive(Default)]
struct SlotTable {
    slots: BTreeMap<u64, Slot>,
    /// Counts events; used instead of a clock.
    moment: u64,
}

struct Slot {
    process: Option<u32>,
    requests: usize,
    has_sent_request: bool,
    /// The value of `moment` when the connection began, or at its last request or answer.
    since: u64,
    leave: watch::Sender<bool>,
}

/// A slot in use. Dropping this guard frees the slot.
pub(super) struct SlotGuard {
    all: ConnectionSlots,
    number: u64,
    /// Becomes true when the connection has to close.
    pub(super) leaving: watch::Receiver<bool>,
}

/// A running request. Until this guard is dropped, the connection of the request is not closed to
/// free its slot.
pub(super) struct RequestGuard {
    all: ConnectionSlots,
    number: u64,
}

impl ConnectionSlots {
    /// Waits until a slot is free. If none is free, signals an idle connection to close.
    pub(super) async fn wait_for_free(&self) {
        loop {
            {
                let mut table = self.lock();
                if table.slots.len() < MAX_CONNECTIONS {
                    return;
                }
                if !table.slots.values().any(Slot::is_closing) {
                    table.request_close(|_| true);
                }
            }
            self.0.freed.notified().await;
        }
    }

    /// Takes a slot for a connection of `process`; `None` when the process has its maximum number
    /// of connections and none of them can be closed.
    pub(super) fn acquire(&self, process: Option<u32>) -> Option<SlotGuard> {
        let mut table = self.lock();
        let is_own = |slot: &Slot| process.is_some() && slot.process == process;
        let own = table.slots.values().filter(|slot| is_own(slot) && !slot.is_closing()).count();
        if own >= MAX_CONNECTIONS_PER_PROCESS && !table.request_close(is_own) {
            return None;
        }
        let (leave, leaving) = watch::channel(false);
        let since = table.next();
        let slot = Slot { process, requests: 0, has_sent_request: false, since, leave };
        table.slots.insert(since, slot);
        Some(SlotGuard { all: self.clone(), number: since, leaving })
    }

    fn lock(&self) -> MutexGuard<'_, SlotTable> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlotTable {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// Chooses an idle connection for which `may` returns true, and signals it to close. Returns
    /// whether there was such a connection.
    fn request_close(&mut self, may: impl Fn(&Slot) -> bool) -> bool {
        let idle = |slot: &&Slot| slot.requests == 0 && !slot.is_closing() && may(slot);
        let first =
            self.slots.values().filter(idle).min_by_key(|slot| (slot.has_sent_request, slot.since));
        first.map(|slot| slot.leave.send_replace(true)).is_some()
    }
}

impl Slot {
    fn is_closing(&self) -> bool {
        *self.leave.borrow()
    }
}

impl SlotGuard {
    pub(super) fn serve(&self) -> RequestGuard {
        let mut table = self.all.lock();
        let now = table.next();
        if let Some(slot) = table.slots.get_mut(&self.number) {
            slot.requests += 1;
            slot.has_sent_request = true;
            slot.since = now;
        }
        RequestGuard { all: self.all.clone(), number: self.number }
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut table = self.all.lock();
        let now = table.next();
        if let Some(slot) = table.slots.get_mut(&self.number) {
            slot.requests -= 1;
            slot.since = now;
        }
        drop(table);
        // A caller of `wait_for_free` may wait until a connection is idle and can be closed.
        self.all.0.freed.notify_one();
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        self.all.lock().slots.remove(&self.number);
        self.all.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    fn fill(slots: &ConnectionSlots) -> Vec<SlotGuard> {
        (0..MAX_CONNECTIONS).map(|at| slots.acquire(Some(at as u32)).unwrap()).collect()
    }

    fn leaving(slots: &[SlotGuard]) -> Vec<usize> {
        (0..slots.len()).filter(|at| *slots[*at].leaving.borrow()).collect()
    }

    #[tokio::test]
    async fn connections_without_requests_are_closed_before_silent_ones() {
        let slots = ConnectionSlots::default();
        let mut guards: VecDeque<SlotGuard> = fill(&slots).into();
        drop(guards[0].serve());
        // The first connection has sent a request, so the second one is closed first.
        for expected in [1, 1, 1] {
            let waiting = tokio::spawn({
                let slots = slots.clone();
                async move { slots.wait_for_free().await }
            });
            while leaving(guards.make_contiguous()).is_empty() {
                tokio::task::yield_now().await;
            }
            assert_eq!(leaving(guards.make_contiguous()), [expected]);
            assert!(!waiting.is_finished());
            drop(guards.remove(expected));
            waiting.await.unwrap();
            let slot = slots.acquire(None).unwrap();
            drop(slot.serve());
            guards.push_back(slot);
        }
        // When all connections have sent requests, the one with the longest silence is closed.
        guards.iter().skip(1).for_each(|slot| drop(slot.serve()));
        assert!(slots.lock().request_close(|_| true));
        assert_eq!(leaving(guards.make_contiguous()), [0]);
    }

    #[tokio::test]
    async fn a_connection_with_a_running_request_is_not_closed() {
        let slots = ConnectionSlots::default();
        let guards = fill(&slots);
        let mut serving: Vec<RequestGuard> = guards.iter().map(SlotGuard::serve).collect();
        let waiting = tokio::spawn({
            let slots = slots.clone();
            async move { slots.wait_for_free().await }
        });
        tokio::task::yield_now().await;
        assert_eq!(leaving(&guards), [0; 0]);
        serving.remove(7);
        while leaving(&guards).is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(leaving(&guards), [7]);
        drop(guards);
        waiting.await.unwrap();
    }

    #[test]
    fn one_process_has_a_limited_number_of_connections() {
        let slots = ConnectionSlots::default();
        let guards: Vec<SlotGuard> =
            (0..MAX_CONNECTIONS_PER_PROCESS).map(|_| slots.acquire(Some(1)).unwrap()).collect();
        let more = slots.acquire(Some(1)).unwrap();
        assert_eq!(leaving(&guards), [0], "the longest silent connection of the process is closed");
        let serving: Vec<RequestGuard> =
            guards.iter().chain([&more]).map(SlotGuard::serve).collect();
        assert!(slots.acquire(Some(1)).is_none());
        assert!(slots.acquire(Some(2)).is_some());
        drop(serving);
        assert!(slots.acquire(Some(1)).is_some());
    }
}
