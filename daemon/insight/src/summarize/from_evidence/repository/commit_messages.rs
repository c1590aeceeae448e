//! Selects what a commit's message says about the work.

use crate::{
    model::evidence::{Commit, Evidence},
    report::{Form, Passage, passages},
    summarize::from_evidence::{
        entries::cut_at_clause,
        reported::{quotable::is_row_of_numbers, transient},
    },
    text::{pattern, sentences, without_full_stop},
};

/// Maximum length, in characters, of the text that is taken from a commit's body.
const POINT: usize = 560;

/// Whether a commit only records the state of the work: plans, status files, todo lists.
pub(crate) fn is_bookkeeping(commit: &Commit) -> bool {
    pattern!(
        r"(?i)^(?:docs|chore|wip)(?:\([^)]*\))?: (?:start work on|begin |complete |completed |finish |close |capture |add todo|(?:re)?move todo|mark |record |update (?:the )?(?:state|status|progress|plan|roadmap|todo)|.{0,40}\b(?:state\.md|roadmap\.md|todos?|handoff|checkpoint)\b)|^(?:wip|checkpoint)\b"
    )
    .is_match(&commit.subject)
        && !describes_work(&commit.subject)
}

/// Whether a subject such as `docs: record the limits of the upload` names work, and no plan or
/// state of the work.
fn describes_work(subject: &str) -> bool {
    pattern!(r"(?i)^(?:docs|chore)(?:\([^)0-9]*\))?: (?:finish|close|completed?|capture|mark|record) (?:the|an?|all) ")
        .is_match(subject)
        && !pattern!(r"(?i)\b(?:plans?|phases?|to-?dos?|tasks?|milestones?|state|status|progress|session|sprint|roadmap|requirements?|issues?|handoff|checkpoint)\b|\.md\b|\bas (?:done|completed?)\b")
            .is_match(subject)
}

/// Whether a later commit of the session reverted a commit.
pub(crate) fn is_reverted(evidence: &Evidence, commit: &Commit) -> bool {
    let reverts = format!("Revert \"{}\"", commit.subject);
    let reapplies = [format!("Reapply \"{}\"", commit.subject), format!("Revert \"{reverts}\"")];
    let mut later = evidence.commits.iter().rev();
    let last = later.find(|one| {
        one.origin.follows(commit.origin)
            && (one.subject == reverts || reapplies.contains(&one.subject))
    });
    last.is_some_and(|last| last.subject == reverts)
}

/// Returns the subject of a commit and the part of its body that the completed tasks show.
pub(crate) fn subject_with_excerpt(commit: &Commit) -> String {
    format!("{}. {}", commit.subject, body_excerpt(&commit.body).unwrap_or_default())
}

/// Returns the first passages of a commit's body, up to [`POINT`] characters; `None` if they say
/// little.
pub(crate) fn body_excerpt(body: &str) -> Option<String> {
    let mut line = String::new();
    let passages = passages(body);
    let fix = passages.iter().position(is_fix).filter(|at| *at > 0);
    // If not everything fits, the fix has priority over the details of the problem.
    let budget = |at: usize| match fix {
        Some(fix) if at < fix && body.chars().count() > POINT => POINT / 2,
        _ => POINT,
    };
    for (at, passage) in passages.into_iter().enumerate() {
        let budget = budget(at);
        if fix.is_some_and(|fix| at < fix) && !line.is_empty() && budget < POINT {
            continue;
        }
        // A table in a commit message shows a comparison or a check, and describes no change.
        if passage.form == Form::Row {
            continue;
        }
        let label = passage.label.map_or(String::new(), |label| format!("{label}: "));
        let text = format!("{label}{}", passage.text);
        let text = without_empty_words(&text);
        if text.is_empty() {
            continue;
        }
        let text = without_full_stop(&text);
        let is_listed = passage.form != Form::Paragraph;
        let joined = match (line.is_empty(), is_listed) {
            (true, _) => text.to_owned(),
            (false, true) => format!("{line}; {text}"),
            (false, false) => format!("{line}. {text}"),
        };
        if joined.chars().count() > budget {
            let is_short = line.len() * 2 < POINT;
            line = if is_short { cut_at_clause(&joined, budget) } else { line };
            if budget < POINT {
                continue;
            }
            break;
        }
        line = joined;
    }
    let line = without_full_stop(&line).to_owned();
    (line.len() >= 20).then_some(line)
}

/// Whether a passage says how the problem before it was solved.
fn is_fix(passage: &Passage) -> bool {
    let is_it = |text: &str| {
        pattern!(r"(?i)^(?:the )?(?:fix|solution)\b *(?:[:—–-]|$|is\b)").is_match(text)
    };
    is_it(passage.label.as_deref().unwrap_or(&passage.text))
}

/// Returns a passage of a commit's body without sentences that praise the commit, consist mostly of
/// numbers, claim an effect in numbers, or describe what the commit did not change.
fn without_empty_words(passage: &str) -> String {
    let is_empty = |sentence: &&str| {
        transient::is_boast(sentence)
            || transient::claims_effect(sentence)
            || is_row_of_numbers(sentence)
            || pattern!(r"(?i)\balready (?:present|correct|configured|in place|there|handled|done)\b|^[A-Za-z0-9_ /-]{0,40}\b(?:verified|confirmed):")
                .is_match(sentence)
    };
    let kept: Vec<&str> = sentences(passage).into_iter().filter(|one| !is_empty(one)).collect();
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_that_documents_the_program_is_no_bookkeeping() {
        for (subject, wanted) in [
            ("docs: complete the API reference", false),
            ("docs: record the limits of the upload", false),
            ("chore: mark the v1 endpoints as deprecated", false),
            ("docs(03-01): complete the list of days", true),
            ("docs: complete the plan of phase 3", true),
            ("docs: mark all tasks as done", true),
            ("docs(state): record session", true),
            ("chore: complete phase 2", true),
        ] {
            let commit = Commit {
                hash: "1a2b3c4".to_owned(),
                subject: subject.to_owned(),
                body: String::new(),
                origin: crate::model::transcript::Origin::default(),
                at: None,
            };
            assert_eq!(is_bookkeeping(&commit), wanted, "{subject}");
        }
    }

    #[test]
    fn the_fix_has_room_beside_a_long_problem() {
        let problem = "When a helper runs in a folder without settings, the hook asks for consent and stops with an error, because there is no terminal. ".repeat(5);
        let body = format!(
            "{problem}\n\nThe log shows it.\n\nFix: leave the hook at once if the settings are missing.\n"
        );
        let excerpt = body_excerpt(&body).unwrap();
        assert!(excerpt.starts_with("When a helper runs"), "{excerpt}");
        assert!(
            excerpt.ends_with("Fix: leave the hook at once if the settings are missing"),
            "{excerpt}"
        );
        assert!(excerpt.chars().count() <= POINT);
        assert_eq!(
            body_excerpt("The list had no order.\n\nFix: sort it by date.\n").unwrap(),
            "The list had no order. Fix: sort it by date"
        );
    }
}
