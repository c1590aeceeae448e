//! The queue of events for the engine. While the engine waits for the disk, it answers queries and
//! postpones all other events. Queries need no decision about files.

use std::{collections::VecDeque, future};

use tokio::sync::mpsc;

use crate::engine::{EngineEvent, command::EngineCommand};

/// Maximum number of events that are postponed while the engine waits for the disk. When this
/// number is reached, later events stay in the channel, and queries wait, too.
const POSTPONED: usize = 1_024;

/// The events for the engine, in their order.
pub(super) struct Inbox {
    events: mpsc::Receiver<EngineEvent>,
    /// Events that came while the engine waited for the disk.
    postponed: VecDeque<EngineEvent>,
}

impl Inbox {
    pub(super) fn new(events: mpsc::Receiver<EngineEvent>) -> Inbox {
        Inbox { events, postponed: VecDeque::new() }
    }

    /// Returns the next event; `None` when no sender is left.
    pub(super) async fn next(&mut self) -> Option<EngineEvent> {
        match self.postponed.pop_front() {
            Some(event) => Some(event),
            None => self.events.recv().await,
        }
    }

    /// Returns the next query, and postpones all other events. Waits forever when no sender is
    /// left or too many events are postponed.
    pub(super) async fn next_query(&mut self) -> EngineCommand {
        while self.postponed.len() < POSTPONED {
            match self.events.recv().await {
                Some(EngineEvent::Command(command)) if command.is_query() => return command,
                Some(event) => self.postponed.push_back(event),
                None => break,
            }
        }
        future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_query_overtakes_other_events_which_keep_their_order() {
        let (send, events) = mpsc::channel(8);
        let mut inbox = Inbox::new(events);
        let (status, _) = oneshot::channel();
        let (live, _) = oneshot::channel();
        for event in [
            EngineEvent::Liveness,
            EngineEvent::Command(EngineCommand::NoteProblem("later".to_owned())),
            EngineEvent::Command(EngineCommand::Status(status)),
            EngineEvent::Started,
            EngineEvent::Command(EngineCommand::Live(live)),
        ] {
            assert!(send.send(event).await.is_ok());
        }
        drop(send);
        assert!(matches!(inbox.next_query().await, EngineCommand::Status(_)));
        assert!(matches!(inbox.next_query().await, EngineCommand::Live(_)));
        assert!(matches!(inbox.next().await, Some(EngineEvent::Liveness)));
        let problem = inbox.next().await;
        assert!(matches!(problem, Some(EngineEvent::Command(EngineCommand::NoteProblem(_)))));
        assert!(matches!(inbox.next().await, Some(EngineEvent::Started)));
        assert!(inbox.next().await.is_none());
    }
}
