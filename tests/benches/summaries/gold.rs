//! Gold lists: items that the summary of a session must contain, and items that it must not.
//!
//! An item is present if all expressions of one of its alternatives match the summary. Case is
//! ignored, and `.` matches any character.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
};

use fancy_regex::Regex;
use serde::Deserialize;

/// The list for one session, written by a reader of the whole transcript.
#[derive(Deserialize)]
pub(crate) struct Gold {
    pub(crate) session: String,
    must: Vec<GoldItem>,
    nice: Vec<GoldItem>,
    forbidden: Vec<GoldItem>,
}

#[derive(Deserialize)]
struct GoldItem {
    #[serde(default)]
    kind: String,
    what: String,
    any: Vec<Vec<String>>,
}

/// The number of items, and how many of them are present.
#[derive(Clone, Copy, Default)]
pub(crate) struct Coverage {
    present: usize,
    of: usize,
}

/// How well one or several summaries match their gold lists.
#[derive(Default)]
pub(crate) struct SummaryScore {
    by_kind: BTreeMap<String, Coverage>,
    pub(crate) nice: Coverage,
    /// The forbidden statements in the summary.
    pub(crate) forbidden: Vec<String>,
    /// Each item of `must` and `nice`, with `+` if it is present, and `-` if it is missing.
    pub(crate) items: Vec<String>,
    bytes: usize,
    sessions: usize,
}

/// Returns the gold lists in `files`; if there are no files, all lists in `tests/gold`.
pub(crate) fn load(files: &[PathBuf]) -> Vec<Gold> {
    let files = if files.is_empty() { in_folder("gold") } else { files.to_vec() };
    files.iter().flat_map(|file| load_one(file)).collect()
}

/// Returns the JSON files in `folder`, a folder of the `tests` package, sorted by path.
pub(crate) fn in_folder(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let files = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

fn load_one(file: &Path) -> Vec<Gold> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"))
}

impl Gold {
    /// Looks for each item in `text`.
    pub(crate) fn score(&self, text: &str) -> SummaryScore {
        let mut score = SummaryScore { sessions: 1, bytes: text.len(), ..SummaryScore::default() };
        for item in &self.must {
            let present = item.is_in(text);
            score.by_kind.entry(item.kind.clone()).or_default().count(present);
            score.items.push(item.line("must", present));
        }
        for item in &self.nice {
            let present = item.is_in(text);
            score.nice.count(present);
            score.items.push(item.line("nice", present));
        }
        let made = self.forbidden.iter().filter(|item| item.is_in(text));
        score.forbidden = made.map(|item| item.what.clone()).collect();
        score
    }
}

impl GoldItem {
    fn is_in(&self, text: &str) -> bool {
        let matches = |expression: &String| {
            let expression = Regex::new(&format!("(?is){expression}"))
                .unwrap_or_else(|error| panic!("{expression}: {error}"));
            expression.is_match(text).unwrap_or(false)
        };
        self.any.iter().any(|all| all.iter().all(matches))
    }

    fn line(&self, group: &str, present: bool) -> String {
        let mark = if present { '+' } else { '-' };
        format!("{mark} {group} {}: {}", self.kind, self.what)
    }
}

impl Coverage {
    fn count(&mut self, present: bool) {
        self.present += usize::from(present);
        self.of += 1;
    }

    fn add(&mut self, other: Coverage) {
        self.present += other.present;
        self.of += other.of;
    }
}

impl SummaryScore {
    /// Returns the coverage of all items that must be present.
    pub(crate) fn must(&self) -> Coverage {
        let mut all = Coverage::default();
        self.by_kind.values().for_each(|share| all.add(*share));
        all
    }

    /// Adds the score of another session.
    pub(crate) fn add(&mut self, other: &SummaryScore) {
        for (kind, share) in &other.by_kind {
            self.by_kind.entry(kind.clone()).or_default().add(*share);
        }
        self.nice.add(other.nice);
        self.forbidden.extend(other.forbidden.iter().cloned());
        self.bytes += other.bytes;
        self.sessions += other.sessions;
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.present as f64 * 100.0 / self.of.max(1) as f64;
        write!(f, "{}/{} ({percent:.0} %)", self.present, self.of)
    }
}

impl fmt::Display for SummaryScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, share) in &self.by_kind {
            writeln!(f, "  {kind:<11} {share}")?;
        }
        write!(
            f,
            "{} sessions, MUST {}, NICE {}, FORBIDDEN {}, {} bytes a session",
            self.sessions,
            self.must(),
            self.nice,
            self.forbidden.len(),
            self.bytes / self.sessions.max(1)
        )
    }
}
