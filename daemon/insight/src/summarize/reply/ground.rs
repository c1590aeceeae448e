//! Checks whether the session touched or mentioned the files in a claim, and whether the test runs
//! match the claim.

use crate::{
    model::{
        Evidence,
        evidence::{TestRun, latest_of_suites},
    },
    summarize::pack::Packed,
    text::pattern,
};

/// The material against which claims are checked.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'g> {
    pub evidence: &'g Evidence,
    /// The messages that the model received.
    pub packed: &'g Packed,
    /// The facts that preceded the messages in each prompt.
    pub notes: &'g str,
}

/// The frameworks that a claim about tests may name, as a part of a pattern with the flag `x`.
const FRAMEWORKS: &str = r"pytest | unittest | tox | jest | vitest | mocha | playwright | cypress
    | rspec | phpunit | junit | ctest | nextest | cargo\ test | go\ test";

/// How the files in a claim must be related to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileRelation {
    /// A tool touched the files, or a command, prompt or commit subject mentions the files.
    Touched,
    /// The session touched the files, or a message or note that the model received mentions the
    /// files.
    Known,
}

impl Grounds<'_> {
    /// Returns whether every file in `text` has the relation `files` to the session.
    pub(super) fn has(&self, files: FileRelation, text: &str) -> bool {
        match files {
            FileRelation::Touched => self.touched(text),
            FileRelation::Known => self.knows(text),
        }
    }

    /// Returns whether every file in `text` is [`FileRelation::Touched`]. If the evidence omits
    /// files or commands because of its limits, [`FileRelation::Known`] is enough.
    fn touched(&self, text: &str) -> bool {
        let evidence = self.evidence;
        let left_out = evidence.files_left_out + evidence.commands_left_out > 0;
        files_in(text)
            .into_iter()
            .all(|file| self.is_touched(file) || left_out && self.is_shown(file))
    }

    /// Returns whether every file in `text` is [`FileRelation::Known`].
    fn knows(&self, text: &str) -> bool {
        files_in(text).into_iter().all(|file| self.is_touched(file) || self.is_shown(file))
    }

    /// Returns whether the statements of `text` about tests, if any, match the test runs.
    pub(super) fn tests_hold(&self, text: &str) -> bool {
        let runs = &self.evidence.tests;
        let counted = pattern!(
            r"(?i)\b(\d{1,6})(?:/\d{1,6}| of \d{1,6})?(?: [a-z-]+){0,2} (?:passed|passing|pass|(failed|failing|fail)|green|succeeded|succeed)\b"
        );
        let counts_hold = counted.captures_iter(text).all(|claim| {
            let failed = claim.get(2).is_some();
            claim[1].parse().is_ok_and(|count| runs.iter().any(|run| has_count(run, count, failed)))
        });
        counts_hold && self.passes_hold(text)
    }

    /// Returns whether a run passed for each statement of `text` that tests pass. A statement with
    /// the name of a framework needs a run of this framework, unless no run has a known framework.
    fn passes_hold(&self, text: &str) -> bool {
        let all = pattern!(&format!(
            r"(?ix)
            \b(?: tests? | suite | specs? | (?P<framework> {FRAMEWORKS} ) )\b
            [`'\x22]*[:,]? (?P<between> (?:\ [a-z]+){{0,2}} ) \ (?: pass | passes | passed | passing | green
                | succeeds? | succeeded )\b
            | \b all\ (?: of\ them\ )? (?: pass | passed | passing | green )\b"
        ));
        let aim = pattern!(r"(?i)\b(?:make|get|ensure|until|once|if|whether)\b[^.;:]*$");
        let denial = pattern!(r"(?i)\b(?:not|no|never|cannot|to|must|should|will|would|until)\b");
        let runs = &self.evidence.tests;
        let has_known_framework = runs.iter().any(has_known_framework);
        all.captures_iter(text).all(|claim| {
            let start = claim.get(0).map_or(0, |whole| whole.start());
            let between = claim.name("between").map_or("", |found| found.as_str());
            let framework = claim.name("framework").map(|found| found.as_str().to_lowercase());
            let framework = framework.filter(|_| has_known_framework);
            let has_passed = |run: &TestRun| {
                run.passed > 0
                    && run.failed == 0
                    && framework.as_ref().is_none_or(|name| is_run_of(run, name))
            };
            aim.is_match(&text[..start]) || denial.is_match(between) || runs.iter().any(has_passed)
        })
    }

    /// Returns whether a test that `error` names still failed in the last runs, and no file was
    /// changed after that.
    pub(super) fn still_fails(&self, error: &str) -> bool {
        let runs: Vec<&TestRun> = self.evidence.tests.iter().collect();
        latest_of_suites(&runs).into_iter().filter(|run| run.failed > 0).any(|run| {
            let is_changed = || {
                let mut changes = self.evidence.changed_files();
                changes.any(|(_, work)| {
                    let at = work.changed_at.is_some() && work.changed_at > run.at;
                    work.last.source == run.origin.source && work.last > run.origin || at
                })
            };
            let mut names = run.failed_tests.iter().map(|test| last_part(test));
            names.any(|name| is_specific(name) && contains_whole_name(error, name)) && !is_changed()
        })
    }

    fn is_touched(&self, file: &str) -> bool {
        let evidence = self.evidence;
        let moved = evidence.files.values().filter_map(|work| work.moved_from.as_ref());
        let settings = evidence.settings.iter().map(|setting| &setting.file);
        let named = name_of(file);
        evidence.files.keys().chain(moved).chain(settings).any(|known| is_same_file(known, file))
            || evidence.commands.iter().any(|run| contains_whole_name(&run.command, named))
            || evidence.prompts.iter().any(|prompt| contains_whole_name(&prompt.text, named))
            || evidence.commits.iter().any(|commit| contains_whole_name(&commit.subject, named))
    }

    fn is_shown(&self, file: &str) -> bool {
        let mut texts = self.packed.parts.iter().map(String::as_str).chain([self.notes]);
        texts.any(|text| contains_whole_name(text, name_of(file)))
    }
}

/// Whether a claim about tests could name the framework of a run.
fn has_known_framework(run: &TestRun) -> bool {
    let known = pattern!(&format!(r"(?ix)\b(?: {FRAMEWORKS} | maven | gradle )\b"));
    known.is_match(&run.framework)
}

/// Whether a run used the framework that a claim calls `name`, in lower case.
fn is_run_of(run: &TestRun, name: &str) -> bool {
    let synonyms: &[&str] = match name {
        "junit" => &["maven", "gradle"],
        "cargo test" => &["nextest"],
        _ => &[],
    };
    let framework = run.framework.to_lowercase();
    synonyms.iter().chain([&name]).any(|name| framework.contains(name))
        || run.command.contains(name)
}

/// Returns whether two paths may be the same file: one is a suffix of the other.
pub(super) fn is_same_file(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim().trim_start_matches("./").replace('\\', "/").to_lowercase();
    let (one, other) = (plain(one), plain(other));
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    !one.is_empty() && !other.is_empty() && (ends(&one, &other) || ends(&other, &one))
}

/// Returns the file names in a text, by common extensions, without products such as `Node.js`.
fn files_in(text: &str) -> Vec<&str> {
    let file = pattern!(
        r"(?x)
        (?: [A-Za-z]:[\\/] | [~.]{0,2}/ )? (?: [\w@.+-]+ [\\/] )* [\w@+-]* (?: \.[\w-]+ )*
        \. (?: rs | py | pyi | ts | tsx | js | jsx | mjs | cjs | json | jsonl | toml | ya?ml | md | mdx | rst
            | go | java | kt | kts | scala | c | cc | cpp | h | hpp | cs | fs | rb | php | sh | bash | zsh | ps1
            | sql | html | css | scss | less | vue | svelte | ipynb | lock | env | txt | cfg | conf | ini | xml
            | csv | proto | tf | gradle | swift | dart | lua | ex | exs | erl | hs | ml | pl | r | zig | nix
            | service | dockerfile | log )
        \b"
    );
    let product = pattern!(r"^[A-Z][A-Za-z]*\.(?:js|py|ts)$");
    let files = file.find_iter(text).map(|found| found.as_str());
    files.filter(|file| !product.is_match(file)).collect()
}

fn name_of(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

/// Returns the name of a test without its file, package, class and parameters.
fn last_part(test: &str) -> &str {
    let name = test.split('[').next().unwrap_or(test).trim_end();
    ["::", " › ", " > "]
        .into_iter()
        .fold(name, |name, mark| name.rsplit_once(mark).map_or(name, |(_, last)| last))
}

/// Whether the name of a test is not a single plain word, which may occur in any sentence.
fn is_specific(name: &str) -> bool {
    name.contains(|c: char| !c.is_lowercase())
}

/// Returns whether `name` occurs in `text` as a whole name.
pub(super) fn contains_whole_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

/// Returns whether `count` tests of a run failed (`failed` is true) or passed (`failed` is false).
/// Skipped tests may count as passed if no test failed.
fn has_count(run: &TestRun, count: u32, failed: bool) -> bool {
    match failed {
        true => run.failed == count,
        false => {
            run.passed == count
                || run.failed == 0 && run.passed.saturating_add(run.skipped) == count
        }
    }
}
