//! The queue of new files that have to be identified. It contains each path once.
//!
//! The queue does no I/O. The watch, a scan and a hook may announce a file at any moment, also
//! while the file is being identified. Each path has one stage, so a file is never identified twice
//! at the same time. A file that changes while it is being identified is announced again.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Files that are not yet matched to a session.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    stages: HashMap<Arc<Path>, Stage>,
    /// The paths whose stage is `Waiting`, in the order of their announcement.
    waiting: VecDeque<Arc<Path>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    /// The file is in the current batch.
    Identifying,
    /// The file was announced again while it was being identified.
    ChangedMeanwhile,
}

impl Discovery {
    /// Records that an unregistered file was created or changed.
    pub(super) fn announce(&mut self, path: &Path) {
        match self.stages.get_mut(path) {
            None => {
                let path: Arc<Path> = path.into();
                self.stages.insert(path.clone(), Stage::Waiting);
                self.waiting.push_back(path);
            }
            Some(Stage::Waiting | Stage::ChangedMeanwhile) => {}
            Some(stage @ Stage::Identifying) => *stage = Stage::ChangedMeanwhile,
        }
    }

    /// Returns the next batch of at most `limit` files, or no files while a batch is being
    /// identified.
    pub(super) fn next_batch(&mut self, limit: usize) -> Vec<PathBuf> {
        if self.is_identifying() {
            return Vec::new();
        }
        let count = self.waiting.len().min(limit);
        let batch = self.waiting.drain(..count);
        let mut paths = Vec::with_capacity(count);
        for path in batch {
            paths.push(path.to_path_buf());
            self.stages.insert(path, Stage::Identifying);
        }
        paths
    }

    /// Ends the batch, after its files were registered. Returns the files that changed meanwhile:
    /// their identification may be outdated, so the caller announces them again.
    pub(super) fn batch_done(&mut self) -> Vec<PathBuf> {
        let mut changed = Vec::new();
        self.stages.retain(|path, stage| match stage {
            Stage::Waiting => true,
            Stage::Identifying => false,
            Stage::ChangedMeanwhile => {
                changed.push(path.to_path_buf());
                false
            }
        });
        changed
    }

    pub(super) fn is_identifying(&self) -> bool {
        self.stages.len() > self.waiting.len()
    }

    pub(super) fn len(&self) -> usize {
        self.stages.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Drops the waiting files. The current batch continues to its end.
    pub(super) fn stop(&mut self) {
        self.waiting.clear();
        self.stages.retain(|_, stage| *stage != Stage::Waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_announced_twice_is_identified_once() {
        let mut discovery = Discovery::default();
        announce(&mut discovery, &["/a", "/b", "/a"]);
        assert_eq!(discovery.next_batch(9), ["/a", "/b"].map(PathBuf::from));
        assert_eq!(discovery.batch_done(), [] as [PathBuf; 0]);
        assert!(discovery.is_empty());
    }

    #[test]
    fn a_file_that_changes_while_it_is_identified_is_identified_again() {
        let mut discovery = Discovery::default();
        announce(&mut discovery, &["/a", "/b", "/c"]);
        assert_eq!(discovery.next_batch(2).len(), 2);
        announce(&mut discovery, &["/b", "/c", "/b"]);
        assert_eq!(discovery.next_batch(2), [] as [PathBuf; 0], "one batch at a time");
        assert_eq!(discovery.batch_done(), [PathBuf::from("/b")]);
        assert_eq!(discovery.next_batch(2), [PathBuf::from("/c")]);
    }

    #[test]
    fn a_stop_drops_waiting_files_but_not_the_current_batch() {
        let mut discovery = Discovery::default();
        announce(&mut discovery, &["/a", "/b"]);
        discovery.next_batch(1);
        discovery.stop();
        assert!(discovery.is_identifying());
        discovery.batch_done();
        assert!(discovery.is_empty());
    }

    fn announce(discovery: &mut Discovery, paths: &[&str]) {
        paths.iter().for_each(|path| discovery.announce(Path::new(path)));
    }
}
