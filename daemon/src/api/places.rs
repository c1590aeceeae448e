//! Places for connections: how many there are, and who gives way when all are taken.
//!
//! An agent's program may be silent for hours and keeps its connection as long as there is room.
//! When there is none, whoever never asked anything goes first, then whoever was silent longest;
//! nobody whose request is being served. A client of ours connects again by itself.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, watch};

/// Connections at one time. Further ones wait in the system's queue until one ends.
pub(super) const CONNECTIONS: usize = 256;
/// Of these one process may have so many, so that others always find room.
pub(super) const OF_ONE_PROCESS: usize = 128;

/// All places.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<All>);

#[derive(Default)]
struct All {
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Default)]
struct Taken {
    seats: BTreeMap<u64, Seat>,
    /// Counts what happens, in the place of a clock.
    moment: u64,
}

struct Seat {
    process: Option<u32>,
    /// Requests that are being served.
    requests: usize,
    has_asked: bool,
    /// When something was last asked or answered here.
    since: u64,
    leave: watch::Sender<bool>,
}

/// A place that is taken. It is free again when this goes.
pub(super) struct Place {
    all: Places,
    number: u64,
    /// Turns true when the connection has to give way.
    pub(super) leaving: watch::Receiver<bool>,
}

/// A request is being served: its connection does not give way as long as this is there.
pub(super) struct Serving {
    all: Places,
    number: u64,
}

impl Places {
    /// Waits until a place is free, and asks someone to give way for that.
    pub(super) async fn free(&self) {
        loop {
            {
                let mut taken = self.lock();
                if taken.seats.len() < CONNECTIONS {
                    return;
                }
                if !taken.seats.values().any(Seat::is_leaving) {
                    taken.ask_to_leave(|_| true);
                }
            }
            self.0.freed.notified().await;
        }
    }

    /// Takes a place for a connection of `process`; `None` when that one has its share, and all of
    /// it is in use.
    pub(super) fn take(&self, process: Option<u32>) -> Option<Place> {
        let mut taken = self.lock();
        let is_own = |seat: &Seat| process.is_some() && seat.process == process;
        let own = taken.seats.values().filter(|seat| is_own(seat) && !seat.is_leaving()).count();
        if own >= OF_ONE_PROCESS && !taken.ask_to_leave(is_own) {
            return None;
        }
        let (leave, leaving) = watch::channel(false);
        let since = taken.next();
        let seat = Seat { process, requests: 0, has_asked: false, since, leave };
        taken.seats.insert(since, seat);
        Some(Place { all: self.clone(), number: since, leaving })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn next(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    /// Asks one to leave of those that may be; whether there was any.
    fn ask_to_leave(&mut self, may: impl Fn(&Seat) -> bool) -> bool {
        let idle = |seat: &&Seat| seat.requests == 0 && !seat.is_leaving() && may(seat);
        let first =
            self.seats.values().filter(idle).min_by_key(|seat| (seat.has_asked, seat.since));
        first.map(|seat| seat.leave.send_replace(true)).is_some()
    }
}

impl Seat {
    fn is_leaving(&self) -> bool {
        *self.leave.borrow()
    }
}

impl Place {
    /// Begins a request.
    pub(super) fn serve(&self) -> Serving {
        let mut taken = self.all.lock();
        let now = taken.next();
        if let Some(seat) = taken.seats.get_mut(&self.number) {
            seat.requests += 1;
            seat.has_asked = true;
            seat.since = now;
        }
        Serving { all: self.all.clone(), number: self.number }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let mut taken = self.all.lock();
        let now = taken.next();
        if let Some(seat) = taken.seats.get_mut(&self.number) {
            seat.requests -= 1;
            seat.since = now;
        }
        drop(taken);
        // Whoever waits for a place may have found nobody to give way.
        self.all.0.freed.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.lock().seats.remove(&self.number);
        self.all.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    fn fill(places: &Places) -> Vec<Place> {
        (0..CONNECTIONS).map(|at| places.take(Some(at as u32)).unwrap()).collect()
    }

    fn leaving(seats: &[Place]) -> Vec<usize> {
        (0..seats.len()).filter(|at| *seats[*at].leaving.borrow()).collect()
    }

    #[tokio::test]
    async fn whoever_never_asked_gives_way_first_and_then_whoever_was_silent_longest() {
        let places = Places::default();
        let mut seats: VecDeque<Place> = fill(&places).into();
        drop(seats[0].serve());
        // The first has asked something, so the second goes before it.
        for expected in [1, 1, 1] {
            let waiting = tokio::spawn({
                let places = places.clone();
                async move { places.free().await }
            });
            while leaving(seats.make_contiguous()).is_empty() {
                tokio::task::yield_now().await;
            }
            assert_eq!(leaving(seats.make_contiguous()), [expected]);
            assert!(!waiting.is_finished());
            drop(seats.remove(expected));
            waiting.await.unwrap();
            let place = places.take(None).unwrap();
            drop(place.serve());
            seats.push_back(place);
        }
        // When all have asked, the one that was silent longest goes.
        seats.iter().skip(1).for_each(|place| drop(place.serve()));
        assert!(places.lock().ask_to_leave(|_| true));
        assert_eq!(leaving(seats.make_contiguous()), [0]);
    }

    #[tokio::test]
    async fn nobody_gives_way_whose_request_is_being_served() {
        let places = Places::default();
        let seats = fill(&places);
        let mut serving: Vec<Serving> = seats.iter().map(Place::serve).collect();
        let waiting = tokio::spawn({
            let places = places.clone();
            async move { places.free().await }
        });
        tokio::task::yield_now().await;
        assert_eq!(leaving(&seats), [0; 0]);
        serving.remove(7);
        while leaving(&seats).is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(leaving(&seats), [7]);
        drop(seats);
        waiting.await.unwrap();
    }

    #[test]
    fn one_process_has_its_share_and_no_more() {
        let places = Places::default();
        let seats: Vec<Place> =
            (0..OF_ONE_PROCESS).map(|_| places.take(Some(1)).unwrap()).collect();
        let more = places.take(Some(1)).unwrap();
        assert_eq!(leaving(&seats), [0], "its own longest silent one goes");
        let serving: Vec<Serving> = seats.iter().chain([&more]).map(Place::serve).collect();
        assert!(places.take(Some(1)).is_none());
        assert!(places.take(Some(2)).is_some());
        drop(serving);
        assert!(places.take(Some(1)).is_some());
    }
}
