//! Tests random changes of files. The changes are announced in any order, late, repeatedly or
//! never. In the end, each record of the existing files must be stored once, and no record twice.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::Arc,
};

use proptest::prelude::*;
use tokio::runtime::Runtime;

use super::{Machine, messages, sources};
use crate::store::Store;

/// The paths of three sessions. One of them has sub-agents, and may be in two folders.
pub(super) const PATHS: [&str; 7] = [
    "p/11111111-0000-4000-8000-000000000000.jsonl",
    "p/11111111-0000-4000-8000-000000000000/subagents/agent-a.jsonl",
    "p/11111111-0000-4000-8000-000000000000/subagents/agent-b.jsonl",
    "p/22222222-0000-4000-8000-000000000000.jsonl",
    "p/33333333-0000-4000-8000-000000000000.jsonl",
    "q/11111111-0000-4000-8000-000000000000.jsonl",
    "q/11111111-0000-4000-8000-000000000000/subagents/agent-a.jsonl",
];

#[derive(Clone, Debug)]
pub(super) enum FileStep {
    Append(usize),
    Copy(usize, usize),
    Rename(usize, usize),
    Replace(usize),
    Delete(usize),
    Announce(Vec<usize>),
    Settle,
    Restart,
}

/// Returns the configuration of tests with real files.
pub(super) fn config() -> ProptestConfig {
    ProptestConfig {
        cases: std::env::var("CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24),
        max_shrink_iters: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn step() -> impl Strategy<Value = FileStep> {
    prop_oneof![
        16 => file_step(),
        1 => Just(FileStep::Settle),
        1 => Just(FileStep::Restart),
    ]
}

/// Generates a change of files, or an event about some of them.
pub(super) fn file_step() -> impl Strategy<Value = FileStep> {
    let path = 0..PATHS.len();
    let two = (path.clone(), path.clone());
    prop_oneof![
        6 => path.clone().prop_map(FileStep::Append),
        1 => two.clone().prop_map(|(from, to)| FileStep::Copy(from, to)),
        1 => two.prop_map(|(from, to)| FileStep::Rename(from, to)),
        1 => path.clone().prop_map(FileStep::Replace),
        1 => path.clone().prop_map(FileStep::Delete),
        6 => prop::collection::vec(path, 1..5).prop_map(FileStep::Announce),
    ]
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn each_record_is_stored_once_after_any_changes_of_files(
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let runtime = Runtime::new().unwrap();
        runtime.block_on(TestFiles::new().play(steps))?;
    }
}

/// A machine with transcripts. `files` contains the texts of each existing file, by the number of
/// its path.
pub(super) struct TestFiles {
    pub(super) machine: Arc<Machine>,
    files: BTreeMap<usize, Vec<String>>,
    texts: usize,
}

impl TestFiles {
    pub(super) fn new() -> TestFiles {
        TestFiles { machine: Arc::new(Machine::new()), files: BTreeMap::new(), texts: 0 }
    }

    pub(super) fn path(&self, path: usize) -> PathBuf {
        self.machine.path(PATHS[path])
    }

    async fn play(mut self, steps: Vec<FileStep>) -> Result<(), TestCaseError> {
        let mut run = self.machine.start();
        for step in steps {
            match step {
                FileStep::Announce(paths) => {
                    let paths: Vec<PathBuf> =
                        paths.into_iter().map(|path| self.path(path)).collect();
                    run.announce(&paths).await;
                }
                FileStep::Settle => run.settle().await,
                FileStep::Restart => {
                    run.stop().await;
                    run = self.machine.start();
                }
                step => self.change(&step),
            }
        }
        let all: Vec<PathBuf> = (0..PATHS.len()).map(|path| self.path(path)).collect();
        run.announce(&all).await;
        run.settle().await;
        self.check(run.stop().await.as_ref())
    }

    /// Changes files. Impossible changes are skipped.
    pub(super) fn change(&mut self, step: &FileStep) {
        match *step {
            FileStep::Append(path) => self.append(path),
            FileStep::Copy(from, to) if self.may_transfer(from, to) => {
                fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
                fs::copy(self.path(from), self.path(to)).unwrap();
                self.files.insert(to, self.files[&from].clone());
            }
            FileStep::Rename(from, to) if self.may_transfer(from, to) => {
                fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
                fs::rename(self.path(from), self.path(to)).unwrap();
                let content = self.files.remove(&from).unwrap();
                self.files.insert(to, content);
            }
            FileStep::Replace(path) if self.files.contains_key(&path) => {
                fs::remove_file(self.path(path)).unwrap();
                self.files.remove(&path);
                self.append(path);
            }
            FileStep::Delete(path) if self.files.remove(&path).is_some() => {
                fs::remove_file(self.path(path)).unwrap();
            }
            _ => {}
        }
    }

    /// Whether the file at `from` may be copied or moved to `to`: it exists, there is no file at
    /// `to`, and both paths are for the same sub-agent, or for own files of sessions.
    fn may_transfer(&self, from: usize, to: usize) -> bool {
        let sub_agent = |path: usize| PATHS[path].split_once("/agent-").map(|(_, name)| name);
        self.files.contains_key(&from)
            && !self.files.contains_key(&to)
            && sub_agent(from) == sub_agent(to)
    }

    fn append(&mut self, path: usize) {
        self.texts += 1;
        let text = format!("word{}", self.texts);
        self.machine.append(PATHS[path], &text);
        self.files.entry(path).or_default().push(text);
    }

    /// Checks the stored messages.
    pub(super) fn check(&self, store: &dyn Store) -> Result<(), TestCaseError> {
        let sources = sources(store);
        let paths: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
        prop_assert_eq!(paths.len(), sources.len(), "a path is registered twice");
        let mut stored: BTreeMap<String, usize> = BTreeMap::new();
        let found = sources.iter().flat_map(|source| messages(store, source));
        found.for_each(|message| *stored.entry(message.text).or_default() += 1);
        for text in self.files.values().flatten() {
            prop_assert_eq!(stored.get(text), Some(&1), "{}", text);
        }
        for (text, count) in stored {
            prop_assert_eq!(count, 1, "{}", text);
        }
        Ok(())
    }
}
