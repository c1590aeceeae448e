//! Checks the share of real tool calls that rules classify without a model. `cargo test --workspace
//! --test corpus tools -- --nocapture` prints the share. `classify::tests` checks the rules against
//! labelled calls.
//!
//! The transcripts are not part of this repository. The test looks for them in `../shared/corpus`,
//! or in the folder in `GRAPHITI_CORPUS`. Without transcripts, it checks nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use graphiti_tests::corpus;
use graphitid::{
    activity::classify::{ClassificationCache, classify},
    capture::format::{FORMATS, Memory},
    model::transcript::{Action, Item},
};

/// Minimum share of calls that the rules must classify.
const MIN_SHARE: f64 = 0.98;

#[derive(Default)]
struct Count {
    all: usize,
    classified: usize,
    unknown: BTreeMap<String, usize>,
}

impl Count {
    fn share(&self) -> f64 {
        self.classified as f64 / self.all.max(1) as f64
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "the test reports its figures")]
fn nearly_all_real_calls_are_classified_by_rules() {
    let Some(corpus) = corpus::folder() else { return };
    let mut files = Vec::new();
    collect(&corpus, &mut files);
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for file in files {
        let Some(format) = FORMATS.iter().find(|format| format.claims(&file)) else { continue };
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        let (mut memory, mut learned) = (Memory::default(), ClassificationCache::default());
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let _ = format.read(line, &mut memory, &mut |entry| {
                let Item::Call(call) = &entry.item else { return };
                let kind =
                    if matches!(call.action, Action::Run { .. }) { "shell" } else { "tools" };
                let count = counts.entry(kind).or_default();
                count.all += 1;
                match classify(call, &mut learned).unknown() {
                    None => count.classified += 1,
                    Some(name) => *count.unknown.entry(name.to_owned()).or_default() += 1,
                }
            });
        }
    }
    for (kind, count) in &counts {
        let (all, classified, share) = (count.all, count.classified, 100.0 * count.share());
        eprintln!("{kind}: {all} calls, {classified} classified without a model ({share:.2} %)");
        let mut unknown: Vec<(&String, &usize)> = count.unknown.iter().collect();
        unknown.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
        for (name, times) in unknown.into_iter().take(20) {
            eprintln!("  {times:4} {name}");
        }
    }
    for (kind, count) in &counts {
        assert!(count.all > 100 && count.share() >= MIN_SHARE, "{kind}: {}", count.share());
    }
    assert_eq!(counts.len(), 2);
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
