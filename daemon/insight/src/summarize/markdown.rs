//! Renders a summary as Markdown. [`to_page`] has a separate layout. [`to_markdown`] prints the
//! same lines as the code in the specification of session summaries
//! (intelligent-session-summarization, not part of this repository), with these exceptions:
//!
//! - The heading of an error ends in `...` only when the error was cut.
//! - Fields that this code omits are printed: discoveries in the position of the specification's
//!   second example, and the root cause after the errors.
//! - The cells of the settings table are in back quotes, as in the first example, so that a value
//!   is not rendered as Markdown and a `|` in it does not end the cell.
//! - A session with several phases lists them on a separate line.
//! - An empty (not absent) list of files is reported in the words of the second example.
//!
//! The examples also have a blank line below each heading, settings before decisions, and
//! rationales on separate lines. This module follows the code, not these examples.

use std::collections::BTreeMap;

use crate::model::{
    evidence::{counted_noun, family},
    summary::{ConfigChange, DecisionRecord, EnhancedSessionSummary, ErrorResolution, TestSummary},
    wording::{NOT_COMMITTED, REMOVED, USERS_WORDS, is_filler},
};
use crate::{
    summarize::{
        commit_lines::{with_joined_commits, without_last_commit},
        file_lines::files_not_named,
        from_evidence::unrepeated_settings,
    },
    text::pattern,
};

/// Precedes the outcome.
pub const OUTCOME: &str = "**Outcome**: ";
/// The heading of the open steps.
pub const NEXT_STEPS: &str = "## Next Steps";

/// Maximum length, in characters, of an error message in its heading.
const ERROR_HEADING: usize = 60;

/// Renders `summary` for people.
pub fn to_markdown(summary: &EnhancedSessionSummary) -> String {
    let mut page = Page { lines: Vec::new() };
    page.section("# Session Summary", []);
    page.line(&format!("**Activity Profile**: {}", summary.activity_vector.activity_profile()));
    if let Some(phases) = &summary.phases {
        let labels: Vec<&str> = phases.iter().map(|phase| phase.label.as_str()).collect();
        page.line(&format!("**Phases**: {}", labels.join(" → ")));
    }
    page.section(&format!("{OUTCOME}{}", summary.outcome.as_str()), []);
    page.section("## Objective", [one_line(&summary.objective)]);
    page.list("## Completed", summary.completed_tasks.as_deref());
    page.list("## Discoveries", summary.discoveries.as_deref());
    page.section_of("## Key Decisions", summary.key_decisions.as_deref(), decision);
    page.section_of("## Errors Resolved", summary.errors_resolved.as_deref(), error);
    if let Some(cause) = &summary.root_cause_analysis {
        page.section("## Root Cause", [one_line(cause)]);
    }
    page.settings(summary.config_changes.as_deref());
    if let Some(tests) = &summary.test_results {
        page.section("## Test Results", test_lines(tests));
    }
    page.files(summary.files_modified.as_deref());
    page.list(NEXT_STEPS, summary.next_steps.as_deref());
    page.lines.join("\n")
}

/// Renders `summary` for an agent or person who continues the work: the most useful parts first.
///
/// The order is: outcome, open steps, objective, wishes of the user, decisions, completed work,
/// findings, errors, known failures, tests, settings, files. The objective is left out if the
/// session's `name` begins with it, because the name is shown with the page.
pub fn to_page(summary: &EnhancedSessionSummary, name: &str) -> String {
    let mut page = Page { lines: Vec::new() };
    let ended = [summary.last_words.as_deref(), summary.repository.as_deref()];
    let ended: Vec<String> = ended.into_iter().flatten().map(one_line).collect();
    let reason = summary.outcome_reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| format!(" ({})", one_line(reason)));
    let outcome = summary.outcome.as_str().replace('_', " ");
    page.section(&format!("{OUTCOME}{outcome}{reason}"), ended);
    page.list("## Open", summary.next_steps.as_deref());
    let objective = one_line(&summary.objective);
    if !name.starts_with(objective.trim_end_matches(['.', '?', '!', ' '])) {
        page.section("## Objective", [objective]);
    }
    page.list("## Wishes of the user", summary.preferences.as_deref());
    page.section_of("## Decisions", summary.key_decisions.as_deref(), |record| {
        vec![decision_line(record)]
    });
    let done = summary.completed_tasks.as_deref().map(|done| without_last_commit(done, summary));
    let done = done.map(with_joined_commits);
    page.list("## Done", done.as_deref());
    page.list("## Findings", summary.discoveries.as_deref());
    page.section_of("## Errors", summary.errors_resolved.as_deref(), |record| {
        vec![error_line(record)]
    });
    page.list("## Known failures", summary.known_failures.as_deref());
    if let Some(tests) =
        summary.test_results.as_ref().filter(|tests| !is_repeated_in_last_words(tests, summary))
    {
        page.section("## Tests", [tests_line(tests)]);
    }
    page.list("## Settings", Some(&setting_lines(&unrepeated_settings(summary))));
    // Git shows the files of commits.
    let files = summary.files_modified.as_deref().filter(|_| !is_committed(summary));
    let files = files.map(|files| files_not_named(files, &page.lines));
    page.list("## Files", files.as_deref());
    page.lines.join("\n")
}

/// Whether the session made a commit, and no change and no failed commit follows it.
fn is_committed(summary: &EnhancedSessionSummary) -> bool {
    let mut done = summary.completed_tasks.iter().flatten();
    let repository = summary.repository.as_deref().unwrap_or_default();
    done.any(|one| one.contains("(commit `"))
        && !repository.contains(NOT_COMMITTED)
        && !repository.contains("commit failed")
}

/// Whether the last words state the number of passed tests, and `tests` contains no other
/// information.
fn is_repeated_in_last_words(tests: &TestSummary, summary: &EnhancedSessionSummary) -> bool {
    let ended = summary.last_words.as_deref().unwrap_or_default();
    let counted =
        pattern!(r"(?i)(?:^|[^\d.,#/])(\d+)(?:/\d+)? (?:\w+ ){0,2}(?:tests?|pass(?:ed|ing)?)\b");
    let count = tests.passed.to_string();
    tests.failed == 0
        && tests.skipped == 0
        && tests.not_run == 0
        && tests.age.is_none()
        && tests.coverage_pct.is_none()
        && !is_part(tests)
        && counted.captures_iter(ended).any(|found| found[1] == count)
}

fn decision_line(record: &DecisionRecord) -> String {
    let has_reason = !is_filler(&record.rationale) && !record.rationale.starts_with(USERS_WORDS);
    let shown = format!("{} {}", record.decision, record.rationale).to_lowercase();
    let others = record.alternatives.iter().flatten();
    let others: Vec<&str> =
        others.map(String::as_str).filter(|other| !shown.contains(&other.to_lowercase())).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" (not: {})", others.join("; ")),
    };
    let on =
        record.rationale.strip_prefix(USERS_WORDS).unwrap_or_default().trim_start_matches(", ");
    let reason = match (has_reason, on.is_empty()) {
        (true, _) => format!(": {}", record.rationale),
        (false, false) => format!(" ({on})"),
        (false, true) => String::new(),
    };
    one_line(&format!("- {}{reason}{others}", record.decision))
}

fn error_line(record: &ErrorResolution) -> String {
    let part = |name: &str, text: &str| {
        if is_filler(text) {
            String::new()
        } else {
            format!(" {name}: {}.", one_line(text).trim_end_matches('.'))
        }
    };
    format!(
        "- {}.{}{}{}",
        one_line(&record.error).trim_end_matches('.'),
        part("Cause", &record.root_cause),
        part("Fix", &record.fix),
        part("Verified by", &record.verification)
    )
}

/// Maximum number of listed changes of one file. A file with more changes is probably a document.
const SETTINGS_OF_A_FILE: usize = 5;
/// Is appended to the line of the first of several changes of the same key in one file.
const ALIKE: &str = " (and the same key in other objects)";

fn setting_lines(changes: &[&ConfigChange]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut of_file: BTreeMap<&str, usize> = BTreeMap::new();
    let mut of_key: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for change in changes {
        let count = of_file.entry(&change.file).or_default();
        *count += 1;
        let old = change.old_value.as_deref().filter(|old| !old.is_empty());
        // A value that was cut is a script or a long text, and a part of it is not useful.
        if [old.unwrap_or_default(), &change.new_value].iter().any(|text| text.contains(" … ")) {
            continue;
        }
        if *count > SETTINGS_OF_A_FILE {
            continue;
        }
        // A repeated key belongs to another object of a list.
        if let Some(line) = of_key.get(&(change.file.as_str(), change.setting.as_str())) {
            if !lines[*line].ends_with(ALIKE) {
                lines[*line].push_str(ALIKE);
            }
            continue;
        }
        of_key.insert((&change.file, &change.setting), lines.len());
        let old = old.map_or(String::new(), |old| format!("{} → ", cell(old)));
        let new =
            if change.new_value == REMOVED { REMOVED.to_owned() } else { cell(&change.new_value) };
        lines.push(format!("{}: {} {old}{new}", change.file, cell(&change.setting)));
    }
    lines
}

struct Page {
    lines: Vec<String>,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Adds a heading, its lines, and a blank line.
    fn section(&mut self, heading: &str, lines: impl IntoIterator<Item = String>) {
        self.line(heading);
        self.lines.extend(lines);
        self.lines.push(String::new());
    }

    /// Adds a section with the lines of each item; adds nothing when there are no items.
    fn section_of<T>(
        &mut self,
        heading: &str,
        items: Option<&[T]>,
        lines: impl Fn(&T) -> Vec<String>,
    ) {
        if let Some(items) = items.filter(|items| !items.is_empty()) {
            self.section(heading, items.iter().flat_map(lines));
        }
    }

    fn list(&mut self, heading: &str, items: Option<&[String]>) {
        self.section_of(heading, items, |item| vec![format!("- {}", one_line(item))]);
    }

    fn settings(&mut self, changes: Option<&[ConfigChange]>) {
        let Some(changes) = changes.filter(|changes| !changes.is_empty()) else { return };
        let head = [
            "| File | Setting | Change | Reason |".to_owned(),
            "|------|---------|--------|--------|".to_owned(),
        ];
        self.section("## Configuration Changes", head.into_iter().chain(changes.iter().map(row)));
    }

    fn files(&mut self, files: Option<&[String]>) {
        match files {
            Some([]) => {
                self.section("## Files Modified", ["- (none - exploration only)".to_owned()]);
            }
            files => {
                self.section_of("## Files Modified", files, |file| vec![format!("- `{file}`")]);
            }
        }
    }
}

fn decision(record: &DecisionRecord) -> Vec<String> {
    let mut lines =
        vec![format!("- **{}**: {}", one_line(&record.decision), one_line(&record.rationale))];
    if let Some(alternatives) = record.alternatives.as_ref().filter(|others| !others.is_empty()) {
        let listed = one_line(&alternatives.join(", "));
        lines.push(format!("  - Alternatives considered: {listed}"));
    }
    lines
}

fn error(record: &ErrorResolution) -> Vec<String> {
    let error = one_line(&record.error);
    let heading = match error.char_indices().nth(ERROR_HEADING) {
        Some((end, _)) => format!("### {}...", error[..end].trim_end()),
        None => format!("### {error}"),
    };
    vec![
        heading,
        format!("- **Root cause**: {}", one_line(&record.root_cause)),
        format!("- **Fix**: {}", one_line(&record.fix)),
        format!("- **Verification**: {}", one_line(&record.verification)),
    ]
}

fn row(change: &ConfigChange) -> String {
    let old = change.old_value.as_deref().filter(|old| !old.is_empty()).map(cell);
    format!(
        "| {} | {} | {} → {} | {} |",
        cell(&change.file),
        cell(&change.setting),
        old.as_deref().unwrap_or("(none)"),
        if change.new_value == REMOVED { REMOVED.to_owned() } else { cell(&change.new_value) },
        one_line(&change.reason).replace('|', "\\|"),
    )
}

/// Formats a value as code. If it contains back quotes, two back quotes are put on each side.
fn cell(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    if text.is_empty() {
        return "`\"\"`".to_owned();
    }
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn tests_line(tests: &TestSummary) -> String {
    let coverage =
        tests.coverage_pct.map_or(String::new(), |part| format!(", coverage {part:.1} %"));
    let failed = tests.failed_tests.as_ref().filter(|names| tests.failed > 0 && !names.is_empty());
    let failed = failed.map_or(String::new(), |names| format!("; failed: {}", names.join(", ")));
    let age = tests.age.as_ref().map_or(String::new(), |age| format!(", {age}"));
    let part = if is_part(tests) { "; the whole suite was not seen to pass" } else { "" };
    format!("- {}: {}{coverage}{age}{part}{failed}", suite(tests), passed(tests))
}

/// Formats framework, limit and place of a run, such as ``pytest `-m browser` in `app` ``.
fn suite(tests: &TestSummary) -> String {
    let limit = tests.limited_to.as_ref().map_or(String::new(), |limit| format!(" `{limit}`"));
    let place = tests.place.as_ref().map_or(String::new(), |place| format!(" in `{place}`"));
    format!("{}{limit}{place}", family(&tests.framework))
}

fn is_part(tests: &TestSummary) -> bool {
    tests.limited_to.is_some() || tests.not_run > 0
}

/// Formats the number of tests that passed, or only `passed` if the number is unknown.
fn passed(tests: &TestSummary) -> String {
    let noun = match counted_noun(&tests.framework) {
        "tests" => String::new(),
        noun => format!(" {noun}"),
    };
    if tests.total == 0 {
        return "passed".to_owned();
    }
    // With skipped tests, `27/28 passed` would look as if a test had failed.
    let ran = tests.total.saturating_sub(tests.skipped);
    let of_them =
        if tests.skipped > 0 && ran == tests.passed { String::new() } else { format!("/{ran}") };
    format!("{}{of_them}{noun} passed{}", tests.passed, without_result(tests))
}

/// Formats the numbers of tests that were skipped and that did not run: `, 1 skipped, 48 not run`;
/// empty if there are none.
pub(super) fn without_result(tests: &TestSummary) -> String {
    let numbers = [("skipped", tests.skipped), ("not run", tests.not_run)];
    let numbers = numbers.into_iter().filter(|(_, number)| *number > 0);
    numbers.map(|(what, number)| format!(", {number} {what}")).collect()
}

fn test_lines(tests: &TestSummary) -> Vec<String> {
    let mut lines = vec![
        format!("- **Framework**: {}", suite(tests)),
        format!("- **Results**: {}", passed(tests)),
    ];
    if let Some(failed) =
        tests.failed_tests.as_ref().filter(|names| tests.failed > 0 && !names.is_empty())
    {
        lines.push(format!("- **Failed**: {}", failed.join(", ")));
    }
    if is_part(tests) {
        lines.push("- **Part**: the whole suite was not seen to pass".to_owned());
    }
    if let Some(age) = &tests.age {
        lines.push(format!("- **Ran**: {age}"));
    }
    if let Some(coverage) = tests.coverage_pct {
        lines.push(format!("- **Coverage**: {coverage:.1}%"));
    }
    lines
}

/// Joins the lines, because a line break would end an item or a cell.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{activity::ActivityVector, summary::Outcome};
    use crate::text::contains_name;

    #[test]
    fn the_first_worked_example() {
        let markdown = to_markdown(&config_bug());
        assert_eq!(markdown, FIRST_EXAMPLE);
    }

    #[test]
    fn the_second_worked_example() {
        let markdown = to_markdown(&exploration());
        assert_eq!(markdown, SECOND_EXAMPLE);
    }

    #[test]
    fn a_part_of_a_suite_is_shown_with_its_limit() {
        let mut tests = TestSummary {
            framework: "pytest".to_owned(),
            total: 20,
            passed: 20,
            limited_to: Some("-m browser".to_owned()),
            not_run: 208,
            ..TestSummary::default()
        };
        assert_eq!(
            tests_line(&tests),
            "- pytest `-m browser`: 20/20 passed, 208 not run; the whole suite was not seen to pass"
        );
        tests.age = Some("before the last change".to_owned());
        assert_eq!(
            test_lines(&tests)[2..],
            [
                "- **Part**: the whole suite was not seen to pass",
                "- **Ran**: before the last change"
            ]
        );
    }

    #[test]
    fn a_page_shows_each_commit_once() {
        let mut summary = config_bug();
        summary.repository = Some(
            "branch `a`; last commit `1a2b3c4` Set the unit; not committed: `.env`, `config.py`"
                .to_owned(),
        );
        summary.completed_tasks =
            Some(vec!["Set the unit (commit `1a2b3c4`)".to_owned(), "Read the unit".to_owned()]);
        let page = to_page(&summary, "T");
        assert!(page.contains("## Done\n- Read the unit\n"), "{page}");
        assert!(!page.contains("## Files"), "{page}");
        assert!(to_page(&summary, "T").contains("## Objective"));
        assert!(!to_page(&summary, &summary.objective).contains("## Objective"));
    }

    #[test]
    fn a_page_lists_only_files_that_no_commit_contains() {
        let listed = |done: &str, repository: &str| {
            let mut summary = config_bug();
            summary.completed_tasks = Some(vec![done.to_owned()]);
            summary.repository = Some(repository.to_owned());
            summary.files_modified = Some(vec!["src/other.rs".to_owned()]);
            to_page(&summary, "T").contains("## Files\n- `src/other.rs`")
        };
        let committed = "Set the unit (commit `1a2b3c4`)";
        assert!(!listed(committed, "branch `a`; last commit `1a2b3c4` Set the unit"));
        assert!(listed(committed, "branch `a`; not committed: `src/more.rs`"));
        assert!(listed(committed, "branch `a`; the last commit failed (lint)"));
        assert!(listed("Set the unit", "branch `a`"));
    }

    #[test]
    fn a_result_that_the_last_words_state_is_left_out() {
        let shown = |ended: &str, change: fn(&mut TestSummary)| {
            let mut summary = config_bug();
            let mut tests = TestSummary { total: 12, passed: 12, ..TestSummary::default() };
            change(&mut tests);
            summary.test_results = Some(tests);
            summary.last_words = Some(ended.to_owned());
            to_page(&summary, "T").contains("## Tests")
        };
        assert!(!shown("All 12 tests pass.", |_| ()));
        assert!(!shown("Checked: 12/12 passed.", |_| ()));
        for other in ["Changed 12 files.", "See #12 passed on.", "All 1,012 tests pass.", "Done."] {
            assert!(shown(other, |_| ()), "{other}");
        }
        assert!(shown("12 tests pass.", |tests| (tests.skipped, tests.total) = (1, 13)));
        assert!(shown("12 tests pass.", |tests| tests.age = Some("before the change".to_owned())));
        assert!(shown("12 tests pass.", |tests| (tests.failed, tests.total) = (1, 13)));
    }

    #[test]
    fn skipped_tests_are_not_counted_as_failures() {
        let line = |passed: u32, failed: u32, skipped: u32, not_run: u32| {
            let mut tests = TestSummary { passed, failed, skipped, not_run, ..Default::default() };
            tests.total = passed + failed + skipped;
            super::passed(&tests)
        };
        assert_eq!(line(27, 0, 1, 0), "27 passed, 1 skipped");
        assert_eq!(line(27, 0, 1, 48), "27 passed, 1 skipped, 48 not run");
        assert_eq!(line(25, 2, 1, 0), "25/27 passed, 1 skipped");
        assert_eq!(line(28, 0, 0, 0), "28/28 passed");
    }

    #[test]
    fn a_page_that_mentions_half_of_the_files_has_no_list_of_files() {
        let files =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let page = files(&["- Added tests in `reader_test.go` and to src/log.rs:12."]);
        let known = files(&["cli/reader_test.go", "src/log.rs"]);
        assert!(files_not_named(&known, &page).is_empty());
        // The page does not show which `reader_test.go` is meant. A longer name is another file.
        let twice = files(&["cli/reader_test.go", "src/log.rs", "src/reader_test.go"]);
        assert_eq!(
            files_not_named(&twice, &page),
            [twice.join("`, `")].map(|all| format!("`{all}`"))
        );
        assert!(!contains_name("see old-log.rs", "log.rs") && contains_name("(log.rs)", "log.rs"));
        let paths = files(&["a/reader_test.go", "b/new.rs", "src/log.rs"]);
        assert!(files_not_named(&paths, &page).is_empty());
    }

    #[test]
    fn a_decision_shows_its_alternative_once() {
        let record = |other: &str| DecisionRecord {
            decision: "Removing the entry rather than softening it".to_owned(),
            rationale: "It misleads".to_owned(),
            alternatives: Some(vec![other.to_owned()]),
        };
        let line = "- Removing the entry rather than softening it: It misleads";
        assert_eq!(decision_line(&record("Softening it")), line);
        assert_eq!(decision_line(&record("A note")), format!("{line} (not: A note)"));
    }

    #[test]
    fn changes_of_the_same_key_are_one_line() {
        let change = |new: &str| ConfigChange {
            file: "a.json".to_owned(),
            setting: "command".to_owned(),
            old_value: None,
            new_value: new.to_owned(),
            reason: String::new(),
        };
        assert_eq!(
            setting_lines(&[&change("x"), &change("y"), &change("z")]),
            ["a.json: `command` `x` (and the same key in other objects)"]
        );
    }

    #[test]
    fn a_long_error_is_cut_in_its_heading_and_only_there() {
        let mut summary = exploration();
        let resolution = ErrorResolution {
            error: "e".repeat(61),
            root_cause: "c".to_owned(),
            fix: "f".to_owned(),
            verification: "v".to_owned(),
        };
        summary.errors_resolved =
            Some(vec![resolution.clone(), ErrorResolution { error: "e".repeat(60), ..resolution }]);
        let markdown = to_markdown(&summary);
        assert!(markdown.contains(&format!("### {}...\n", "e".repeat(60))), "{markdown}");
        assert!(markdown.contains(&format!("### {}\n", "e".repeat(60))), "{markdown}");
    }

    #[test]
    fn values_cannot_break_the_table() {
        let mut summary = config_bug();
        summary.config_changes = Some(vec![ConfigChange {
            file: "a".to_owned(),
            setting: "run".to_owned(),
            old_value: None,
            new_value: "x | y\n`z`".to_owned(),
            reason: "a|b".to_owned(),
        }]);
        let markdown = to_markdown(&summary);
        assert!(
            markdown.contains("| `a` | `run` | (none) → `` x \\| y `z` `` | a\\|b |\n"),
            "{markdown}"
        );
    }

    const FIRST_EXAMPLE: &str = "\
# Session Summary

**Activity Profile**: fixing (0.8), configuring (0.7), testing (0.5), exploring (0.4)
**Outcome**: completed

## Objective
Resolve JWT authentication timeout causing 401 errors after config migration

## Key Decisions
- **Explicit time units**: Added `EXPIRY_UNIT` setting to prevent unit ambiguity
  - Alternatives considered: Document-only fix, use ISO 8601 duration format

## Errors Resolved
### 401 Unauthorized after ~1 minute
- **Root cause**: `JWT_EXPIRY=60` interpreted as 60 seconds (was meant to be minutes)
- **Fix**: Changed to `JWT_EXPIRY=3600` (explicit seconds)
- **Verification**: Tested token validity over 30 minutes

## Configuration Changes
| File | Setting | Change | Reason |
|------|---------|--------|--------|
| `.env` | `JWT_EXPIRY` | `60` → `3600` | Fix timeout - was ambiguous units |
| `config.py` | `EXPIRY_UNIT` | (none) → `seconds` | Prevent future ambiguity |

## Test Results
- **Framework**: pytest
- **Results**: 12/12 passed
- **Coverage**: 87.3%

## Files Modified
- `.env`
- `config.py`
- `tests/test_auth.py`

## Next Steps
- Add config schema validation to CI pipeline
- Document time format conventions in CONFIGURATION.md
";

    const SECOND_EXAMPLE: &str = "\
# Session Summary

**Activity Profile**: exploring (0.9), reviewing (0.7), documenting (0.3)
**Outcome**: completed

## Objective
Understand the authentication system architecture

## Discoveries
- JWT tokens are signed with RS256 (asymmetric)
- Token refresh handled by `/api/auth/refresh` endpoint
- Auth middleware in `src/middleware/auth.py` validates all protected routes
- Role-based access control uses decorator pattern

## Key Decisions
- **Architecture documentation: will create ARCHITECTURE.md for auth system**: No existing docs, team members asking same questions

## Files Modified
- (none - exploration only)

## Next Steps
- Create ARCHITECTURE.md with auth system documentation
- Diagram the token flow for team reference
";

    fn config_bug() -> EnhancedSessionSummary {
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let change =
            |file: &str, setting: &str, old: Option<&str>, new: &str, reason: &str| ConfigChange {
                file: file.to_owned(),
                setting: setting.to_owned(),
                old_value: old.map(str::to_owned),
                new_value: new.to_owned(),
                reason: reason.to_owned(),
            };
        EnhancedSessionSummary {
            activity_vector: ActivityVector {
                building: 0.1,
                fixing: 0.8,
                configuring: 0.7,
                exploring: 0.4,
                testing: 0.5,
                ..ActivityVector::default()
            },
            objective:
                "Resolve JWT authentication timeout causing 401 errors after config migration"
                    .to_owned(),
            outcome: Outcome::Completed,
            phases: None,
            completed_tasks: None,
            key_decisions: Some(vec![DecisionRecord {
                decision: "Explicit time units".to_owned(),
                rationale: "Added `EXPIRY_UNIT` setting to prevent unit ambiguity".to_owned(),
                alternatives: texts(&["Document-only fix", "use ISO 8601 duration format"]),
            }]),
            next_steps: texts(&[
                "Add config schema validation to CI pipeline",
                "Document time format conventions in CONFIGURATION.md",
            ]),
            errors_resolved: Some(vec![ErrorResolution {
                error: "401 Unauthorized after ~1 minute".to_owned(),
                root_cause: "`JWT_EXPIRY=60` interpreted as 60 seconds (was meant to be minutes)"
                    .to_owned(),
                fix: "Changed to `JWT_EXPIRY=3600` (explicit seconds)".to_owned(),
                verification: "Tested token validity over 30 minutes".to_owned(),
            }]),
            root_cause_analysis: None,
            config_changes: Some(vec![
                change(
                    ".env",
                    "JWT_EXPIRY",
                    Some("60"),
                    "3600",
                    "Fix timeout - was ambiguous units",
                ),
                change("config.py", "EXPIRY_UNIT", None, "seconds", "Prevent future ambiguity"),
            ]),
            topics: None,
            relations: None,
            outcome_reason: None,
            last_words: None,
            repository: None,
            preferences: None,
            known_failures: None,
            discoveries: None,
            test_results: Some(TestSummary {
                framework: "pytest".to_owned(),
                total: 12,
                passed: 12,
                failed: 0,
                skipped: 0,
                coverage_pct: Some(87.3),
                failed_tests: None,
                ..TestSummary::default()
            }),
            files_modified: texts(&[".env", "config.py", "tests/test_auth.py"]),
            mcp_tools_used: None,
            session_file: None,
            message_count: None,
            duration_minutes: None,
        }
    }

    fn exploration() -> EnhancedSessionSummary {
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        EnhancedSessionSummary {
            activity_vector: ActivityVector {
                fixing: 0.1,
                exploring: 0.9,
                reviewing: 0.7,
                documenting: 0.3,
                ..ActivityVector::default()
            },
            objective: "Understand the authentication system architecture".to_owned(),
            key_decisions: Some(vec![DecisionRecord {
                decision: "Architecture documentation: will create ARCHITECTURE.md for auth system"
                    .to_owned(),
                rationale: "No existing docs, team members asking same questions".to_owned(),
                alternatives: None,
            }]),
            discoveries: texts(&[
                "JWT tokens are signed with RS256 (asymmetric)",
                "Token refresh handled by `/api/auth/refresh` endpoint",
                "Auth middleware in `src/middleware/auth.py` validates all protected routes",
                "Role-based access control uses decorator pattern",
            ]),
            files_modified: Some(Vec::new()),
            next_steps: texts(&[
                "Create ARCHITECTURE.md with auth system documentation",
                "Diagram the token flow for team reference",
            ]),
            errors_resolved: None,
            config_changes: None,
            test_results: None,
            ..config_bug()
        }
    }
}
