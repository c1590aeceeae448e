//! Determines what closes an open end.

use super::{draft::Draft, errors, names, progress, test_runs};
use crate::{
    graph::text,
    model::graph::{Stance, Subject, Watch, fingerprint},
    pattern::pattern,
};

/// The value that marks a task as open.
const OPEN: &str = "open";

/// Returns the path of the file in which a step is noted.
pub(super) fn note_path(step: &str) -> Option<&str> {
    let path = pattern!(r"(?:\(todo `|^Todo saved: `)([^`]+)`").captures(step)?.get(1)?;
    Some(path.as_str())
}

/// Returns what closes an open end: a completed task with the same text, a sentence about the same
/// work, the success of a command that the open end asks to run or to repair, the success of a test
/// that the open end mentions, a successful test run if the open end asks for a test run, the
/// creation of a file that the open end mentions, or the move or removal of its note.
pub(super) fn watches(draft: &Draft<'_>, text: &str) -> Vec<Watch> {
    let broken = |subject| Watch { subject, stance: Stance::Broken };
    let mut watches = vec![
        Watch {
            subject: draft.subject("to do", &text::plain(text)),
            stance: Stance::Value(fingerprint(OPEN)),
        },
        Watch {
            subject: progress::open_end(draft),
            stance: Stance::Words(text::object_words(text)),
        },
    ];
    let commands = names::quoted(text).filter(|quoted| needs_command(text, quoted));
    watches.extend(commands.map(|quoted| broken(errors::command(draft, quoted))));
    watches.extend(needed_tests(draft, text).map(broken));
    // The open end may ask for a file that does not exist yet, such as a report.
    let missing = names::quoted(text).filter(|quoted| is_missing_file(draft, quoted));
    watches.extend(missing.map(|path| broken(progress::created_file(draft, path))));
    // A task is settled when its note is moved or removed.
    watches.extend(note_path(text).map(|path| broken(progress::note(draft, path))));
    watches.extend(failing_tests(draft, text));
    watches
}

/// Whether an open end asks to run or to repair `command`, or says that the command does not work.
/// An open end may also mention the command that its work is about, or that shows its state.
fn needs_command(text: &str, command: &str) -> bool {
    let asked = pattern!(
        r"(?i)\b(?:(?:re-?)?run|execute)\b[^.,;:`(]{0,40}`$|\b(?:fix|repair) (?:(?:the|failing|broken) ){0,2}`$"
    );
    let state = pattern!(
        r"(?i)^` (?:(?:still|now|again|also|only) )?(?:fail(?:s|ed)?|works?|pass(?:es)?|succeeds?|crash(?:es|ed)?|hangs|is (?:failing|broken|red)|(?:does|did)(?: not|n.t) (?:work|pass|run)|(?:was|were|is|has)(?: not|n.t) (?:been )?(?:yet )?run\b|(?:must|has to|needs to) (?:be run|run|pass|work)\b)"
    );
    let quoted = format!("`{command}`");
    command.contains(' ')
        && text.match_indices(&quoted).any(|(at, _)| {
            let end = at + quoted.len();
            asked.is_match(&text[..=at]) || state.is_match(&text[end - 1..])
        })
}

/// Returns the subject of the test runs that an open end asks for, if any. A run shows neither on
/// which machine, nor with which data, nor for which part of the project its tests ran.
fn needed_tests(draft: &Draft<'_>, text: &str) -> Option<Subject> {
    let asks = pattern!(
        r"(?i)\b(?:run|rerun|re-run|execute|repeat) (?:\w+ ){0,3}(?:tests?|suite)\b|\b(?:tests?|suite) (?:were|was|have|has|are|is) not (?:been )?(?:yet )?run\b|\bfix (?:\w+ ){0,4}(?:failing|failed|broken) tests?\b"
    );
    let found = asks.find(text)?;
    let limit = pattern!(r"(?i)^ (?:suite )?(?:on|in|with|against|for|under|of|from) (\S+ ?\S*)");
    let here = pattern!(r"(?i)^(?:this|the) (?:session|environment|sandbox)\b");
    let limits = limit.captures(&text[found.end()..]);
    if limits.is_some_and(|limits| !here.is_match(&limits[1])) {
        return None;
    }
    let words = text::words(text);
    let kind = test_runs::TEST_KINDS.iter().find(|kind| words.contains(**kind));
    let is_manual = pattern!(r"(?i)\b(?:manual|manually|by hand)\b").is_match(text);
    (!is_manual).then(|| match kind {
        Some(kind) => test_runs::tests_of_kind(draft, kind),
        None => test_runs::all_tests(draft),
    })
}

/// Whether a text is the path of a file in a folder that the session neither read nor changed.
fn is_missing_file(draft: &Draft<'_>, path: &str) -> bool {
    let is_path = pattern!(r"^[\w.-]+/[\w./-]*\w\.\w{1,5}$").is_match(path);
    is_path && !draft.evidence.files.keys().any(|known| known.ends_with(path))
}

/// Returns what ends a statement about failing tests of the session: runs in which the tests pass.
pub(super) fn failing_tests(draft: &Draft<'_>, text: &str) -> Vec<Watch> {
    let mut watches = Vec::new();
    for run in &draft.evidence.tests {
        for test in run.failed_tests.iter().filter(|test| text.contains(test.as_str())) {
            watches.extend(test_runs::watches(draft, test, run));
        }
    }
    watches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_needed_if_the_open_end_asks_to_run_or_to_repair_it() {
        for (text, wanted) in [
            ("Run `npm run seed` on staging", true),
            ("Re-run the import with `make import FILE=a.csv`", true),
            ("Fix the failing `npm run build`", true),
            ("Fix the types so that `npm run build` works", true),
            ("`npm run build` still fails with two errors", true),
            ("`cargo deny check` was not run", true),
            ("Stashed on `feat/x` and not restored (`git stash list`)", false),
            ("Speed up `npm run build` (4 minutes)", false),
            ("Document `graphiti list` in the README", false),
            ("Add a retry to `docker compose up`", false),
            ("The migration was not run (`make migrations`)", false),
            ("Run the import, which `make import` documents", false),
            ("Fix the help text of `graphiti list`", false),
            ("Run `make`", false),
        ] {
            let mut quoted = names::quoted(text);
            assert_eq!(quoted.any(|quoted| needs_command(text, quoted)), wanted, "{text}");
        }
    }
}
