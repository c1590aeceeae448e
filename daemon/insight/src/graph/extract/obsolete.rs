//! Decides whether the rest of a session made a statement obsolete: the statement was retracted, or
//! later work may have ended it.

use super::draft::Draft;
use crate::{
    graph::text,
    model::{evidence::GitStep, transcript::Origin},
    pattern::pattern,
    report::{Topic, is_phrase, retraction},
};

/// Minimum length, in bytes, of the name of a file.
const MIN_NAME_BYTES: usize = 4;

/// Whether the agent later retracted a statement in `line`, or the next prompt contradicted the
/// statement.
pub(super) fn is_retracted(draft: &Draft<'_>, line: Origin, statement: &str) -> bool {
    let share = |other: &str| text::share(&text::words(statement), &text::words(other));
    retraction::is_retracted(draft.evidence, line, &share)
}

/// Whether the session changed, committed, merged or discarded something after a line.
pub(super) fn is_followed_by_work(draft: &Draft<'_>, line: Origin) -> bool {
    let evidence = draft.evidence;
    let is_work = |step: GitStep| matches!(step, GitStep::Merge | GitStep::Reset);
    evidence.commits.iter().any(|commit| commit.origin.follows(line))
        || evidence.changed_files().any(|(_, work)| work.last.follows(line))
        || evidence.git_events.iter().any(|event| is_work(event.step) && event.origin.follows(line))
}

/// Whether a statement of `line` is about a file that the session changed later: the statement
/// begins with the name of the file, or mentions the file with a line number, as in `a.rs:12`.
pub(super) fn is_about_changed_file(draft: &Draft<'_>, line: Origin, statement: &str) -> bool {
    let subject = pattern!(r"^(?:[A-Z][a-z]+ )?(?:[a-z]+ )?`([^`]+)`").captures(statement);
    let position = pattern!(r"\b((?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.[a-z]{1,4}):[0-9]{1,5}\b");
    let names = subject.into_iter().chain(position.captures_iter(statement));
    let mut names = names.filter_map(|found| found.get(1));
    names.any(|name| is_changed_later(draft, line, name.as_str()))
}

fn is_changed_later(draft: &Draft<'_>, line: Origin, name: &str) -> bool {
    let is_file = name.len() >= MIN_NAME_BYTES && name.contains('.') && !name.contains(['(', ' ']);
    is_file
        && draft.evidence.changed_files().any(|(path, work)| {
            work.last.follows(line)
                && path
                    .strip_suffix(name)
                    .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        })
}

/// Whether a statement advises, plans or estimates, or says that something is missing. Later work
/// may have made the statement obsolete.
pub(super) fn is_advice(text: &str) -> bool {
    is_phrase(Topic::Advice, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        graph::extract::scenarios::{SessionFixture, line},
        model::evidence::{Quote, TurnReport},
    };

    const STATEMENT: &str = "The writer keys are derived from the seed, so a reset keeps them";

    fn session(prompt: &str, answer: &str) -> SessionFixture {
        let mut session = SessionFixture::new(10, "Rotate the keys");
        session.evidence.prompts =
            vec![Quote { text: prompt.to_owned(), origin: line(5), at: session.at(5) }];
        let report = |at, text: &str| TurnReport {
            text: text.to_owned(),
            origin: line(at),
            ..TurnReport::default()
        };
        session.evidence.reports = vec![report(3, STATEMENT), report(7, answer)];
        session
    }

    #[test]
    fn the_agent_may_retract_a_statement_and_the_user_may_contradict_it() {
        for (prompt, answer, wanted) in [
            ("but the writer keys are random?", "You're right, they are random.", true),
            ("that is not true", "Let me look.", true),
            ("are the writer keys random?", "I was wrong: the writer keys are random.", true),
            ("add a test", "Good point, added one for the menu.", false),
            ("are the writer keys random?", "No, they come from the seed.", false),
        ] {
            let session = session(prompt, answer);
            let draft = Draft::new(&session.episode, &session.evidence);
            assert_eq!(is_retracted(&draft, line(3), STATEMENT), wanted, "{prompt} {answer}");
            assert!(!is_retracted(&draft, line(8), STATEMENT), "nothing follows");
        }
    }

    #[test]
    fn a_changed_file_is_work_that_follows_a_line() {
        let mut session = session("go on", "Done.");
        session.change("/srv/app/src/keys.rs");
        let draft = Draft::new(&session.episode, &session.evidence);
        assert!(is_followed_by_work(&draft, line(3)));
        assert!(!is_followed_by_work(&draft, line(6)));
        for (text, wanted) in [
            ("`keys.rs` reads the seed twice", true),
            ("In `src/keys.rs` the seed is read twice", true),
            ("The seed is read twice, as `keys.rs` does", false),
            ("`other_keys.rs` reads the seed twice", false),
            ("`es.rs` reads the seed twice", false),
            ("Reading the seed twice (src/keys.rs:12) is slow", true),
            ("Reading the seed twice (other_keys.rs:12) is slow", false),
        ] {
            assert_eq!(is_about_changed_file(&draft, line(3), text), wanted, "{text}");
        }
    }

    #[test]
    fn advice_plans_and_gaps_are_distinguished_from_behaviour() {
        for (text, wanted) in [
            ("`authcode.go` drops the header, so a check is worth adding", true),
            ("The smallest fix is a lock in `Start()`", true),
            ("The README doesn't mention `SendGrid`", true),
            ("`Start()` could also take the lock", true),
            ("`create_document` doesn't take an `issue`", false),
            ("Web3Auth splits only keys of social logins", false),
        ] {
            assert_eq!(is_advice(text), wanted, "{text}");
        }
    }
}
