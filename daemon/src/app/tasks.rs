//! Holds the tasks of a round, and detects their ends.

use std::{
    collections::VecDeque,
    fmt,
    future::{self, Future},
    time::{Duration, Instant},
};

use tokio::task::{AbortHandle, Id, JoinSet};

/// If tasks end unexpectedly more often than this within [`WINDOW`], the process ends, so that its
/// service manager notices the defect.
const MAX_DEFECTS: usize = 3;
const WINDOW: Duration = Duration::from_secs(600);

/// A task that lives as long as a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Accepts connections.
    Server,
    Spool,
    /// Enforces the disk limits. Another round starts when this task ends.
    QuotaKeeper,
    Engine,
    Embedder,
    /// Updates the search index.
    Follower,
    /// Updates the shared graph.
    Sharing,
    /// Replaces the summaries that older rules created.
    Remaker,
}

/// All tasks of a round. Dropping this value aborts the tasks.
#[derive(Default)]
pub(super) struct Tasks {
    set: JoinSet<()>,
    running: Vec<(Task, AbortHandle)>,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) task: Task,
    /// Whether the task panicked.
    pub(super) is_defect: bool,
}

/// The times at which tasks ended unexpectedly.
#[derive(Default)]
pub(super) struct Defects(VecDeque<Instant>);

impl Tasks {
    pub(super) fn spawn(&mut self, task: Task, work: impl Future<Output = ()> + Send + 'static) {
        let handle = self.set.spawn(work);
        self.running.push((task, handle));
    }

    /// Waits until a task ends. The future may be dropped at any time.
    pub(super) async fn next_ended(&mut self) -> Ended {
        let (id, is_defect) = match self.set.join_next_with_id().await {
            Some(Ok((id, ()))) => (id, false),
            Some(Err(error)) => (error.id(), error.is_panic()),
            None => future::pending().await,
        };
        Ended { task: self.remove(id), is_defect }
    }

    pub(super) async fn wait_until_ended(&mut self, task: Task) {
        while self.running.iter().any(|(running, _)| *running == task) {
            self.next_ended().await;
        }
    }

    /// Aborts a task, and waits until it has ended.
    pub(super) async fn abort(&mut self, task: Task) {
        let handles = self.running.iter().filter(|(running, _)| *running == task);
        handles.for_each(|(_, handle)| handle.abort());
        self.wait_until_ended(task).await;
    }

    pub(super) fn running(&self) -> Vec<Task> {
        self.running.iter().map(|(task, _)| *task).collect()
    }

    fn remove(&mut self, id: Id) -> Task {
        let at = self.running.iter().position(|(_, handle)| handle.id() == id);
        self.running.swap_remove(at.expect("a task ends once")).0
    }
}

impl Defects {
    /// Counts an unexpected end. Returns whether another round may start.
    pub(super) fn may_continue(&mut self, now: Instant) -> bool {
        self.0.retain(|before| now.duration_since(*before) < WINDOW);
        self.0.push_back(now);
        self.0.len() <= MAX_DEFECTS
    }
}

impl fmt::Display for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Task::Server => "the task that accepts connections",
            Task::Spool => "the task that reads hook events from the spool",
            Task::QuotaKeeper => "the task that enforces the disk limits",
            Task::Engine => "the engine's loop",
            Task::Embedder => "the task that computes vectors",
            Task::Sharing => "the task that updates the shared graph",
            Task::Follower => "the task that updates the search index",
            Task::Remaker => "the task that creates older summaries again",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_a_task_is_reported_with_its_name_and_cause() {
        let mut tasks = Tasks::default();
        tasks.spawn(Task::Engine, future::pending());
        tasks.spawn(Task::Follower, async { panic!("a defect") });
        assert_eq!(tasks.next_ended().await, Ended { task: Task::Follower, is_defect: true });
        tasks.spawn(Task::QuotaKeeper, async {});
        assert_eq!(tasks.next_ended().await, Ended { task: Task::QuotaKeeper, is_defect: false });
        tasks.wait_until_ended(Task::QuotaKeeper).await;
        assert_eq!(tasks.running(), [Task::Engine]);
        tasks.abort(Task::Engine).await;
        assert_eq!(tasks.running(), []);
    }

    #[test]
    fn occasional_defects_are_survived_and_repeated_defects_are_not() {
        let start = Instant::now();
        let mut defects = Defects::default();
        for number in 0..20 {
            assert!(defects.may_continue(start + WINDOW / 3 * number), "{number}");
        }
        let mut defects = Defects::default();
        let survived: Vec<bool> = (0..=MAX_DEFECTS).map(|_| defects.may_continue(start)).collect();
        assert_eq!(survived, [true, true, true, false]);
    }
}
