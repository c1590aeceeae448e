//! Keeps the files that could not be read, and retries them. The cause of a failure may be
//! temporary, for example too many open files, and no event announces the files again.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use crate::model::Timestamp;

/// The pause between the first failure and the retry of all files that have failed until then.
const PAUSE: Duration = Duration::from_secs(60);

/// Files to be retried.
#[derive(Default)]
pub(super) struct Unreadable {
    paths: BTreeSet<PathBuf>,
    due: Option<Timestamp>,
}

impl Unreadable {
    pub(super) fn add(&mut self, path: PathBuf, now: Timestamp) {
        self.paths.insert(path);
        self.due.get_or_insert(now.plus(PAUSE));
    }

    /// Returns when the files are retried; `None` if no file has to be retried.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Removes and returns the files whose retry is due.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<PathBuf> {
        // After the clock was set back, the due time may be far ahead.
        let is_due = self.due.is_some_and(|due| due <= now || due > now.plus(PAUSE));
        if is_due { self.take() } else { Vec::new() }
    }

    /// Removes and returns all files.
    pub(super) fn take(&mut self) -> Vec<PathBuf> {
        self.due = None;
        std::mem::take(&mut self.paths).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_retried_after_a_pause_even_if_the_clock_is_set() {
        let (began, path) = (Timestamp::from_seconds(1_000_000), PathBuf::from("/a"));
        for (later, expected) in [(0, 0), (59, 0), (60, 1), (900_000, 1), (-1, 1), (-900_000, 1)] {
            let mut unreadable = Unreadable::default();
            unreadable.add(path.clone(), began);
            let now = Timestamp::from_seconds(1_000_000 + later);
            assert_eq!(unreadable.take_due(now).len(), expected, "{later}");
            assert_eq!(unreadable.due().is_none(), expected == 1, "{later}");
        }
    }
}
