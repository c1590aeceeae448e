//! Determines what closes an open end.

use super::{draft::Draft, names, progress, test_runs};
use crate::{
    graph::text,
    model::graph::{Stance, Watch, fingerprint},
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
/// work, the success of a command or of a test that the open end mentions, a successful test run if
/// the open end asks for a test run, the creation of a file that the open end mentions, or the move
/// or removal of its note.
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
    for quoted in names::quoted(text).filter(|quoted| quoted.contains(' ')) {
        watches.push(broken(draft.subject("command", &text::command_key(quoted))));
    }
    let asks_for_tests = pattern!(
        r"(?i)\b(?:run|rerun|re-run|execute|repeat) (?:\w+ ){0,3}(?:tests?|suite)\b|\b(?:tests?|suite) (?:were|was|have|has|are|is) not (?:been )?(?:yet )?run\b|\bfix (?:\w+ ){0,4}(?:failing|failed|broken) tests?\b"
    );
    if asks_for_tests.is_match(text) {
        watches.push(broken(draft.subject("tested", "")));
    }
    // The open end may ask for a file that does not exist yet, such as a report.
    let missing = names::quoted(text).filter(|quoted| is_missing_file(draft, quoted));
    watches.extend(missing.map(|path| broken(progress::created_file(draft, path))));
    // A task is settled when its note is moved or removed.
    watches.extend(note_path(text).map(|path| broken(progress::note(draft, path))));
    watches.extend(failing_tests(draft, text));
    watches
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
